//! The visual error of a body, which decays.

use std::time::Duration;

use crate::dim::{angle, interpolate};
use rapier::math::{Pose, Rotation};

/// The decay of visual errors, for all bodies with [`Simulation::correction`](crate::Simulation::correction), or for
/// one body with [`Physics::set_body_correction`](crate::Physics::set_body_correction).
///
/// After a rollback or a [correction](crate::Simulation::correct) of the state, a body may not be where it was
/// displayed. The difference, its visual error, is added to its displayed pose and decays. The same happens after a
/// change of [`Smoothing`](crate::Smoothing), and after [`Physics::show_from`](crate::Physics::show_from). Position and
/// rotation decay separately, but if the position jumps, the rotation jumps too.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Correction {
    /// The error of the position, with distances in metres.
    pub position: ErrorDecay,
    /// The error of the rotation, with angles in radians.
    pub rotation: ErrorDecay,
}

/// The decay of the visual error of a position or of a rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ErrorDecay {
    /// The remaining error over time. By default it halves every 200 ms.
    pub curve: DecayCurve,
    /// Errors below this limit are not displayed: 0.01 mm or 0.01 mrad by default.
    pub min: f32,
    /// The size, 2 m or a quarter turn by default, above which a correction makes the body jump. Smaller corrections
    /// add up to at most this limit. With zero, or if `min` or `max` is NaN, no error is displayed.
    /// [`Physics::show_from`](crate::Physics::show_from) and another [`Smoothing`](crate::Smoothing) ignore the limit.
    pub max: f32,
}

/// The curve on which a visual error decays, in real time without pauses, times at speed 0, and frames in the middle of
/// a rollback, in which the picture stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum DecayCurve {
    /// The error halves in each half-life. Use it for corrections that may follow each other at any time. With zero,
    /// the error is gone in the next frame.
    HalfLife(Duration),
    /// The error shrinks at a constant speed, and is gone after this time. With zero, it is gone in the next frame.
    ///
    /// If another correction comes before the end, the remaining time is the average of both, weighted by their sizes.
    Linear(Duration),
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct VisualError {
    /// The [`difference`] of the displayed pose from the body's own.
    pub pose: Pose,
    /// The remaining time of each part, or `None` if the part has not begun to decay linearly.
    position_time_left: Option<Duration>,
    rotation_time_left: Option<Duration>,
}

impl Correction {
    /// Displays no errors: bodies jump to their corrected poses.
    pub const OFF: Self = Self {
        position: ErrorDecay::up_to(0.0),
        rotation: ErrorDecay::up_to(0.0),
    };

    const DEFAULT: Self = Self {
        position: ErrorDecay::up_to(2.0),
        rotation: ErrorDecay::up_to(std::f32::consts::FRAC_PI_2),
    };

    /// Returns the default with another half-life.
    #[must_use]
    pub const fn half_life(half_life: Duration) -> Self {
        Self::DEFAULT.on(DecayCurve::HalfLife(half_life))
    }

    /// Returns the default with errors that are gone after `duration`.
    #[must_use]
    pub const fn linear(duration: Duration) -> Self {
        Self::DEFAULT.on(DecayCurve::Linear(duration))
    }

    const fn on(mut self, curve: DecayCurve) -> Self {
        (self.position.curve, self.rotation.curve) = (curve, curve);
        self
    }

    /// Returns the sum of a visual error and an addition `by`, and whether the body jumps because the addition is too
    /// large. A smaller addition never makes it jump: a sum above the limit is shortened.
    pub(crate) fn added(&self, error: &VisualError, by: &Pose) -> (VisualError, bool) {
        // With a `max` of NaN, nothing is near.
        let is_near = by.is_finite() && distance(by) <= self.position.max;
        if !is_near {
            // If the position jumps, the rotation jumps too.
            return (VisualError::default(), true);
        }
        let mut sum = with_error(&error.pose, by);
        let (old_distance, old_angle) = (distance(&error.pose), angle(error.pose.rotation));
        let is_turned_far = angle(by.rotation) > self.rotation.max;
        if is_turned_far {
            // Only the rotation jumps.
            sum.rotation = Rotation::IDENTITY;
        }
        // An error that the game has begun with `show_from` may exceed the limit, and is not shortened by an addition.
        let limits = [
            self.position.max.max(old_distance),
            self.rotation.max.max(old_angle),
        ];
        let sum = VisualError {
            pose: self.limited(&sum, limits),
            position_time_left: self.position.time_left_after_addition(
                error.position_time_left,
                old_distance,
                distance(by),
            ),
            rotation_time_left: self.rotation.time_left_after_addition(
                error.rotation_time_left,
                old_angle,
                angle(by.rotation),
            ),
        };
        (sum, is_turned_far)
    }

    /// Returns an error that begins now, however large it is: the game has requested it, so no limit applies.
    pub(crate) fn begun(&self, error: &Pose) -> VisualError {
        VisualError {
            pose: self.limited(error, [f32::INFINITY; 2]),
            ..VisualError::default()
        }
    }

    /// Returns an error shortened to the limits, without the parts that are too small to be displayed.
    fn limited(&self, error: &Pose, [max_distance, max_angle]: [f32; 2]) -> Pose {
        let mut limited = Pose::IDENTITY;
        if !error.is_finite() {
            return limited;
        }
        if self.position.displays(distance(error)) {
            limited.translation = error.translation.clamp_length_max(max_distance);
        }
        let angle = angle(error.rotation);
        if self.rotation.displays(angle) {
            limited.rotation = if angle > max_angle {
                let whole = Pose::from_rotation(error.rotation);
                interpolate(&Pose::IDENTITY, &whole, max_angle / angle).rotation
            } else {
                error.rotation
            };
        }
        limited
    }

    /// Returns what remains of an error after the real time `elapsed`.
    pub(crate) fn decayed(&self, error: &VisualError, elapsed: Duration) -> VisualError {
        let whole = Pose::from_rotation(error.pose.rotation);
        let (fraction, rotation_time_left) =
            (self.rotation).remaining(error.rotation_time_left, elapsed);
        let rotation = interpolate(&Pose::IDENTITY, &whole, fraction).rotation;
        let (fraction, position_time_left) =
            (self.position).remaining(error.position_time_left, elapsed);
        let translation = error.pose.translation * fraction;
        let pose = Pose::from_parts(translation, rotation);
        VisualError {
            // An error that only shrinks needs no limit, but may be too small to be displayed now.
            pose: self.limited(&pose, [f32::INFINITY; 2]),
            position_time_left,
            rotation_time_left,
        }
    }
}

impl Default for Correction {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl ErrorDecay {
    /// Returns the default with this `max`.
    const fn up_to(max: f32) -> Self {
        Self {
            curve: DecayCurve::HalfLife(Duration::from_millis(200)),
            min: 1e-5,
            max,
        }
    }

    /// Returns whether an error of this size is displayed. With a `max` of zero, none is.
    fn displays(&self, size: f32) -> bool {
        // Below this size, rounding stops the decay.
        size >= f32::MIN_POSITIVE && size >= self.min && self.max > 0.0
    }

    /// Returns the fraction of an error that remains after `elapsed`, and the remaining time of a linear decay after
    /// it. `time_left` is that time before it, or `None` if the decay begins.
    fn remaining(&self, time_left: Option<Duration>, elapsed: Duration) -> (f32, Option<Duration>) {
        if elapsed.is_zero() {
            // With a duration of zero, the quotients below would be NaN or end the error at once.
            return (1.0, time_left);
        }
        match self.curve {
            DecayCurve::HalfLife(half_life) => {
                let half_lives = elapsed.as_secs_f32() / half_life.as_secs_f32();
                (libm::exp2f(-half_lives), None)
            }
            DecayCurve::Linear(duration) => {
                // The game may have shortened the duration since.
                let before = time_left.map_or(duration, |left| left.min(duration));
                let after = before.saturating_sub(elapsed);
                let fraction = if after.is_zero() {
                    0.0
                } else {
                    after.as_secs_f32() / before.as_secs_f32()
                };
                (fraction, Some(after))
            }
        }
    }

    /// Returns the remaining time of a linear decay after an addition to the error. It is the average of the error's
    /// `time_left` and the whole time of the addition, weighted by the sizes `error` and `addition`.
    fn time_left_after_addition(
        &self,
        time_left: Option<Duration>,
        error: f32,
        addition: f32,
    ) -> Option<Duration> {
        let DecayCurve::Linear(duration) = self.curve else {
            return None;
        };
        // The game may have shortened the duration since.
        let time_left = time_left.map_or(duration, |left| left.min(duration));
        let share = addition / (error + addition);
        // If both are zero, the share is NaN, and the whole time begins.
        let share = if share <= 1.0 { share } else { 1.0 };
        let more = duration.saturating_sub(time_left).as_secs_f32() * share;
        // In `f32`, a duration near the maximum is rounded beyond it.
        let more = Duration::try_from_secs_f32(more).unwrap_or(duration);
        Some(time_left.saturating_add(more).min(duration))
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

/// Returns the error of a body that was turned in the world together with its displayed pose.
pub(crate) fn turned(error: &Pose, by: Rotation) -> Pose {
    Pose::from_parts(by * error.translation, by * error.rotation * by.inverse())
}

fn distance(error: &Pose) -> f32 {
    error.translation.length()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use scenes::testing::{pose, spin, vector};

    fn error() -> impl Strategy<Value = Pose> {
        let part = -0.5..0.5_f32;
        [part.clone(), part.clone(), part.clone(), part]
            .prop_map(|[x, y, z, turn]| pose(vector(x, y, z), spin(0.0, 0.0, turn)))
    }

    const CURVES: [fn(Duration) -> DecayCurve; 2] = [DecayCurve::HalfLife, DecayCurve::Linear];

    fn part(max: f32) -> impl Strategy<Value = ErrorDecay> {
        let curve = prop::sample::select(&CURVES[..]);
        (curve, 0..2_000_u64, 0.0..0.1_f32).prop_map(move |(curve, ms, min)| ErrorDecay {
            curve: curve(Duration::from_millis(ms)),
            min,
            max,
        })
    }

    fn only(error: &Pose, correction: &Correction) -> VisualError {
        correction.added(&VisualError::default(), error).0
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
            let mut error = only(&error, &correction);
            for ms in ms {
                let left = correction.decayed(&error, Duration::from_millis(ms));
                prop_assert!(distance(&left.pose) <= distance(&error.pose));
                prop_assert!(angle(left.pose.rotation) <= angle(error.pose.rotation) + 1e-6);
                prop_assert_eq!(correction.decayed(&left, Duration::ZERO), left);
                error = left;
            }
            let left = correction.decayed(&error, Duration::from_secs(60));
            prop_assert_eq!(left.pose, Pose::IDENTITY);
        }

        #[test]
        fn position_and_rotation_errors_decay_independently(
            corrections in [correction(), correction()], errors in [error(), error()], ms in 0..500_u64,
        ) {
            let parts = |poses: [Pose; 2]| Pose::from_parts(poses[0].translation, poses[1].rotation);
            let left = |of: Correction, error: Pose| {
                of.decayed(&only(&error, &of), Duration::from_millis(ms)).pose
            };
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
            let error = only(&error, &correction);
            let once = correction.decayed(&error, whole).pose;
            let first = correction.decayed(&error, whole.mul_f64(cut));
            let twice = correction.decayed(&first, whole.mul_f64(1.0 - cut)).pose;
            prop_assert!(distance(&difference(&once, &twice)) < 1e-5);
            prop_assert!(angle(difference(&once, &twice).rotation) < 1e-5);
        }

        #[test]
        fn a_linear_decay_ends_after_its_time_at_the_latest(
            errors in prop::collection::vec((error(), 0..300_u64), 1..20), duration in 0..500_u64,
        ) {
            let duration = Duration::from_millis(duration);
            let correction = Correction::linear(duration);
            let mut error = VisualError::default();
            for (by, ms) in errors {
                let before = error;
                error = correction.added(&error, &by).0;
                prop_assert!(error.position_time_left <= Some(duration));
                prop_assert!(error.position_time_left >= before.position_time_left);
                error = correction.decayed(&error, Duration::from_millis(ms));
            }
            let left = correction.decayed(&error, duration.max(Duration::from_nanos(1)));
            prop_assert_eq!(left.pose, Pose::IDENTITY);
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
            limits.flat_map(move |(min, max)| {
                let curves = CURVES.map(|curve| curve(half_life));
                curves.map(|curve| ErrorDecay { curve, min, max })
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
            for shown in [only(&error, &correction), correction.begun(&error)] {
                for elapsed in [Duration::ZERO, Duration::from_millis(16), Duration::MAX] {
                    let left = correction.decayed(&shown, elapsed).pose;
                    assert!(left.is_finite(), "{decay:?}");
                    assert!(distance(&left) <= distance(&shown.pose), "{decay:?}");
                    let angles = [left, shown.pose].map(|it| angle(it.rotation));
                    assert!(angles[0] <= angles[1], "{decay:?}");
                }
                let left = correction.decayed(&shown, Duration::ZERO);
                assert_eq!(left.pose, shown.pose, "{decay:?}");
                let (twice, _) = correction.added(&left, &error);
                assert!(twice.pose.is_finite(), "{decay:?}");
            }
        }
    }

    #[test]
    fn an_error_that_is_not_finite_is_not_displayed() {
        let mut correction = Correction::default();
        correction.position.max = f32::INFINITY;
        let beyond = Pose::from_translation(vector(f32::INFINITY, 0.0, 0.0));
        assert_eq!(only(&beyond, &correction).pose, Pose::IDENTITY);
        assert_eq!(correction.begun(&beyond).pose, Pose::IDENTITY);
    }

    fn along_x(x: f32) -> Pose {
        Pose::from_translation(vector(x, 0.0, 0.0))
    }

    #[test]
    fn a_sum_is_held_at_the_limit_and_only_a_large_addition_jumps() {
        let correction = Correction::default(); // up to 2 m
        let mut error = VisualError::default();
        for x in [1.5, 2.0, 2.0, 2.0] {
            let jumps;
            (error, jumps) = correction.added(&error, &along_x(1.5));
            assert_eq!((error.pose, jumps), (along_x(x), false));
        }
        let (sum, jumps) = correction.added(&error, &along_x(2.5));
        assert_eq!((sum.pose, jumps), (Pose::IDENTITY, true));
    }

    #[test]
    fn an_error_that_the_game_begins_may_be_larger_than_the_limit() {
        let correction = Correction::linear(Duration::from_millis(100));
        let error = correction.begun(&along_x(8.0));
        let error = correction.decayed(&error, Duration::from_millis(25));
        assert_eq!(error.pose, along_x(6.0));
        let (sum, jumps) = correction.added(&error, &along_x(0.5));
        assert_eq!((sum.pose, jumps), (along_x(6.0), false));
        let (sum, _) = correction.added(&error, &along_x(-0.5));
        assert_eq!(sum.pose, along_x(5.5));
    }

    #[test]
    fn small_corrections_do_not_prolong_a_large_one() {
        let correction = Correction::linear(Duration::from_millis(100));
        let mut error = correction.begun(&along_x(1.0));
        for _ in 0..50 {
            let left = correction.decayed(&error, Duration::from_millis(2));
            error = correction.added(&left, &along_x(0.000_1)).0;
        }
        assert!(distance(&error.pose) < 0.02, "{error:?}");
    }
}
