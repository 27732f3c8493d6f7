//! A world of any size: the simulation stays near the origin, which is an `f64` position in the world.

use evenstep::rapier::glamx::DVec3;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Frame, Physics};

/// The distance from the origin at which it is shifted, in metres. An `f32` is accurate to 0.06 mm there.
const FARTHEST: f32 = 1_000.0;

/// Shifts the origin if the ship is far away, and returns by how much. Call it in the hook before each step.
pub fn stay_near_the_origin(physics: &mut Physics, ship: BodyKey) -> Vector {
    let position = physics.body(ship).unwrap().translation();
    if position.length() <= FARTHEST {
        return Vector::ZERO;
    }
    physics.shift_origin(position).unwrap();
    position
}

/// What follows the displayed origin: its position in the world, and positions that the simulation does not have.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// The position of the origin in the world, in metres.
    pub origin: DVec3,
    /// The position of the camera, relative to the origin.
    pub camera: Vector,
}

impl View {
    /// Follows the shift of a frame. Call it after each frame.
    pub fn follow(&mut self, frame: &Frame) {
        self.origin += frame.origin_shift.as_dvec3();
        self.camera -= frame.origin_shift;
    }
}
