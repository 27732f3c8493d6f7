//! The pose of each body in this picture and in the previous one, for motion vectors. Teleported bodies do not smear.

use std::collections::BTreeMap;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};

/// The renderer's poses.
#[derive(Clone, Debug, Default)]
pub struct Buffers {
    /// The poses of this picture.
    pub poses: BTreeMap<BodyKey, Pose>,
    /// The poses of the previous picture.
    pub before: BTreeMap<BodyKey, Pose>,
}

impl Buffers {
    /// Writes the poses of a frame. Call it after each frame.
    pub fn write(&mut self, simulation: &Simulation) {
        let (moved, data) = (simulation.moved(), simulation.render_data());
        let jumped = data.map_or(&[][..], |data| data.jumped());
        for key in simulation.removed() {
            self.poses.remove(key);
        }
        self.before.clone_from(&self.poses);
        let shift = simulation.frame().origin_shift;
        if shift != Vector::ZERO {
            for pose in self.before.values_mut() {
                pose.translation -= shift;
            }
        }
        self.poses.extend(moved.iter().copied());
        self.before
            .extend(jumped.iter().map(|key| (*key, self.poses[key])));
    }
}
