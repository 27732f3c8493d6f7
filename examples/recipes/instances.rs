//! A renderer's instance buffer, with a slot for each body.

use std::collections::BTreeMap;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};

/// The matrices to upload.
#[derive(Clone, Debug, Default)]
pub struct Instances {
    /// The index of each body's matrix.
    pub slots: BTreeMap<BodyKey, usize>,
    /// The matrices, in columns. Those of free slots are zero and draw nothing.
    pub matrices: Vec<[f32; 16]>,
    free: Vec<usize>,
}

impl Instances {
    /// Writes the changes of a frame. Call it after each `advance`.
    pub fn update(&mut self, simulation: &Simulation) {
        for key in simulation.removed() {
            if let Some(slot) = self.slots.remove(key) {
                self.matrices[slot] = [0.0; 16]; // draws nothing
                self.free.push(slot);
            }
        }
        for (key, pose) in simulation.moved() {
            self.write(*key, *pose);
        }
    }

    /// Writes all bodies. Call it if the simulation was replaced, or frames were skipped.
    pub fn rewrite(&mut self, simulation: &Simulation) {
        *self = Self::default();
        for (key, _) in simulation.physics.bodies() {
            self.write(key, simulation.pose(key).unwrap());
        }
    }

    fn write(&mut self, key: BodyKey, pose: Pose) {
        let slot = *self.slots.entry(key).or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                self.matrices.push([0.0; 16]);
                self.matrices.len() - 1
            })
        });
        self.matrices[slot] = pose.to_mat4().to_cols_array();
    }
}
