//! Where the player looks. The view turns in the frame, with no delay; the steps get it through the input queue.

use evenstep::rapier::math::{Rotation, Vector};

/// Where the player looks: radians. At zero along −z.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// To the left.
    pub yaw: f32,
    /// Up.
    pub pitch: f32,
}

impl Look {
    /// For each event of the mouse, as it comes. A mouse reports a distance: no frame time belongs in here.
    pub fn turn(&mut self, right: f32, down: f32) {
        const RADIANS_PER_PIXEL: f32 = 0.0025;
        const STEEPEST: f32 = 1.3;
        self.yaw -= right * RADIANS_PER_PIXEL;
        self.pitch = (self.pitch - down * RADIANS_PER_PIXEL).clamp(-STEEPEST, STEEPEST);
    }

    /// About the vertical alone: for walking, and for the character.
    #[must_use]
    pub fn heading(self) -> Rotation {
        Rotation::from_rotation_y(self.yaw)
    }

    /// Of length 1.
    #[must_use]
    pub fn direction(self) -> Vector {
        self.heading() * Rotation::from_rotation_x(self.pitch) * Vector::NEG_Z
    }
}
