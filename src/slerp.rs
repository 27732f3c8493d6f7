//! Interpolation of poses: pure functions, without storage and without time.

use crate::rapier::glamx::Quat;
use crate::rapier::math::Pose;

/// Angles for which a few terms of the series are enough: 1 − cos θ of 22.5 degrees between the
/// quaternions, a turn by 45 degrees, which is the most that Rapier lets a body turn in a step.
const NEAR: f32 = 0.0765;

/// Terms for angles up to [`NEAR`]: the first one left out is below 4e-8 of the weight.
const NEAR_TERMS: usize = 5;

/// Terms for all angles: at half a turn, where each is half of the one before, the first one left
/// out is below 2e-9.
const ALL_TERMS: u8 = 28;

/// The pose between `previous` and `current`, `alpha` of the way: translation by lerp, rotation
/// by slerp along the shorter arc.
///
/// Use it where you hold two poses yourself; [`Simulation::pose`](crate::Simulation::pose) calls
/// it for you. Both rotations must be of unit length. `alpha` is in [0, 1]: at 0 the result
/// is exactly `previous`, at 1 exactly `current`, and where both are equal it is exactly that pose.
///
/// The rotation differs from an exact slerp by less than 3e-7 rad at every angle, and from unit
/// length by less than 4e-7. No float function of the platform is called. The weights are
/// Shoemake's, sin((1−α)θ)/sin θ and sin(αθ)/sin θ (*Animating rotation with quaternion curves*,
/// 1985), by Eberly's series in 1 − cos θ (*A Fast and Accurate Algorithm for Computing SLERP*, 2011).
///
/// Both positions are taken for the origin of what moves: a body whose centre of mass is elsewhere
/// goes straight with that, and [`Simulation::pose`](crate::Simulation::pose) takes care of it.
#[must_use]
pub fn interpolate(previous: &Pose, current: &Pose, alpha: f32) -> Pose {
    let mut pose = [*previous];
    interpolate_block(&[*previous], &[*current], &Series::new(alpha), &mut pose);
    pose[0]
}

/// A pose whose rotation has unit length; `None` if it has none, or is not finite.
///
/// A rotation that is of unit length but for rounding is left as it is, to the bit.
pub(crate) fn normalized(pose: Pose) -> Option<Pose> {
    // In f64, where the square of no f32 overflows.
    let rotation = pose.rotation.as_dquat();
    let length_squared = rotation.length_squared();
    if !pose.is_finite() || length_squared == 0.0 {
        return None;
    }
    if (length_squared - 1.0).abs() < 1e-5 {
        return Some(pose);
    }
    let rotation = rotation / length_squared.sqrt();
    Some(Pose::from_parts(pose.translation, rotation.as_quat()))
}

/// How many poses are worked on at once: enough that the loops over their weights, which the compiler
/// makes vectors of, pay; few enough to stay in the nearest cache. 16 is as good with vectors of four
/// floats, and slower by a fifth with those of eight.
const BLOCK: usize = 32;

/// [`interpolate`] for a batch: pair `i` goes to `out[i]`, the same to the bit as that of a single
/// call. Six times as fast as a loop over Rapier's `Pose3::lerp`; see `cargo bench --bench frame -- batch`.
///
/// # Panics
/// If the slices differ in length.
pub fn interpolate_all(previous: &[Pose], current: &[Pose], alpha: f32, out: &mut [Pose]) {
    let lengths = [previous.len(), current.len(), out.len()];
    assert!(
        lengths == [out.len(); 3],
        "slices of {lengths:?} poses: give as many previous ones, current ones and places"
    );
    let series = Series::new(alpha);
    let (previous, previous_rest) = previous.as_chunks::<BLOCK>();
    let (current, current_rest) = current.as_chunks::<BLOCK>();
    let (out, out_rest) = out.as_chunks_mut::<BLOCK>();
    for ((previous, current), out) in previous.iter().zip(current).zip(out) {
        interpolate_block(previous, current, &series, out);
    }
    for ((previous, current), out) in previous_rest.iter().zip(current_rest).zip(out_rest) {
        interpolate_block(
            &[*previous],
            &[*current],
            &series,
            std::array::from_mut(out),
        );
    }
}

/// The one place of the arithmetic: the same operations in the same order for every pair, whatever
/// its place. First how far each pair is apart; then the weights of all, without branches and
/// calls, which the compiler makes vector code of; then the blends.
///
/// A rotation is blended as a + (a · w + (b − a) · v) with small w and v: where both are equal
/// nothing is added, and what is added is rounded less than a sum of two halves.
#[inline]
fn interpolate_block<const N: usize>(
    previous: &[Pose; N],
    current: &[Pose; N],
    series: &Series,
    out: &mut [Pose; N],
) {
    if series.alpha >= 1.0 {
        *out = *current;
        return;
    }
    let mut steps = [Quat::IDENTITY; N];
    let mut apart = [0.0; N];
    for i in 0..N {
        steps[i] = current[i].rotation - previous[i].rotation;
        // 1 − cos θ, without the cancellation that 1 − a·b suffers for small angles. Above 1, and so
        // above NEAR, if the shorter arc is that to −b.
        apart[i] = 0.5 * steps[i].dot(steps[i]);
    }
    let (mut of_start, mut of_step) = ([0.0; N], [0.0; N]);
    for i in 0..N {
        (of_start[i], of_step[i]) = series.weights(apart[i]);
    }
    for i in 0..N {
        let (start, end) = (&previous[i], &current[i]);
        out[i] = Pose::from_parts(
            start.translation + (end.translation - start.translation) * series.alpha,
            start.rotation + (start.rotation * of_start[i] + steps[i] * of_step[i]),
        );
    }
    // Asked once for all of them: a tenth faster where none is, which is nearly always.
    if apart.iter().any(|apart| *apart > NEAR) {
        for i in (0..N).filter(|i| apart[*i] > NEAR) {
            out[i].rotation = wide_slerp(previous[i].rotation, current[i].rotation, series.alpha);
        }
    }
}

/// The weights of a slerp for one alpha and angles up to [`NEAR`], as power series in y = 1 − cos θ.
///
/// ```text
/// sin(αθ) / sin θ = Σ c_i(α) yⁱ    c_0 = α    c_i = c_(i−1) (i² − α²) / (i (2i + 1))
/// ```
struct Series {
    alpha: f32,
    /// `Σ c_i(α) yⁱ`, the weight of the end.
    of_end: [f32; NEAR_TERMS],
    /// Both weights together, less one: what the start is scaled by beside itself. Its first term
    /// is zero, as the weights of a turn by nothing add up to one.
    of_both: [f32; NEAR_TERMS],
}

impl Series {
    #[inline]
    fn new(alpha: f32) -> Self {
        let mut of_end = [alpha; NEAR_TERMS];
        let mut of_start = [1.0 - alpha; NEAR_TERMS];
        let mut of_both = [0.0; NEAR_TERMS];
        let mut i = 0.0;
        for n in 1..NEAR_TERMS {
            i += 1.0;
            of_end[n] = of_end[n - 1] * ratio(i, alpha);
            of_start[n] = of_start[n - 1] * ratio(i, 1.0 - alpha);
            of_both[n] = of_start[n] + of_end[n];
        }
        Self {
            alpha,
            of_end,
            of_both,
        }
    }

    /// What the start is scaled by beside itself, and the weight of the way to the end.
    #[inline]
    fn weights(&self, y: f32) -> (f32, f32) {
        (polynomial(&self.of_both, y), polynomial(&self.of_end, y))
    }
}

/// `c_i / c_(i−1)`
fn ratio(i: f32, alpha: f32) -> f32 {
    (i * i - alpha * alpha) / (i * (2.0 * i + 1.0))
}

/// Horner's rule; `terms` lowest power first.
#[inline]
fn polynomial<const N: usize>(terms: &[f32; N], x: f32) -> f32 {
    terms.iter().rev().fold(0.0, |sum, term| sum * x + term)
}

/// Slerp by the same series for all angles, and for quaternions whose signs differ though the rotations
/// do not. In f64, as a wide turn multiplies what f32 rounds.
#[cold]
fn wide_slerp(start: Quat, end: Quat, alpha: f32) -> Quat {
    let side = if start.dot(end) < 0.0 { -1.0 } else { 1.0 };
    let (start, end) = (start.as_dquat(), end.as_dquat() * side);
    let y = 0.5 * (end - start).length_squared();
    let weight = |alpha: f64| {
        let (mut term, mut sum) = (alpha, alpha);
        for i in (1..ALL_TERMS).map(f64::from) {
            term *= y * (i * i - alpha * alpha) / (i * (2.0 * i + 1.0));
            sum += term;
        }
        sum
    };
    let alpha = f64::from(alpha);
    (start * weight(1.0 - alpha) + end * weight(alpha)).as_quat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rapier::glamx::Vec3;
    use nalgebra::{Quaternion, Unit, UnitQuaternion, Vector3};
    use proptest::prelude::*;

    fn rotation(axis: [f64; 3], angle: f64) -> UnitQuaternion<f64> {
        UnitQuaternion::from_axis_angle(&Unit::new_normalize(Vector3::from(axis)), angle)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the f32 inputs under test")]
    fn to_f32(q: UnitQuaternion<f64>) -> Quat {
        Quat::from_xyzw(q.i as f32, q.j as f32, q.k as f32, q.w as f32)
    }

    fn to_f64(q: Quat) -> Quaternion<f64> {
        let [x, y, z, w] = q.to_array();
        Quaternion::new(w.into(), x.into(), y.into(), z.into())
    }

    fn slerped(a: Quat, b: Quat, alpha: f32) -> Quat {
        interpolate(&Pose::from_rotation(a), &Pose::from_rotation(b), alpha).rotation
    }

    /// Slerp in f64, with the angle from atan2 so that small ones are exact too.
    fn reference(a: Quat, b: Quat, alpha: f32) -> Quaternion<f64> {
        let (a, mut b) = (to_f64(a).normalize(), to_f64(b).normalize());
        if a.dot(&b) < 0.0 {
            b = -b;
        }
        let angle = 2.0 * (b - a).norm().atan2((b + a).norm());
        if angle == 0.0 {
            return a;
        }
        let alpha = f64::from(alpha);
        a * (((1.0 - alpha) * angle).sin() / angle.sin())
            + b * ((alpha * angle).sin() / angle.sin())
    }

    /// The angle of the rotation that leads from one to the other, in radians.
    fn difference(a: Quaternion<f64>, b: Quaternion<f64>) -> f64 {
        let (a, b) = (a.normalize(), b.normalize());
        4.0 * (a - b).norm().min((a + b).norm()).atan2(2.0)
    }

    fn axis() -> impl Strategy<Value = [f64; 3]> {
        [-1.0..1.0f64, -1.0..1.0, -1.0..1.0]
            .prop_filter("an axis has a length", |v| Vector3::from(*v).norm() > 0.1)
    }

    /// Angles of all sizes, from those of one step of a slow body to half a turn.
    fn angle() -> impl Strategy<Value = f64> {
        prop_oneof![
            0.0..std::f64::consts::PI,
            (-7.0..0.5f64).prop_map(|e| 10f64.powf(e))
        ]
        .prop_map(|angle| angle.min(std::f64::consts::PI))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn rotation_is_within_3e_7_rad_of_an_exact_slerp(
            start in axis(), tilt in 0.0..6.0f64, turn in axis(), angle in angle(),
            alpha in 0.0..=1.0f32, flip: bool,
        ) {
            let a = rotation(start, tilt);
            let (a, b) = (to_f32(a), to_f32(a * rotation(turn, angle)));
            let b = if flip { -b } else { b };
            let ours = to_f64(slerped(a, b, alpha));
            // Exactly half a turn has two shorter arcs: there rounding may choose either.
            prop_assume!(to_f64(a).dot(&to_f64(b)).abs() > 1e-6);
            let error = difference(ours, reference(a, b, alpha));
            prop_assert!(error < 3e-7, "{error} rad at {angle} rad");
            let norm_error = (ours.norm() - 1.0).abs();
            prop_assert!(norm_error < 4e-7, "{norm_error}");
        }

        #[test]
        fn alpha_0_and_equal_poses_are_exact(
            start in axis(), tilt in 0.0..6.0f64, angle in angle(), alpha in 0.0..=1.0f32,
            from in [-1e4..1e4f32, -1e4..1e4, -1e4..1e4], to in [-1e4..1e4f32, -1e4..1e4, -1e4..1e4],
        ) {
            let a = rotation(start, tilt);
            let b = Pose::from_parts(Vec3::from(to), to_f32(a * rotation([0.0, 1.0, 0.0], angle)));
            let a = Pose::from_parts(Vec3::from(from), to_f32(a));
            prop_assert_eq!(interpolate(&a, &b, 0.0), a);
            prop_assert_eq!(interpolate(&a, &b, 1.0), b);
            prop_assert_eq!(interpolate(&a, &a, alpha), a);
        }
    }

    #[test]
    fn the_shorter_arc_is_taken() {
        let a = Quat::IDENTITY;
        let b = Quat::from_rotation_z(1.0);
        assert_eq!(slerped(a, -b, 0.25), slerped(a, b, 0.25));
        let expected = rotation([0.0, 0.0, 1.0], 0.25).into_inner();
        assert!(difference(to_f64(slerped(a, b, 0.25)), expected) < 3e-7);
    }

    #[test]
    fn only_a_rotation_off_unit_length_is_changed() {
        let unit = Quat::from_rotation_y(1.0);
        assert_eq!(
            normalized(Pose::from_rotation(unit)),
            Some(Pose::from_rotation(unit))
        );
        for scale in [1e-30, 0.5, 1.001, 1e30] {
            let pose = normalized(Pose::from_rotation(unit * scale)).unwrap();
            assert!(pose.rotation.abs_diff_eq(unit, 1e-6), "{scale}");
            assert!((pose.rotation.length() - 1.0).abs() < 1e-6, "{scale}");
        }
        for bad in [Quat::from_array([0.0; 4]), Quat::from_array([f32::NAN; 4])] {
            assert_eq!(normalized(Pose::from_rotation(bad)), None);
        }
    }

    #[test]
    fn a_batch_gives_the_bits_of_single_calls() {
        let pose = |i: u8| {
            let angle = f32::from(i);
            Pose::from_parts(Vec3::new(angle, 0.0, 1.0), Quat::from_rotation_x(angle))
        };
        let previous: Vec<Pose> = (0..19).map(pose).collect();
        let current: Vec<Pose> = (1..20).map(pose).collect();
        let mut out = vec![Pose::identity(); 19];
        interpolate_all(&previous, &current, 0.3, &mut out);
        for i in 0..19 {
            assert_eq!(out[i], interpolate(&previous[i], &current[i], 0.3));
        }
    }
}
