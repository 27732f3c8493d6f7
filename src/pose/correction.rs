//! The visual error of a body after a rollback, which decays.

use std::time::Duration;

use crate::dim::{angle, interpolate};
use rapier::math::{Pose, Rotation};

/// How the visual error after a rollback decays. Set it for all bodies with
/// [`Simulation::correction`](crate::Simulation::correction), or for one body with
/// [`Physics::set_body_correction`](crate::Physics::set_body_correction).
///
/// After a rollback a body may not be where it was displayed. The difference is added to its displayed pose and decays,
/// so the picture does not jump, and soon displays the corrected state. Position and rotation decay separately.
/// However, if the position's correction is too large to be smoothed, the rotation jumps too.
///
/// ```
/// # use evenstep::{Correction, Simulation};
/// # use std::time::Duration;
/// # let mut simulation = Simulation::default();
/// let mut correction = Correction::default();
/// correction.position.half_life = Duration::from_millis(100);
/// correction.rotation.half_life = Duration::from_millis(80);
/// simulation.correction = correction;
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Correction {
    /// The error of the position, with distances in metres.
    pub position: ErrorDecay,
    /// The error of the rotation, with angles in radians.
    pub rotation: ErrorDecay,
}

/// How the visual error of a position or of a rotation decays: a part of [`Correction`].
///
/// The error halves in each half-life of real time, at any frame rate, not counting pauses and times at speed 0.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ErrorDecay {
    /// The time in which the error halves: 200 ms by default. With zero, the error is gone in the next frame.
    pub half_life: Duration,
    /// Errors below this limit are not displayed: 0.01 mm or 0.01 mrad by default.
    pub min: f32,
    /// A larger correction is not smoothed: the body jumps. Smaller ones add up to at most this limit. It is 2 m or a
    /// quarter turn by default, and `f32::MAX` is no limit. If `min` or `max` is NaN, no error is displayed.
    pub max: f32,
}

impl Correction {
    /// Displays no errors: bodies jump to their corrected poses.
    pub const OFF: Self = Self {
        position: ErrorDecay::up_to(0.0),
        rotation: ErrorDecay::up_to(0.0),
    };

    /// Returns the sum of an error and an addition, and whether the body jumps because the addition is too large to be
    /// smoothed. A smaller addition never makes it jump, even if the sum is at its limit.
    pub(crate) fn added(&self, error: &Pose, by: &Pose) -> (Pose, bool) {
        let is_near = by.is_finite() && distance(by) <= self.position.max;
        if !is_near {
            return (Pose::IDENTITY, true);
        }
        let mut sum = with_error(error, by);
        let is_turned_far = angle(by.rotation) > self.rotation.max;
        if is_turned_far {
            sum.rotation = Rotation::IDENTITY;
        }
        (self.shown(&sum), is_turned_far)
    }

    /// Returns the part of an error that is displayed.
    fn shown(&self, error: &Pose) -> Pose {
        let mut shown = Pose::IDENTITY;
        if !error.is_finite() {
            return shown;
        }
        let ErrorDecay { min, max, .. } = self.position;
        if distance(error) >= min && max > 0.0 {
            shown.translation = error.translation.clamp_length_max(max);
        }
        let (angle, ErrorDecay { min, max, .. }) = (angle(error.rotation), self.rotation);
        if angle >= min && max > 0.0 {
            shown.rotation = if angle > max {
                let whole = Pose::from_rotation(error.rotation);
                interpolate(&Pose::IDENTITY, &whole, max / angle).rotation
            } else {
                error.rotation
            };
        }
        shown
    }

    /// Returns the remaining error after `elapsed`.
    pub(crate) fn decayed(&self, error: &Pose, elapsed: Duration) -> Pose {
        let whole = Pose::from_rotation(error.rotation);
        let rest = self.rotation.rest(elapsed);
        let rotation = interpolate(&Pose::IDENTITY, &whole, rest).rotation;
        let translation = error.translation * self.position.rest(elapsed);
        self.shown(&Pose::from_parts(translation, rotation))
    }
}

impl Default for Correction {
    fn default() -> Self {
        Self {
            position: ErrorDecay::up_to(2.0),
            rotation: ErrorDecay::up_to(std::f32::consts::FRAC_PI_2),
        }
    }
}

impl ErrorDecay {
    const fn up_to(max: f32) -> Self {
        Self {
            half_life: Duration::from_millis(200),
            min: 1e-5,
            max,
        }
    }

    /// Returns the fraction of an error that remains after `elapsed`.
    fn rest(&self, elapsed: Duration) -> f32 {
        let half_lives = elapsed.as_secs_f32() / self.half_life.as_secs_f32();
        // Zero divided by zero is NaN, whose maximum with 0 is 0, so the error stays for that frame.
        libm::exp2f(-half_lives.max(0.0))
    }
}

/// Returns the error of a body that is displayed at `shown` while its pose is `pose`.
pub(crate) fn difference(shown: &Pose, pose: &Pose) -> Pose {
    let rotation = (shown.rotation * pose.rotation.inverse()).normalize();
    Pose::from_parts(shown.translation - pose.translation, rotation)
}

/// Returns the displayed pose of a body at `pose`. With an error as `pose`, returns the sum of both errors.
pub(crate) fn with_error(error: &Pose, pose: &Pose) -> Pose {
    let rotation = (error.rotation * pose.rotation).normalize();
    Pose::from_parts(pose.translation + error.translation, rotation)
}

/// Returns the error of a body that was turned together with its error.
pub(crate) fn turned(error: &Pose, by: Rotation) -> Pose {
    Pose::from_parts(by * error.translation, by * error.rotation * by.inverse())
}

fn distance(error: &Pose) -> f32 {
    error.translation.length()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dim::testing::{pose, spin, vector};
    use proptest::prelude::*;

    fn error() -> impl Strategy<Value = Pose> {
        let part = -0.5..0.5_f32;
        [part.clone(), part.clone(), part.clone(), part]
            .prop_map(|[x, y, z, turn]| pose(vector(x, y, z), spin(0.0, 0.0, turn)))
    }

    fn part(max: f32) -> impl Strategy<Value = ErrorDecay> {
        (0..2_000_u64, 0.0..0.1_f32).prop_map(move |(ms, min)| ErrorDecay {
            half_life: Duration::from_millis(ms),
            min,
            max,
        })
    }

    fn correction() -> impl Strategy<Value = Correction> {
        (part(2.0), part(1.0)).prop_map(|(position, rotation)| Correction { position, rotation })
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn a_visual_error_never_grows_and_decays_to_zero(
            correction in correction(), error in error(), ms in prop::collection::vec(1..50_u64, 1..20),
        ) {
            let mut error = correction.shown(&error);
            for ms in ms {
                let left = correction.decayed(&error, Duration::from_millis(ms));
                prop_assert!(distance(&left) <= distance(&error));
                prop_assert!(angle(left.rotation) <= angle(error.rotation) + 1e-6);
                prop_assert_eq!(correction.shown(&left), left);
                error = left;
            }
            let left = correction.decayed(&error, Duration::from_secs(60));
            prop_assert_eq!(left, Pose::IDENTITY);
        }

        #[test]
        fn position_and_rotation_errors_decay_independently(
            corrections in [correction(), correction()], errors in [error(), error()], ms in 0..500_u64,
        ) {
            let parts = |poses: [Pose; 2]| Pose::from_parts(poses[0].translation, poses[1].rotation);
            let left = |of: Correction, error: Pose| of.decayed(&error, Duration::from_millis(ms));
            let [one, other] = [0, 1].map(|i| left(corrections[i], errors[i]));
            let both = Correction { position: corrections[0].position, rotation: corrections[1].rotation };
            prop_assert_eq!(left(both, parts(errors)), parts([one, other]));
        }

        #[test]
        fn the_decay_of_an_error_does_not_depend_on_the_frame_rate(
            mut correction in correction(), error in error(), cut in 0.0..1.0_f64,
        ) {
            (correction.position.min, correction.rotation.min) = (0.0, 0.0);
            let whole = Duration::from_millis(100);
            let once = correction.decayed(&error, whole);
            let first = correction.decayed(&error, whole.mul_f64(cut));
            let twice = correction.decayed(&first, whole.mul_f64(1.0 - cut));
            prop_assert!(distance(&difference(&once, &twice)) < 1e-5);
            prop_assert!(angle(difference(&once, &twice).rotation) < 1e-5);
        }
    }

    const HOSTILE: [f32; 9] = [
        0.0,
        -0.0,
        -1.0,
        f32::MIN_POSITIVE,
        2.0,
        f32::MAX,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];

    /// Returns every setting with these numbers.
    fn hostile() -> impl Iterator<Item = ErrorDecay> {
        let lives = [Duration::ZERO, Duration::from_millis(200), Duration::MAX];
        lives.into_iter().flat_map(|half_life| {
            let limits = HOSTILE
                .into_iter()
                .flat_map(|min| HOSTILE.map(|max| (min, max)));
            limits.map(move |(min, max)| ErrorDecay {
                half_life,
                min,
                max,
            })
        })
    }

    #[test]
    fn every_correction_setting_keeps_errors_finite_and_never_enlarges_them() {
        let error = pose(vector(0.3, -0.4, 0.0), spin(0.0, 0.0, 0.2));
        for decay in hostile() {
            let correction = Correction {
                position: decay,
                rotation: decay,
            };
            let shown = correction.shown(&error);
            for elapsed in [Duration::ZERO, Duration::from_millis(16), Duration::MAX] {
                let left = correction.decayed(&shown, elapsed);
                assert!(left.is_finite(), "{decay:?}");
                assert!(distance(&left) <= distance(&shown), "{decay:?}");
                let angles = [left, shown].map(|it| angle(it.rotation));
                assert!(angles[0] <= angles[1], "{decay:?}");
            }
            let left = correction.decayed(&error, Duration::ZERO);
            assert_eq!(left, shown, "{decay:?}");
        }
    }

    #[test]
    fn an_error_that_is_not_finite_is_not_displayed() {
        let mut correction = Correction::default();
        correction.position.max = f32::INFINITY;
        let beyond = Pose::from_translation(vector(f32::INFINITY, 0.0, 0.0));
        assert_eq!(correction.shown(&beyond), Pose::IDENTITY);
    }
}
