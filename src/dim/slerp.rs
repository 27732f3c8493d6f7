//! Interpolation of poses: pure functions, without storage and without time.

use rapier::glamx::{Quat, Vec3, Vec4};
use rapier::math::Pose;

/// Angles for which a few terms of the series are enough: the square of the distance between the
/// quaternions, 2 − 2 cos θ, of 22.5 degrees between them, a turn by 45 degrees, which is the most that Rapier
/// lets a body turn in a step.
const NEAR: f32 = 0.153;

/// Terms for angles up to [`NEAR`]. Of the first one left out, 7e-7 of the weight, the last one takes in all but
/// a tenth.
const NEAR_TERMS: usize = 4;

/// The first term left out is taken into the last one as it is here: where its error is the same at [`NEAR`] as
/// halfway to it, but for the sign.
const LEFT_OUT: f32 = 0.925 * NEAR;

/// Terms for all angles: at half a turn, where each is half of the one before, the first one left
/// out is below 2e-9.
const ALL_TERMS: u8 = 28;

/// The pose between `previous` and `current`, at the fraction `alpha` of the way: translation by lerp, rotation
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
/// Both poses are interpolated about their origin. A body turns about its centre of mass instead, which
/// [`Simulation::pose`](crate::Simulation::pose) takes into account.
///
/// ```
/// use evenstep::interpolate;
/// use evenstep::rapier::math::{Pose, Rotation, Vector};
///
/// let start = Pose::IDENTITY;
/// let end = Pose::from_parts(Vector::X, Rotation::from_rotation_y(1.0));
/// let half = interpolate(&start, &end, 0.5);
/// assert_eq!(half.translation, Vector::X * 0.5);
/// assert!(half.rotation.abs_diff_eq(Rotation::from_rotation_y(0.5), 1e-6));
/// // A quaternion and its negative are the same rotation, so the arc is the same, the shorter one.
/// let negative = Pose::from_parts(Vector::X, -end.rotation);
/// assert_eq!(interpolate(&start, &negative, 0.5), half);
/// ```
#[must_use]
pub fn interpolate(previous: &Pose, current: &Pose, alpha: f32) -> Pose {
    Blend::new(alpha).one(previous, current)
}

/// How many poses are worked on at once: enough that the loops over their weights, which the compiler
/// makes vectors of, pay; few enough to stay in the nearest cache. 16 is as good with vectors of four
/// floats, and slower by a fifth with those of eight.
const BLOCK: usize = 32;

/// [`interpolate`] for a batch: the pose between `previous[i]` and `current[i]` goes to `out[i]`, with the same bits as
/// from a single call. Eight times as fast as a loop over Rapier's `Pose3::lerp`; see `cargo bench --bench frame -- batch`.
///
/// # Panics
/// If the slices differ in length.
pub fn interpolate_all(previous: &[Pose], current: &[Pose], alpha: f32, out: &mut [Pose]) {
    Blend::new(alpha).all(previous, current, out);
}

/// Interpolation at one alpha: the weights of a slerp for angles up to [`NEAR`], as power series in
/// the square of the distance between the quaternions, which is 2 y.
///
/// ```text
/// y = 1 − cos θ    sin(αθ) / sin θ = Σ c_i(α) yⁱ    c_0 = α    c_i = c_(i−1) (i² − α²) / (i (2i + 1))
/// ```
pub(crate) struct Blend {
    alpha: f32,
    /// The weight of the end.
    of_end: [f32; NEAR_TERMS],
    /// Both weights together, less one: what the start is scaled by beside itself. Without the first term,
    /// which is zero, as the weights of a turn by nothing add up to one.
    of_both: [f32; NEAR_TERMS - 1],
}

impl Blend {
    #[inline]
    pub fn new(alpha: f32) -> Self {
        let (of_start, of_end) = (terms(1.0 - alpha), terms(alpha));
        Self {
            alpha,
            of_end,
            of_both: std::array::from_fn(|i| of_start[i + 1] + of_end[i + 1]),
        }
    }

    /// As [`interpolate`].
    #[inline]
    pub fn one(&self, previous: &Pose, current: &Pose) -> Pose {
        let mut out = [Pose::IDENTITY];
        self.block(&[*previous], &[*current], &mut out);
        out[0]
    }

    /// As [`interpolate_all`].
    pub fn all(&self, previous: &[Pose], current: &[Pose], out: &mut [Pose]) {
        let lengths = [previous.len(), current.len(), out.len()];
        assert!(
            lengths == [out.len(); 3],
            "slices of {lengths:?} poses: give as many previous ones, current ones and places"
        );
        let (previous, previous_rest) = previous.as_chunks::<BLOCK>();
        let (current, current_rest) = current.as_chunks::<BLOCK>();
        let (out, out_rest) = out.as_chunks_mut::<BLOCK>();
        for ((previous, current), out) in previous.iter().zip(current).zip(out) {
            self.block(previous, current, out);
        }
        for ((previous, current), out) in previous_rest.iter().zip(current_rest).zip(out_rest) {
            *out = self.one(previous, current);
        }
    }

    /// The one place of the arithmetic: the same operations in the same order for every pair, whatever
    /// its place. First how far each pair is apart; then the weights of all, without branches and
    /// calls, which the compiler makes vector code of; then the blends.
    ///
    /// A rotation is blended as a − ((a − b) · v − a · w) with small w and v: where both are equal
    /// nothing is taken away, which leaves −0 as it is, and what is taken away is rounded less than a sum of two halves.
    #[inline]
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "without a branch for each, which the compiler makes vector code of"
    )]
    pub fn block<const N: usize>(
        &self,
        previous: &[Pose; N],
        current: &[Pose; N],
        out: &mut [Pose; N],
    ) {
        if self.alpha >= 1.0 || self.alpha <= 0.0 {
            *out = if self.alpha > 0.0 {
                *current
            } else {
                *previous
            };
            return;
        }
        let mut apart = [0.0; N];
        for i in 0..N {
            // Without the cancellation that 2 − 2 a·b suffers for small angles. Above 2, and so above
            // NEAR, if the shorter arc is that to −b.
            let way = current[i].rotation - previous[i].rotation;
            apart[i] = way.dot(way);
        }
        let (mut of_start, mut of_way) = ([0.0; N], [0.0; N]);
        for i in 0..N {
            of_start[i] = apart[i] * polynomial(&self.of_both, apart[i]);
            of_way[i] = polynomial(&self.of_end, apart[i]);
        }
        for i in 0..N {
            let (start, end) = (previous[i].rotation, current[i].rotation);
            // The difference is computed twice: that costs less than to keep it.
            out[i].rotation = start - ((start - end) * of_way[i] - start * of_start[i]);
            let (start, end) = (four_floats(&previous[i]), four_floats(&current[i]));
            let blend = start - (start - end) * self.alpha;
            out[i].translation.x = blend.x;
            out[i].translation.y = blend.y;
            out[i].translation.z = blend.z;
            out[i].padding = blend.w.to_bits();
        }
        // Asked once for all of them, as it is nearly always of none.
        if apart.iter().fold(false, |any, apart| any | (*apart > NEAR)) {
            for i in (0..N).filter(|i| apart[*i] > NEAR) {
                out[i].rotation = wide_slerp(previous[i].rotation, current[i].rotation, self.alpha);
            }
        }
    }
}

/// The translation with the padding behind it, which is zero: one load instead of three.
#[inline]
pub(crate) fn four_floats(pose: &Pose) -> Vec4 {
    let Vec3 { x, y, z } = pose.translation;
    Vec4::new(x, y, z, f32::from_bits(pose.padding))
}

/// The coefficients of `Σ c_i(α) yⁱ`, lowest power first, for the double of y.
fn terms(alpha: f32) -> [f32; NEAR_TERMS] {
    let mut terms = [alpha; NEAR_TERMS];
    let mut i = 1.0;
    for n in 1..NEAR_TERMS {
        terms[n] = terms[n - 1] * 0.5 * ratio(i, alpha);
        i += 1.0;
    }
    terms[NEAR_TERMS - 1] *= 1.0 + 0.5 * ratio(i, alpha) * LEFT_OUT;
    terms
}

/// `c_i / c_(i−1)`
fn ratio(i: f32, alpha: f32) -> f32 {
    (i * i - alpha * alpha) / (i * (2.0 * i + 1.0))
}

/// Horner's rule; `terms` lowest power first.
#[inline]
fn polynomial<const N: usize>(terms: &[f32; N], x: f32) -> f32 {
    let (last, others) = terms.split_last().expect("there are terms");
    others.iter().rev().fold(*last, |sum, term| sum * x + term)
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
#[expect(clippy::disallowed_methods, reason = "compared within a tolerance")]
mod tests {
    use super::*;
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

    fn bits(pose: &Pose) -> [u32; 7] {
        let [x, y, z] = pose.translation.to_array();
        let [i, j, k, w] = pose.rotation.to_array();
        [x, y, z, i, j, k, w].map(f32::to_bits)
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
            prop_assert_eq!(bits(&interpolate(&a, &a, alpha)), bits(&a));
        }
    }

    #[test]
    fn what_rests_or_begins_at_minus_zero_stays_there() {
        let at = Pose::from_parts(
            Vec3::new(-0.0, 1.0, -0.0),
            Quat::from_xyzw(-0.0, 0.0, -0.0, 1.0),
        );
        let elsewhere = Pose::from_parts(Vec3::ONE, Quat::from_rotation_x(1.0));
        for alpha in [0.0, 0.3, 0.999, 1.0] {
            assert_eq!(bits(&interpolate(&at, &at, alpha)), bits(&at), "{alpha}");
        }
        assert_eq!(bits(&interpolate(&at, &elsewhere, 0.0)), bits(&at));
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
    fn a_batch_gives_the_bits_of_single_calls() {
        let pose = |i: u8| {
            let angle = f32::from(i);
            Pose::from_parts(Vec3::new(angle, 0.0, 1.0), Quat::from_rotation_x(angle))
        };
        let previous: Vec<Pose> = (0..79).map(pose).collect();
        let current: Vec<Pose> = (1..80).map(pose).collect();
        let mut out = vec![Pose::identity(); 79];
        interpolate_all(&previous, &current, 0.3, &mut out);
        for i in 0..79 {
            assert_eq!(out[i], interpolate(&previous[i], &current[i], 0.3));
        }
    }
}
