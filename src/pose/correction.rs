//! The visual error of a body after a rollback, which decays.

use std::time::Duration;

use crate::dim::{angle, interpolate};
use rapier::math::{Pose, Rotation};

/// How the visual error after a rollback decays: for
/// [`Simulation::set_correction`](crate::Simulation::set_correction) and, for one body,
/// [`Physics::set_body_correction`](crate::Physics::set_body_correction).
///
/// After a rollback a body may be in another place than it was shown. The difference is added to what is shown, and
/// decays. So the picture does not jump, and soon shows the corrected state. Position and rotation decay apart; but if the
/// error of the position is too large to be shown, the rotation jumps with it.
///
/// ```
/// # use evenstep::{Correction, Simulation};
/// # use std::time::Duration;
/// # let mut simulation = Simulation::default();
/// let mut correction = Correction::default();
/// correction.position.half_life = Duration::from_secs(2); // at rest
/// correction.position.half_distance = Some(0.5); // at 5 m/s: in 0.1 s
/// correction.rotation.half_life = Duration::from_millis(80);
/// simulation.set_correction(correction);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Correction {
    /// Of the position: distances in metres.
    pub position: ErrorDecay,
    /// Of the rotation: angles in radians for distances.
    pub rotation: ErrorDecay,
}

/// How the visual error of a position or of a rotation decays: a part of [`Correction`].
///
/// The error halves in each half-life of real time, pauses and speed 0 excluded, and once more over each half-distance that
/// the body moves. At a constant speed the frame rate makes no difference.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ErrorDecay {
    /// The time in which the error halves, whether the body moves or not: 200 ms by default. With zero the error is gone
    /// in the next frame.
    pub half_life: Duration,
    /// How far the body moves while the error halves once more; `None`, the default, to decay in time alone.
    ///
    /// With this and a long half-life, motion hides the correction at any speed, and a body at rest is not seen to slide.
    /// It goes by the motion of the last step and by the speed of the clock: a teleport, a portal or a shifted origin
    /// is no motion. Negative numbers and NaN count as `None`; with zero the error is gone once the body moves.
    pub half_distance: Option<f32>,
    /// An error below this is not shown, nor the rest of one that decays: 0.01 mm or 0.01 mrad by default.
    pub min: f32,
    /// An error above this is not shown: 2 m or a quarter turn by default, `f32::MAX` for no limit. With NaN here or in
    /// `min` no error is shown.
    pub max: f32,
}

impl Correction {
    /// No error is shown: bodies jump to their corrected poses.
    pub const OFF: Self = Self {
        position: ErrorDecay::up_to(0.0),
        rotation: ErrorDecay::up_to(0.0),
    };

    /// What of an error is shown.
    pub(super) fn shown(&self, error: &Pose) -> Pose {
        let mut shown = Pose::IDENTITY;
        let distance = distance(error);
        if error.is_finite() && distance <= self.position.max {
            if self.position.shows(distance) {
                shown.translation = error.translation;
            }
            if self.rotation.shows(angle(error.rotation)) {
                shown.rotation = error.rotation;
            }
        }
        shown
    }

    /// What is left of an error after `elapsed`, in which the body has gone the `way` of its last step so many times.
    pub(super) fn decayed(&self, error: &Pose, elapsed: Duration, way: &Pose, times: f64) -> Pose {
        #[expect(clippy::cast_possible_truncation, reason = "for what is shown")]
        let times = times as f32;
        let (moved, turned) = (distance(way) * times, angle(way.rotation) * times);
        let whole = Pose::from_rotation(error.rotation);
        let left = self.rotation.left(elapsed, turned);
        let rotation = interpolate(&Pose::IDENTITY, &whole, left).rotation;
        let translation = error.translation * self.position.left(elapsed, moved);
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
            half_distance: None,
            min: 1e-5,
            max,
        }
    }

    fn shows(&self, size: f32) -> bool {
        (self.min..=self.max).contains(&size)
    }

    /// The share of an error that is left.
    fn left(&self, elapsed: Duration, moved: f32) -> f32 {
        let by_time = elapsed.as_secs_f32() / self.half_life.as_secs_f32();
        let by_motion = self.half_distance.map_or(0.0, |half| moved / half);
        // Not a number where nothing is divided by nothing: the error stays for that frame.
        libm::exp2f(-(by_time.max(0.0) + by_motion.max(0.0)))
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
        let half_distance = prop::option::of(0.01..10.0_f32);
        (0..2_000_u64, half_distance, 0.0..0.1_f32).prop_map(move |(ms, half_distance, min)| {
            ErrorDecay {
                half_life: Duration::from_millis(ms),
                half_distance,
                min,
                max,
            }
        })
    }

    fn correction() -> impl Strategy<Value = Correction> {
        (part(2.0), part(1.0)).prop_map(|(position, rotation)| Correction { position, rotation })
    }

    proptest! {
        #[test]
        fn an_error_shrinks_and_ends(
            correction in correction(), error in error(), way in error(), ms in prop::collection::vec(1..50_u64, 1..20),
        ) {
            let mut error = correction.shown(&error);
            for ms in ms {
                let left = correction.decayed(&error, Duration::from_millis(ms), &way, 0.5);
                prop_assert!(distance(&left) <= distance(&error));
                prop_assert!(angle(left.rotation) <= angle(error.rotation) + 1e-6);
                prop_assert_eq!(correction.shown(&left), left);
                error = left;
            }
            let left = correction.decayed(&error, Duration::from_secs(60), &Pose::IDENTITY, 0.0);
            prop_assert_eq!(left, Pose::IDENTITY);
        }

        #[test]
        fn what_is_of_one_part_changes_nothing_of_the_other(
            corrections in [correction(), correction()], errors in [error(), error()], ways in [error(), error()],
            ms in 0..500_u64,
        ) {
            let parts = |poses: [Pose; 2]| Pose::from_parts(poses[0].translation, poses[1].rotation);
            let left = |of: Correction, error: Pose, way: Pose| {
                of.decayed(&error, Duration::from_millis(ms), &way, 1.0)
            };
            let [one, other] = [0, 1].map(|i| left(corrections[i], errors[i], ways[i]));
            let both = Correction { position: corrections[0].position, rotation: corrections[1].rotation };
            prop_assert_eq!(left(both, parts(errors), parts(ways)), parts([one, other]));
        }

        #[test]
        fn frames_of_any_length_make_the_same_of_it(
            mut correction in correction(), error in error(), way in error(), cut in 0.0..1.0_f64,
        ) {
            (correction.position.min, correction.rotation.min) = (0.0, 0.0);
            let whole = Duration::from_millis(100);
            let once = correction.decayed(&error, whole, &way, 3.0);
            let first = correction.decayed(&error, whole.mul_f64(cut), &way, 3.0 * cut);
            let twice = correction.decayed(&first, whole.mul_f64(1.0 - cut), &way, 3.0 * (1.0 - cut));
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

    /// All settings of these numbers.
    fn hostile() -> impl Iterator<Item = ErrorDecay> {
        let lives = [Duration::ZERO, Duration::from_millis(200), Duration::MAX];
        let distances = HOSTILE.map(Some).into_iter().chain([None]);
        let decays = lives.into_iter().flat_map(move |half_life| {
            distances.clone().map(move |half_distance| ErrorDecay {
                half_life,
                half_distance,
                ..ErrorDecay::up_to(0.0)
            })
        });
        decays.flat_map(|decay| {
            let limits = HOSTILE
                .into_iter()
                .flat_map(|min| HOSTILE.map(|max| (min, max)));
            limits.map(move |(min, max)| ErrorDecay { min, max, ..decay })
        })
    }

    #[test]
    fn no_setting_makes_an_error_larger_or_no_number() {
        let error = pose(vector(0.3, -0.4, 0.0), spin(0.0, 0.0, 0.2));
        for decay in hostile() {
            let correction = Correction {
                position: decay,
                rotation: decay,
            };
            let shown = correction.shown(&error);
            for elapsed in [Duration::ZERO, Duration::from_millis(16), Duration::MAX] {
                for times in [0.0, 1.0, -1.0, f64::MAX, f64::NAN] {
                    let left = correction.decayed(&error, elapsed, &error, times);
                    assert!(left.is_finite(), "{decay:?}");
                    assert!(distance(&left) <= distance(&shown), "{decay:?}");
                    let angles = [left, shown].map(|it| angle(it.rotation));
                    assert!(angles[0] <= angles[1], "{decay:?}");
                    let nothing_passes = elapsed.is_zero() && times == 0.0;
                    assert!(!nothing_passes || left == shown, "{decay:?}");
                }
            }
        }
    }

    #[test]
    fn nothing_is_shown_of_an_error_that_is_no_number() {
        let mut correction = Correction::default();
        correction.position.max = f32::INFINITY;
        let beyond = Pose::from_translation(vector(f32::INFINITY, 0.0, 0.0));
        assert_eq!(correction.shown(&beyond), Pose::IDENTITY);
    }
}
