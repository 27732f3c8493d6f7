//! Interpolation of two poses in a plane.

use std::ops::Mul;

use crate::dim::blend::Blend;
use crate::dim::blend::{Floats, LANES, Lanes};
use rapier::math::{AngVector, Pose, Rotation, Vector};

/// The angles for which a few terms of the series are enough, as the square of the distance between the rotations, 2 −
/// 2 cos θ: a turn by 45 degrees, the most that Rapier lets a body turn in a step.
pub(in crate::dim) const NEAR: f32 = 0.586;

/// The number of terms for angles up to [`NEAR`]. The first omitted term is 2e-7 of the weight, and the last one
/// compensates for it up to a twentieth.
pub(in crate::dim) const NEAR_TERMS: usize = 7;

/// The value at which the first omitted term is added to the last one, so that the errors at [`NEAR`] and halfway to it
/// differ only in sign.
pub(in crate::dim) const LEFT_OUT: f32 = 0.958 * NEAR;

/// Returns the pose between `previous` and `current` at the fraction `alpha`: the translation interpolated linearly,
/// and the angle along the shorter arc.
///
/// Unlike [`Simulation::pose`](crate::Simulation::pose), it turns poses about their origin, not about a centre of mass.
///
/// Both rotations must be of unit length, and `alpha` in [0, 1]. At 0 and 1, and for equal poses, the result is exact.
/// Rotations that are half a turn apart follow the same arc on every platform.
///
/// The angle differs from an exact interpolation by less than 3e-7 rad, and the rotation from unit length by less than
/// 4e-7. No platform float function is called. The weights are those of a slerp, sin((1−α)θ)/sin θ and sin(αθ)/sin θ,
/// computed for turns of up to 45 degrees with Eberly's series in 1 − cos θ (*A Fast and Accurate Algorithm for
/// Computing SLERP*, 2011), and for wider ones in `f64`.
///
/// ```
/// # use evenstep::render::interpolate;
/// # use evenstep::rapier::math::{Pose, Vector};
/// let start = Pose::new(Vector::ZERO, 3.0);
/// let end = Pose::new(Vector::X, -3.0);
/// let half = interpolate(&start, &end, 0.5);
/// // It turns from 172 to -172 degrees through 180, not through 0.
/// assert!((half.rotation.angle().abs() - std::f32::consts::PI).abs() < 1e-6);
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

/// Returns the squared distances between the rotations of up to four pairs, as points of the unit circle. The
/// differences are squared, because 2 − 2 cos θ would cancel for small angles.
#[inline]
pub(in crate::dim) fn distances_squared<const N: usize>(
    previous: &[Pose; N],
    current: &[Pose; N],
) -> Floats {
    let back = |i: usize| four_floats(&previous[i]) - four_floats(&current[i]);
    // The last pair fills the lanes of missing ones.
    let [re, im, ..] = Floats::transpose(std::array::from_fn(|i| back(i.min(N - 1))));
    re * re + im * im
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
    let (start, end) = (on_circle(previous.rotation), on_circle(current.rotation));
    let turned = start - ((start - end) * end_weight - start * excess);
    let (start, end) = (previous.translation, current.translation);
    let moved = start - (start - end) * alpha;
    Pose::from_parts(moved, Rotation::from_cos_sin_unchecked(turned.x, turned.y))
}

/// Interpolates between rotations that are too far apart for the series. It uses `f64`, because the weights of a wide
/// turn multiply the rounding of `f32`.
#[cold]
#[expect(clippy::cast_possible_truncation, reason = "a rotation is in f32")]
pub(in crate::dim) fn wide_slerp(start: Rotation, end: Rotation, alpha: f32) -> Rotation {
    let [a, b] = [start, end].map(|it| [f64::from(it.re), f64::from(it.im)]);
    // The angle from the start to the end, a part of it, and the start turned by that part.
    let (cos, sin) = (a[0] * b[0] + a[1] * b[1], a[0] * b[1] - a[1] * b[0]);
    let (sin, cos) = libm::sincos(libm::atan2(sin, cos) * f64::from(alpha));
    let (re, im) = (a[0] * cos - a[1] * sin, a[1] * cos + a[0] * sin);
    Rotation::from_cos_sin_unchecked(re as f32, im as f32)
}

#[inline]
fn on_circle(rotation: Rotation) -> Vector {
    Vector::new(rotation.re, rotation.im)
}

pub(crate) type Vectors = Lanes<2>;

pub(crate) type Spins = Lanes<1>;

#[derive(Clone, Copy)]
pub(crate) struct Rotations {
    pub(super) re: Floats,
    pub(super) im: Floats,
}

impl Vectors {
    #[inline]
    pub fn new(vectors: [Vector; LANES]) -> Self {
        Self([
            Floats::new(vectors.map(|vector| vector.x)),
            Floats::new(vectors.map(|vector| vector.y)),
        ])
    }

    #[inline]
    pub fn translations(poses: &[Pose; LANES]) -> Self {
        let [.., x, y] = Floats::transpose(poses.each_ref().map(four_floats));
        Self([x, y])
    }

    #[inline]
    pub fn to_array(self) -> [Vector; LANES] {
        let [x, y] = self.0.map(Floats::to_array);
        std::array::from_fn(|i| Vector::new(x[i], y[i]))
    }
}

impl Spins {
    #[inline]
    pub fn new(spins: [AngVector; LANES]) -> Self {
        Self([Floats::new(spins)])
    }
}

impl Rotations {
    #[inline]
    pub fn new(rotations: [Rotation; LANES]) -> Self {
        Self {
            re: Floats::new(rotations.map(|rotation| rotation.re)),
            im: Floats::new(rotations.map(|rotation| rotation.im)),
        }
    }

    #[inline]
    pub fn of(poses: &[Pose; LANES]) -> Self {
        let [re, im, ..] = Floats::transpose(poses.each_ref().map(four_floats));
        Self { re, im }
    }

    #[inline]
    pub fn to_array(self) -> [Rotation; LANES] {
        let (re, im) = (self.re.to_array(), self.im.to_array());
        std::array::from_fn(|i| Rotation::from_cos_sin_unchecked(re[i], im[i]))
    }

    #[inline]
    pub fn inverse(self) -> Self {
        let im = -self.im;
        Self { re: self.re, im }
    }

    /// Normalises rotations whose length is 1 except for rounding. One step of Newton's method is enough.
    #[inline]
    pub fn renormalized(self) -> Self {
        let length_squared = self.re * self.re + self.im * self.im;
        let scale = 1.5 - length_squared * 0.5;
        Self {
            re: self.re * scale,
            im: self.im * scale,
        }
    }

    #[inline]
    pub fn rotate(self, Lanes([x, y]): Vectors) -> Vectors {
        Lanes([self.re * x - self.im * y, self.im * x + self.re * y])
    }
}

impl Mul for Rotations {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.im * other.re + self.re * other.im,
        }
    }
}

#[inline]
pub(super) fn four_floats(pose: &Pose) -> Floats {
    let Vector { x, y } = pose.translation;
    Floats::new([pose.rotation.re, pose.rotation.im, x, y])
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "compared within a tolerance")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::{PI, TAU};

    #[expect(clippy::cast_possible_truncation, reason = "the f32 inputs under test")]
    fn to_f32(angle: f64) -> Rotation {
        Rotation::from_cos_sin_unchecked(angle.cos() as f32, angle.sin() as f32)
    }

    fn angle(rotation: Rotation) -> f64 {
        f64::from(rotation.im).atan2(rotation.re.into())
    }

    fn wrapped(angle: f64) -> f64 {
        angle - (angle / TAU).round() * TAU
    }

    fn interpolated(a: Rotation, b: Rotation, alpha: f32) -> Rotation {
        interpolate(&Pose::from_rotation(a), &Pose::from_rotation(b), alpha).rotation
    }

    fn bits(pose: &Pose) -> [u32; 4] {
        let [x, y] = pose.translation.to_array();
        [x, y, pose.rotation.re, pose.rotation.im].map(f32::to_bits)
    }

    fn turn() -> impl Strategy<Value = f64> {
        let sizes = prop_oneof![0.0..PI, (-7.0..0.5f64).prop_map(|e| 10f64.powf(e).min(PI))];
        (sizes, any::<bool>()).prop_map(|(size, is_back)| if is_back { -size } else { size })
    }

    proptest! {
        #![proptest_config(crate::testing::random(20_000))]

        #[test]
        fn an_interpolated_rotation_is_within_3e_7_rad_of_an_exact_slerp(
            start in -PI..PI, turn in turn(), alpha in 0.0..=1.0f32,
        ) {
            let (a, b) = (to_f32(start), to_f32(start + turn));
            let ours = interpolated(a, b, alpha);
            let arc = wrapped(angle(b) - angle(a));
            // At exactly half a turn both arcs are equally short, and rounding may choose either.
            prop_assume!(arc.abs() < PI - 1e-6);
            let error = wrapped(angle(ours) - angle(a) - arc * f64::from(alpha)).abs();
            prop_assert!(error < 3e-7, "{error} rad at {turn} rad");
            let length = f64::from(ours.re).hypot(ours.im.into());
            prop_assert!((length - 1.0).abs() < 4e-7, "{length}");
        }

        #[test]
        fn interpolation_is_exact_at_alpha_0_and_1_and_between_equal_poses(
            start in -PI..PI, turn in turn(), alpha in 0.0..=1.0f32,
            from in [-1e4..1e4f32, -1e4..1e4], to in [-1e4..1e4f32, -1e4..1e4],
        ) {
            let a = Pose::from_parts(Vector::from(from), to_f32(start));
            let b = Pose::from_parts(Vector::from(to), to_f32(start + turn));
            prop_assert_eq!(bits(&interpolate(&a, &b, 0.0)), bits(&a));
            prop_assert_eq!(bits(&interpolate(&a, &b, 1.0)), bits(&b));
            prop_assert_eq!(bits(&interpolate(&a, &a, alpha)), bits(&a));
        }
    }

    #[test]
    fn half_a_turn_is_interpolated_evenly_along_either_arc() {
        for i in 0..360u16 {
            let start = f64::from(i).to_radians();
            let (a, b) = (to_f32(start), to_f32(start + PI));
            for alpha in [0.25, 0.5, 0.75f32] {
                let ours = wrapped(angle(interpolated(a, b, alpha)) - start).abs();
                assert!((ours - PI * f64::from(alpha)).abs() < 1e-6, "{ours} at {i}");
            }
        }
    }

    #[test]
    fn interpolation_preserves_negative_zero_at_alpha_0_and_between_equal_poses() {
        let at = Pose::from_parts(
            Vector::new(-0.0, 1.0),
            Rotation::from_cos_sin_unchecked(1.0, -0.0),
        );
        let elsewhere = Pose::new(Vector::ONE, 1.0);
        for alpha in [0.0, 0.3, 0.999, 1.0] {
            assert_eq!(bits(&interpolate(&at, &at, alpha)), bits(&at), "{alpha}");
        }
        assert_eq!(bits(&interpolate(&at, &elsewhere, 0.0)), bits(&at));
    }

    #[test]
    fn a_batch_equals_single_calls_of_interpolate() {
        let pose = |i: u8| Pose::new(Vector::new(i.into(), 1.0), f32::from(i));
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
