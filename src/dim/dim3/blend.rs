//! Interpolation of two poses in space.

use std::ops::Mul;

use crate::dim::blend::Blend;
use crate::dim::blend::{Floats, LANES, Lanes};
use rapier::glamx::Quat;
use rapier::math::{Pose, Rotation, Vector};

/// The angles for which a few terms of the series are enough, as the square of the distance between the quaternions, 2
/// − 2 cos θ. Here θ is 22.5 degrees, for a turn by 45 degrees, the most that Rapier lets a body turn in a step.
pub(in crate::dim) const NEAR: f32 = 0.153;

/// The number of terms for angles up to [`NEAR`]. The first omitted term is 7e-7 of the weight, and the last one
/// compensates for it up to a tenth.
pub(in crate::dim) const NEAR_TERMS: usize = 4;

/// The value at which the first omitted term is added to the last one, so that the errors at [`NEAR`] and halfway to it
/// differ only in sign.
pub(in crate::dim) const LEFT_OUT: f32 = 0.925 * NEAR;

/// Returns the pose between `previous` and `current` at the fraction `alpha`: the translation interpolated linearly,
/// and the rotation by slerp along the shorter arc.
///
/// Unlike [`Simulation::pose`](crate::Simulation::pose), it turns poses about their origin, not about a centre of mass.
///
/// Both rotations must be of unit length, and `alpha` in [0, 1]. At 0 and 1, and for equal poses, the result is exact.
///
/// The rotation differs from an exact slerp by less than 3e-7 rad at every angle, and from unit length by less than
/// 4e-7. No platform float function is called. The weights are Shoemake's, sin((1−α)θ)/sin θ and sin(αθ)/sin θ
/// (*Animating rotation with quaternion curves*, 1985), computed for turns of up to 45 degrees with Eberly's series in
/// 1 − cos θ (*A Fast and Accurate Algorithm for Computing SLERP*, 2011), and for wider turns in `f64`.
///
/// ```
/// # use evenstep::render::interpolate;
/// # use evenstep::rapier::math::{Pose, Rotation, Vector};
/// let start = Pose::IDENTITY;
/// let end = Pose::from_parts(Vector::X, Rotation::from_rotation_y(1.0));
/// let half = interpolate(&start, &end, 0.5);
/// assert!(half.rotation.abs_diff_eq(Rotation::from_rotation_y(0.5), 1e-6));
/// // A quaternion and its negative are the same rotation, so the arc is the same.
/// let negative = Pose::from_parts(Vector::X, -end.rotation);
/// assert_eq!(interpolate(&start, &negative, 0.5), half);
/// ```
#[must_use]
pub fn interpolate(previous: &Pose, current: &Pose, alpha: f32) -> Pose {
    Blend::new(alpha).one(previous, current)
}

/// Interpolates a batch: the pose between `previous[i]` and `current[i]` goes to `out[i]`, with the same bits as from
/// [`interpolate`].
///
/// # Panics
/// If the slices differ in length.
pub fn interpolate_all(previous: &[Pose], current: &[Pose], alpha: f32, out: &mut [Pose]) {
    Blend::new(alpha).all(previous, current, out);
}

/// Returns the squared distances between the quaternions of up to four pairs. The differences are squared, because 2 −
/// 2 cos θ would cancel for small angles. If the shorter arc leads to the negative of the current quaternion, the
/// result is above 2, and so above [`NEAR`].
#[inline]
pub(in crate::dim) fn distances_squared<const N: usize>(
    previous: &[Pose; N],
    current: &[Pose; N],
) -> Floats {
    let back = |i: usize| rotation(previous[i].rotation) - rotation(current[i].rotation);
    // The last pair fills the lanes of missing ones.
    let back = Floats::transpose(std::array::from_fn(|i| back(i.min(N - 1))));
    Lanes(back).length_squared()
}

/// Blends two poses: the rotation with the `end_weight` and the `excess` of [`Blend`], and the translation at `alpha`.
///
/// The rotation is start − ((start − end) · `end_weight` − start · `excess`). If start and end are equal, nothing is
/// subtracted, which preserves −0. The rounding of the subtracted part is smaller than that of a sum of two halves.
#[inline]
pub(in crate::dim) fn blend(
    previous: &Pose,
    current: &Pose,
    [end_weight, excess]: [f32; 2],
    alpha: f32,
) -> Pose {
    // The difference is computed twice, which costs less than keeping it.
    let (start, end) = (rotation(previous.rotation), rotation(current.rotation));
    let turned = start - ((start - end) * end_weight - start * excess);
    let (start, end) = (translation(previous), translation(current));
    let moved = start - (start - end) * alpha;
    Pose::from_parts(to_vector(moved), Quat::from_array(turned.to_array()))
}

/// Interpolates between rotations that are too far apart for the series. It uses `f64`, because the weights of a wide
/// turn multiply the rounding of `f32`. Between rotations of different lengths, which Rapier accepts, the result is
/// finite.
#[cold]
pub(in crate::dim) fn wide_slerp(start: Quat, end: Quat, alpha: f32) -> Quat {
    // A quaternion and its negative are the same rotation. The nearer one is at the end of the shorter arc.
    let sign = if start.dot(end) < 0.0 { -1.0 } else { 1.0 };
    let (start, end) = (start.as_dquat(), end.as_dquat() * sign);
    // The angle between the quaternions, which is half that of the turn.
    let angle = 2.0 * libm::atan2((end - start).length(), (end + start).length());
    if angle == 0.0 {
        // The quaternions are negatives of each other: the same rotation.
        return start.as_quat();
    }
    let weight = |alpha: f64| libm::sin(alpha * angle) / libm::sin(angle);
    let alpha = f64::from(alpha);
    (start * weight(1.0 - alpha) + end * weight(alpha)).as_quat()
}

pub(crate) type Vectors = Lanes<3>;

/// Rotations or angular velocities, as axes whose length is the angle or the speed.
pub(crate) type Spins = Vectors;

#[derive(Clone, Copy)]
pub(crate) struct Rotations {
    pub(super) vector: Vectors,
    pub(super) w: Floats,
}

impl Vectors {
    #[inline]
    pub fn new(vectors: [Vector; LANES]) -> Self {
        let fours = vectors.map(|vector| Floats::new([vector.x, vector.y, vector.z, 0.0]));
        let [x, y, z, _] = Floats::transpose(fours);
        Self([x, y, z])
    }

    #[inline]
    pub fn translations(poses: &[Pose; LANES]) -> Self {
        let [x, y, z, _] = Floats::transpose(poses.each_ref().map(translation));
        Self([x, y, z])
    }

    #[inline]
    pub fn to_array(self) -> [Vector; LANES] {
        let Self([x, y, z]) = self;
        Floats::transpose([x, y, z, Floats::ZERO]).map(to_vector)
    }

    #[inline]
    fn cross(self, Self([bx, by, bz]): Self) -> Self {
        let Self([x, y, z]) = self;
        Self([y * bz - z * by, z * bx - x * bz, x * by - y * bx])
    }
}

impl Rotations {
    #[inline]
    pub fn new(rotations: [Rotation; LANES]) -> Self {
        let [x, y, z, w] = Floats::transpose(rotations.map(rotation));
        let vector = Lanes([x, y, z]);
        Self { vector, w }
    }

    #[inline]
    pub fn of([a, b, c, d]: &[Pose; LANES]) -> Self {
        Self::new([a.rotation, b.rotation, c.rotation, d.rotation])
    }

    #[inline]
    pub fn to_array(self) -> [Rotation; LANES] {
        let Lanes([x, y, z]) = self.vector;
        Floats::transpose([x, y, z, self.w]).map(|floats| Rotation::from_array(floats.to_array()))
    }

    #[inline]
    pub fn inverse(self) -> Self {
        let vector = self.vector * -1.0;
        Self { vector, w: self.w }
    }

    /// Normalises rotations whose length is 1 except for rounding. One step of Newton's method is enough.
    #[inline]
    pub fn renormalized(self) -> Self {
        let length_squared = self.vector.length_squared() + self.w * self.w;
        let scale = 1.5 - length_squared * 0.5;
        Self {
            vector: self.vector * scale,
            w: self.w * scale,
        }
    }

    /// Rotates each vector v by its quaternion (q, w): v + 2 w (q × v) + q × 2 (q × v).
    #[inline]
    pub fn rotate(self, vector: Vectors) -> Vectors {
        let cross_twice = self.vector.cross(vector) * 2.0;
        vector + cross_twice * self.w + self.vector.cross(cross_twice)
    }
}

impl Mul for Rotations {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.vector, other.vector);
        Self {
            vector: a * other.w + b * self.w + a.cross(b),
            w: self.w * other.w - a.dot(b),
        }
    }
}

/// Returns the translation with the padding behind it, so that one load is enough, not three.
#[inline]
pub(super) fn translation(pose: &Pose) -> Floats {
    let Vector { x, y, z } = pose.translation;
    Floats::new([x, y, z, f32::from_bits(pose.padding)])
}

#[inline]
pub(super) fn rotation(rotation: Rotation) -> Floats {
    Floats::new(rotation.to_array())
}

#[inline]
pub(super) fn to_vector(floats: Floats) -> Vector {
    let [x, y, z, _] = floats.to_array();
    Vector::new(x, y, z)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "compared within a tolerance")]
mod tests {
    use super::*;
    use nalgebra::{Quaternion, Unit, UnitQuaternion, Vector3};
    use proptest::prelude::*;
    use rapier::glamx::Vec3;

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

    fn exact_slerp(a: Quat, b: Quat, alpha: f32) -> Quaternion<f64> {
        let (a, mut b) = (to_f64(a).normalize(), to_f64(b).normalize());
        if a.dot(&b) < 0.0 {
            b = -b;
        }
        // This is exact for small angles, unlike `acos` of the dot product.
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

    fn difference(a: Quaternion<f64>, b: Quaternion<f64>) -> f64 {
        let (a, b) = (a.normalize(), b.normalize());
        4.0 * (a - b).norm().min((a + b).norm()).atan2(2.0)
    }

    fn axis() -> impl Strategy<Value = [f64; 3]> {
        [-1.0..1.0f64, -1.0..1.0, -1.0..1.0]
            .prop_filter("an axis has a length", |v| Vector3::from(*v).norm() > 0.1)
    }

    fn angle() -> impl Strategy<Value = f64> {
        prop_oneof![
            0.0..std::f64::consts::PI,
            // Small angles of each order of magnitude are as frequent as large ones.
            (-7.0..0.5f64).prop_map(|exponent| 10f64.powf(exponent))
        ]
        .prop_map(|angle| angle.min(std::f64::consts::PI))
    }

    proptest! {
        #![proptest_config(crate::testing::random(20_000))]

        #[test]
        fn an_interpolated_rotation_is_within_3e_7_rad_of_an_exact_slerp(
            start in axis(), tilt in 0.0..6.0f64, turn in axis(), angle in angle(),
            alpha in 0.0..=1.0f32, flip: bool,
        ) {
            let a = rotation(start, tilt);
            let (a, b) = (to_f32(a), to_f32(a * rotation(turn, angle)));
            // The quaternion `-b` is the same rotation.
            let b = if flip { -b } else { b };
            let ours = to_f64(slerped(a, b, alpha));
            // At exactly half a turn both arcs are equally short, and rounding may choose either.
            prop_assume!(to_f64(a).dot(&to_f64(b)).abs() > 1e-6);
            let error = difference(ours, exact_slerp(a, b, alpha));
            prop_assert!(error < 3e-7, "{error} rad at {angle} rad");
            let norm_error = (ours.norm() - 1.0).abs();
            prop_assert!(norm_error < 4e-7, "{norm_error}");
        }

        #[test]
        fn interpolation_is_exact_at_alpha_0_and_1_and_between_equal_poses(
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
    fn interpolation_preserves_negative_zero_at_alpha_0_and_between_equal_poses() {
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
    fn rotations_are_interpolated_along_the_shorter_arc() {
        let a = Quat::IDENTITY;
        let b = Quat::from_rotation_z(1.0);
        assert_eq!(slerped(a, -b, 0.25), slerped(a, b, 0.25));
        let expected = rotation([0.0, 0.0, 1.0], 0.25).into_inner();
        assert!(difference(to_f64(slerped(a, b, 0.25)), expected) < 3e-7);
    }

    #[test]
    fn a_batch_equals_single_calls_of_interpolate() {
        let pose = |i: u8| {
            let angle = f32::from(i);
            Pose::from_parts(Vec3::new(angle, 0.0, 1.0), Quat::from_rotation_x(angle))
        };
        // 79 poses are two full blocks, then three fours, then three single poses.
        let previous: Vec<Pose> = (0..79).map(pose).collect();
        let current: Vec<Pose> = (1..80).map(pose).collect();
        let mut out = vec![Pose::identity(); 79];
        interpolate_all(&previous, &current, 0.3, &mut out);
        for i in 0..79 {
            assert_eq!(out[i], interpolate(&previous[i], &current[i], 0.3));
        }
    }
}
