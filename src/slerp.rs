//! Interpolation of poses: pure functions, without storage and without time.

use nalgebra::{Isometry3, Quaternion, Translation3, UnitQuaternion};
use rapier3d::glamx::{Quat, Vec3};
use rapier3d::math::Pose;

/// θ² / y as a polynomial in y = 1 − cos θ, over θ in [0, π/2], lowest power first.
///
/// acos² has no singularity at 1, so a plain polynomial follows it down to the smallest angle.
/// Fitted at Chebyshev nodes; the relative error of θ is 3e-9, below what f32 can hold.
const ANGLE_SQUARED: [f32; 9] = [
    2.0,
    0.333_331_56,
    0.088_934_384,
    0.028_125_39,
    0.012_320_191,
    -0.001_914_501_3,
    0.010_233_499,
    -0.006_538_841,
    0.002_909_391_4,
];

/// sin(x) / x − 1, divided by x², as a polynomial in x², over x in [0, π/2], lowest power first.
///
/// Fitted at Chebyshev nodes; the relative error of the sine is 1e-10. Without its first term,
/// 1, which is added last: the rounding of a small correction is smaller than that of the sum.
const SINC_LESS_ONE: [f32; 5] = [
    -0.166_666_67,
    0.008_333_333,
    -0.000_198_410_87,
    2.753_648_2e-6,
    -2.408_053_3e-8,
];

/// The pose between `previous` and `current`, `alpha` of the way: translation by lerp, rotation
/// by slerp along the shorter arc.
///
/// Use it where you hold two poses yourself; [`Simulation::pose`](crate::Simulation::pose) calls
/// it for you. Both rotations must be of unit length. `alpha` is in [0, 1]: at 0 the result
/// is exactly `previous`, at 1 exactly `current`, and where both are equal it is exactly that pose.
///
/// The rotation differs from an exact slerp by less than 3e-7 rad at every angle, and from unit
/// length by less than 4e-7. No platform float function is called, so every machine gives the
/// same bits. The weights are Shoemake's, sin((1−α)θ)/sin θ and sin(αθ)/sin θ
/// (*Animating rotation with quaternion curves*, 1985), each sine by a polynomial.
#[must_use]
pub fn interpolate(previous: &Pose, current: &Pose, alpha: f32) -> Pose {
    let [pose] = interpolate_block(&[*previous], &[*current], alpha);
    pose
}

/// The pose `alpha` of a step after `current`, if the body goes on as it went from `previous`.
///
/// It has no latency, and it is wrong wherever something happens: a ball that is about to bounce
/// is shown in the floor, and then jumps. `alpha` is in [0, 1]; at 0, and where both poses are
/// equal, the result is exactly `current`.
#[must_use]
pub fn extrapolate(previous: &Pose, current: &Pose, alpha: f32) -> Pose {
    if previous == current {
        return *current;
    }
    let turn = current.rotation * previous.rotation.conjugate();
    let next = Pose::from_parts(
        current.translation + (current.translation - previous.translation),
        (turn * current.rotation).normalize(),
    );
    interpolate(current, &next, alpha)
}

/// How many poses are worked on at once: wide enough for the widest vectors in common use, eight
/// floats; the compiler splits it for narrower ones.
const BLOCK: usize = 8;

/// `interpolate` for a batch: pair `i` goes to `out[i]`. Each result is the same to the bit as
/// that of a single call.
///
/// # Panics
/// If the slices differ in length.
pub(crate) fn interpolate_all(previous: &[Pose], current: &[Pose], alpha: f32, out: &mut [Pose]) {
    assert!(previous.len() == current.len() && current.len() == out.len());
    let (previous, previous_rest) = previous.as_chunks::<BLOCK>();
    let (current, current_rest) = current.as_chunks::<BLOCK>();
    let (out, out_rest) = out.as_chunks_mut::<BLOCK>();
    for ((previous, current), out) in previous.iter().zip(current).zip(out) {
        *out = interpolate_block(previous, current, alpha);
    }
    for ((previous, current), out) in previous_rest.iter().zip(current_rest).zip(out_rest) {
        *out = interpolate(previous, current, alpha);
    }
}

/// The one place of the arithmetic: the same operations in the same order for every pair, whatever
/// the width. First how far each pair is apart, pair by pair; then the weights of all pairs at
/// once, without branches and calls, which the compiler makes vector code of; then the blends.
#[inline]
fn interpolate_block<const N: usize>(
    previous: &[Pose; N],
    current: &[Pose; N],
    alpha: f32,
) -> [Pose; N] {
    if alpha >= 1.0 {
        return *current;
    }
    let (mut sides, mut apart) = ([0.0; N], [0.0; N]);
    for i in 0..N {
        let a = previous[i].rotation.to_array();
        let b = current[i].rotation.to_array();
        (sides[i], apart[i]) = shorter_arc(a, b);
    }
    let (mut weights_a, mut weights_b) = ([0.0; N], [0.0; N]);
    for i in 0..N {
        let (of_a, of_b) = slerp_weights(apart[i], alpha);
        (weights_a[i], weights_b[i]) = (of_a, of_b * sides[i]);
    }
    std::array::from_fn(|i| {
        let (previous, current) = (&previous[i], &current[i]);
        let step = current.translation - previous.translation;
        Pose::from_parts(
            previous.translation + step * alpha,
            previous.rotation * weights_a[i] + current.rotation * weights_b[i],
        )
    })
}

/// The sign that puts `b` on the side of `a`, as q and −q are the same rotation; and 1 − cos θ for the
/// angle θ between the two then, without the cancellation that 1 − a·b suffers for small angles.
#[inline]
fn shorter_arc(a: [f32; 4], b: [f32; 4]) -> (f32, f32) {
    let dot = |a: [f32; 4], b: [f32; 4]| (a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3]);
    let side = if dot(a, b) < 0.0 { -1.0 } else { 1.0 };
    let step = [
        b[0] * side - a[0],
        b[1] * side - a[1],
        b[2] * side - a[2],
        b[3] * side - a[3],
    ];
    (side, 0.5 * dot(step, step))
}

/// sin((1−α)θ) / sin θ and sin(αθ) / sin θ, from 1 − cos θ.
#[inline]
fn slerp_weights(one_less_cos: f32, alpha: f32) -> (f32, f32) {
    let angle_squared = one_less_cos * polynomial(&ANGLE_SQUARED, one_less_cos);
    let less_one = |x_squared| x_squared * polynomial(&SINC_LESS_ONE, x_squared);
    let whole = less_one(angle_squared);
    let scale = 1.0 / (1.0 + whole);
    // sin(tθ) / sin θ is t · sinc(tθ) / sinc θ; each weight as t and a small correction of it.
    let weight = |t: f32| t + t * (less_one(t * t * angle_squared) - whole) * scale;
    // Without a turn the weights add up to one, but the rounded products need not.
    let equal = one_less_cos <= 0.0;
    let weight_a = if equal { 1.0 } else { weight(1.0 - alpha) };
    let weight_b = if equal { 0.0 } else { weight(alpha) };
    (weight_a, weight_b)
}

/// Horner's rule; `terms` lowest power first.
#[inline]
fn polynomial<const N: usize>(terms: &[f32; N], x: f32) -> f32 {
    terms.iter().rev().fold(0.0, |sum, term| sum * x + term)
}

/// A Rapier pose as nalgebra's isometry, to the bit.
///
/// ```
/// use evenstep::{from_isometry, rapier3d::math::Pose, to_isometry};
///
/// let pose = Pose::translation(1.0, 2.0, 3.0);
/// assert_eq!(to_isometry(&pose).translation.y, 2.0);
/// assert_eq!(from_isometry(&to_isometry(&pose)), pose);
/// ```
#[must_use]
pub fn to_isometry(pose: &Pose) -> Isometry3<f32> {
    let Vec3 { x, y, z } = pose.translation;
    let [i, j, k, w] = pose.rotation.to_array();
    Isometry3::from_parts(
        Translation3::new(x, y, z),
        UnitQuaternion::new_unchecked(Quaternion::new(w, i, j, k)),
    )
}

/// nalgebra's isometry as a Rapier pose, to the bit.
#[must_use]
pub fn from_isometry(isometry: &Isometry3<f32>) -> Pose {
    let translation = isometry.translation.vector;
    let rotation = isometry.rotation.coords;
    Pose::from_parts(
        Vec3::new(translation.x, translation.y, translation.z),
        Quat::from_xyzw(rotation.x, rotation.y, rotation.z, rotation.w),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{Unit, Vector3};
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
            prop_assert_eq!(extrapolate(&a, &b, 0.0), b);
            prop_assert_eq!(extrapolate(&a, &a, alpha), a);
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
    fn extrapolation_goes_on_as_it_went() {
        let pose =
            |i: f32| Pose::from_parts(Vec3::new(3.0 * i, -i, 1.0), Quat::from_rotation_y(0.7 * i));
        for alpha in [0.25, 0.5, 1.0] {
            let shown = extrapolate(&pose(1.0), &pose(2.0), alpha);
            let expected = pose(2.0 + alpha);
            assert!((shown.translation - expected.translation).length() < 1e-5);
            assert!(difference(to_f64(shown.rotation), to_f64(expected.rotation)) < 1e-6);
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
