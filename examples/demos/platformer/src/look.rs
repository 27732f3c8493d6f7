//! Mouse look. The view turns in the frame, with no delay. The steps get it through the input queue.

use evenstep::rapier::math::{Rotation, Vector};

/// The direction in which the player looks, in radians. At zero it is −z.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// The angle to the left.
    pub yaw: f32,
    /// The angle upwards.
    pub pitch: f32,
}

impl Look {
    /// Turns the look by a mouse event. A mouse reports a distance, so do not multiply by the frame time.
    pub fn turn(&mut self, right: f32, down: f32) {
        const RADIANS_PER_PIXEL: f32 = 0.0025;
        const STEEPEST: f32 = 1.3;
        self.yaw -= right * RADIANS_PER_PIXEL;
        self.pitch = (self.pitch - down * RADIANS_PER_PIXEL).clamp(-STEEPEST, STEEPEST);
    }

    /// Returns the rotation about the vertical axis alone, for walking and for the character.
    #[must_use]
    pub fn heading(self) -> Rotation {
        Rotation::from_rotation_y(self.yaw)
    }

    /// Returns the direction, of length 1.
    #[must_use]
    pub fn direction(self) -> Vector {
        self.heading() * Rotation::from_rotation_x(self.pitch) * Vector::NEG_Z
    }
}
