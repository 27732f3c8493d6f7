//! A soft body, whose particles are drawn between their positions after two steps.

use evenstep::rapier::prelude::*;
use evenstep::render::Interpolated;
use evenstep::{Frame, Physics, Step};

/// A cloth with its drawn vertices.
#[derive(Clone)]
pub struct Cloth {
    handle: SoftBodyHandle,
    vertices: Interpolated<Vec<Vector>>,
}

impl Cloth {
    /// Follows a soft body that was just inserted.
    pub fn new(physics: &Physics, handle: SoftBodyHandle) -> Self {
        let vertices = Interpolated::new(particles(physics, handle));
        Self { handle, vertices }
    }

    /// Reads the particles. Call it after each step.
    pub fn after_step(&mut self, physics: &Physics, step: Step) {
        self.vertices
            .set(step.tick, particles(physics, self.handle));
    }

    /// Returns the vertices to draw in a frame.
    pub fn drawn(&self, frame: &Frame) -> Vec<Vector> {
        self.vertices.at(frame.tick, frame.alpha, |a, b, t| {
            a.iter().zip(b).map(|(a, b)| a.lerp(*b, t)).collect()
        })
    }
}

/// Returns the positions of the particles after the last step.
pub fn particles(physics: &Physics, cloth: SoftBodyHandle) -> Vec<Vector> {
    let cloth = &physics.rapier().soft_bodies[cloth];
    cloth.particle_positions().collect()
}
