//! The visual error of a body after a rollback, which decays.

use std::time::Duration;

use crate::dim::{angle, interpolate};
use rapier::math::{Pose, Rotation};

/// How the visual error after a rollback decays: for
/// [`Simulation::set_correction`](crate::Simulation::set_correction).
///
/// After a rollback a body may be in another place than it was shown. The difference is added to what is shown, and
/// halves in each half-life of real time, pauses excluded. So the picture does not jump, and soon shows the corrected
/// state. Errors below 0.01 mm and 0.01 mrad are dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Correction {
    /// The time in which the error halves, of position and rotation alike: 200 ms by default.
    pub half_life: Duration,
    /// Beyond this distance, in metres, the body jumps to its corrected pose: 2 by default.
    pub max_distance: f32,
    /// Beyond this angle, in radians, it jumps as well: a quarter turn by default.
    pub max_angle: f32,
}

impl Default for Correction {
    fn default() -> Self {
        Self {
            half_life: Duration::from_millis(200),
            max_distance: 2.0,
            max_angle: std::f32::consts::FRAC_PI_2,
        }
    }
}

/// Metres, and radians.
const SMALLEST: f32 = 1e-5;

impl Correction {
    /// Whether an error is shown: it is neither too small nor too large.
    pub(super) fn keeps(&self, error: &Pose) -> bool {
        let fits = distance(error) <= self.max_distance && angle(error.rotation) <= self.max_angle;
        fits && matters(error)
    }

    /// What is left of an error after `elapsed`; `None` once it has ended.
    pub(super) fn decayed(&self, error: &Pose, elapsed: Duration) -> Option<Pose> {
        let half_lives = elapsed.as_secs_f32() / self.half_life.as_secs_f32();
        // Not a number where no time passes of a half-life of zero: the error stays for that frame.
        let left = libm::exp2f(-half_lives);
        let left = if left.is_nan() { 1.0 } else { left };
        let error = interpolate(&Pose::IDENTITY, error, left);
        matters(&error).then_some(error)
    }
}

/// The error of a body that is shown at `shown` and is at `pose`.
pub(super) fn difference(shown: &Pose, pose: &Pose) -> Pose {
    let rotation = (shown.rotation * pose.rotation.inverse()).normalize();
    Pose::from_parts(shown.translation - pose.translation, rotation)
}

/// Where a body is shown that is at `pose`; of two errors the one that both make.
pub(super) fn shown_with(error: &Pose, pose: &Pose) -> Pose {
    let rotation = (error.rotation * pose.rotation).normalize();
    Pose::from_parts(pose.translation + error.translation, rotation)
}

/// The error of a body that was turned with it.
pub(super) fn turned(error: &Pose, by: Rotation) -> Pose {
    Pose::from_parts(by * error.translation, by * error.rotation * by.inverse())
}

fn matters(error: &Pose) -> bool {
    distance(error) >= SMALLEST || angle(error.rotation) >= SMALLEST
}

fn distance(error: &Pose) -> f32 {
    error.translation.length()
}
