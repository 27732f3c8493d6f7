//! The parts of a pose and of a motion as numbers.

use crate::dim::blend::{Floats, Lanes, lanes_set_in};
use rapier::glamx::DVec2;
use rapier::math::{AngVector, Pose, Real, Rotation, Vector};

use super::blend::{Rotations, Spins};

/// Returns whether two poses are equal bit for bit. −0 differs from 0.
#[inline]
pub(crate) fn is_same(one: &Pose, other: &Pose) -> bool {
    let bits = |pose: &Pose| {
        let (translation, rotation) = (pose.translation, pose.rotation);
        [translation.x, translation.y, rotation.re, rotation.im].map(f32::to_bits)
    };
    bits(one) == bits(other)
}

/// Returns a pose with its rotation normalised, or `None` if that is impossible or the pose is not finite. A rotation
/// of unit length, except for rounding, keeps its bits.
pub(crate) fn normalized(pose: Pose) -> Option<Pose> {
    // In `f64`, the square of an `f32` cannot overflow.
    let rotation = DVec2::new(pose.rotation.re.into(), pose.rotation.im.into());
    let length_squared = rotation.length_squared();
    if !pose.is_finite() || length_squared == 0.0 {
        return None;
    }
    // A pose that the game has read from a body does not change when it is set again.
    if (length_squared - 1.0).abs() < 1e-5 {
        return Some(pose);
    }
    let Vector { x, y } = (rotation / length_squared.sqrt()).as_vec2();
    let rotation = Rotation::from_cos_sin_unchecked(x, y);
    Some(Pose::from_parts(pose.translation, rotation))
}

pub(crate) fn angle(rotation: Rotation) -> Real {
    libm::atan2f(rotation.im, rotation.re).abs()
}

#[inline]
pub(crate) fn capped_spin(spin: AngVector, max: Real) -> AngVector {
    spin.clamp(-max, max)
}

pub(crate) fn lerp_in_f64(from: Vector, to: Vector, fraction: f64) -> Vector {
    from.as_dvec2().lerp(to.as_dvec2(), fraction).as_vec2()
}

#[cfg(feature = "checksum")]
pub(crate) fn rotation_to_array(rotation: Rotation) -> [Real; 2] {
    [rotation.re, rotation.im]
}

#[cfg(feature = "checksum")]
pub(crate) fn spin_to_array(spin: AngVector) -> [Real; 1] {
    [spin]
}

/// The square of the angle up to which a few terms of the series are enough: 45 degrees, the most that Rapier lets a
/// body turn in a step.
const NEAR_TURN: f32 = 0.617;

/// Returns the rotations by these angles, in radians: up to 45 degrees from the power series of sine and cosine, whose
/// first omitted term is below 3e-8, and wider ones one by one.
pub(crate) fn turns(angles: Spins) -> Rotations {
    let Lanes([angle]) = angles;
    let squared = angle * angle;
    // Horner's method, in the square of the angle.
    let series = |terms: [f32; 5]| {
        let terms = terms.into_iter().rev();
        terms.fold(Floats::ZERO, |sum, term| sum * squared + term)
    };
    // The sine, divided by the angle.
    let sinc = series([
        1.0,
        -1.0 / 6.0,
        1.0 / 120.0,
        -1.0 / 5_040.0,
        1.0 / 362_880.0,
    ]);
    let turns = Rotations {
        re: series([1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40_320.0]),
        im: angle * sinc,
    };
    match squared.simd_gt(NEAR_TURN).to_bitmask() {
        0 => turns,
        wide_lanes => wide_turns(angle, turns, wide_lanes),
    }
}

/// Replaces the turns of the lanes whose bits are set in `wide_lanes`: their angles are too wide for the series.
#[cold]
fn wide_turns(angles: Floats, turns: Rotations, wide_lanes: u32) -> Rotations {
    let (angles, mut turns) = (angles.to_array(), turns.to_array());
    for i in lanes_set_in(wide_lanes) {
        turns[i] = wide_turn(angles[i]);
    }
    Rotations::new(turns)
}

#[expect(clippy::cast_possible_truncation, reason = "a rotation is in f32")]
fn wide_turn(angle: AngVector) -> Rotation {
    let (sin, cos) = libm::sincos(f64::from(angle));
    Rotation::from_cos_sin_unchecked(cos as f32, sin as f32)
}

/// Writes poses as 3 × 3 matrices in column-major order, from `poses[i]` to `out[i]`.
///
/// Use it for instance buffers: three attributes of three floats each, 36 bytes, in the layout of glam's `Mat3`: two
/// columns with the directions of the body's axes, each with a 0, and one with the translation and a 1. The array has
/// no gaps, so bytemuck's `cast_slice` can view it as bytes.
///
/// # Panics
/// If the slices differ in length.
pub fn write_matrices_3x3<Key>(poses: &[(Key, Pose)], out: &mut [[[f32; 3]; 3]]) {
    write(poses, out, |[x, y, at]| {
        [[x[0], x[1], 0.0], [y[0], y[1], 0.0], [at[0], at[1], 1.0]]
    });
}

/// Writes poses as 4 × 4 matrices in column-major order, from `poses[i]` to `out[i]`, like [`write_matrices_3x3`], for
/// renderers that draw in 3D.
///
/// The layout is that of glam's `Mat4`, WGSL's `mat4x4f` and GLSL's `mat4`, 64 bytes. The bodies are rotated about the
/// axis z, at z = 0. The draw order is up to the renderer: write `out[i][3][2]` afterwards, or sort.
///
/// # Panics
/// If the slices differ in length.
pub fn write_matrices_4x4<Key>(poses: &[(Key, Pose)], out: &mut [[[f32; 4]; 4]]) {
    write(poses, out, |[x, y, at]| {
        [
            [x[0], x[1], 0.0, 0.0],
            [y[0], y[1], 0.0, 0.0],
            [0.0, 0.0, 1.0, 0.0],
            [at[0], at[1], 0.0, 1.0],
        ]
    });
}

/// Writes the matrix of each pose. `matrix` makes it from the directions of the body's axes x and y, and the
/// translation.
fn write<Key, Matrix>(
    poses: &[(Key, Pose)],
    out: &mut [Matrix],
    matrix: impl Fn([[f32; 2]; 3]) -> Matrix,
) {
    let lengths = [poses.len(), out.len()];
    assert!(
        lengths[0] == lengths[1],
        "slices of lengths {lengths:?}: pass as many matrices as poses"
    );
    for (out, (_, pose)) in out.iter_mut().zip(poses) {
        let (cos, sin) = (pose.rotation.re, pose.rotation.im);
        *out = matrix([[cos, sin], [-sin, cos], pose.translation.to_array()]);
    }
}

/// A pose as floats for the GPU: the cosine and the sine of its angle, then the translation (x, y) in metres. It has
/// the layout of the struct in [`BLEND_WGSL`], 16 bytes.
pub type PoseFloats = [f32; 4];

/// WGSL source of a struct `EvenstepPose` and a function `evenstep_blend(previous, current, alpha)`, to be put before a
/// shader that blends [`RenderData`](crate::render::RenderData) on the GPU. It is as exact as
/// [`interpolate`](crate::render::interpolate) for rotations up to 45 degrees apart. Wider turns are among the
/// [`overrides`](crate::render::RenderData::overrides).
pub const BLEND_WGSL: &str = include_str!("blend.wgsl");

/// Converts a pose to floats for the GPU.
#[must_use]
pub fn pose_floats(pose: &Pose) -> PoseFloats {
    let (rotation, translation) = (pose.rotation, pose.translation);
    [rotation.re, rotation.im, translation.x, translation.y]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalising_keeps_unit_rotations_and_refuses_zero_and_nan() {
        let scaled = |scale: f32| {
            let unit = Rotation::from_angle(1.0);
            Rotation::from_cos_sin_unchecked(unit.re * scale, unit.im * scale)
        };
        let unit = Pose::from_rotation(scaled(1.0));
        assert_eq!(normalized(unit), Some(unit));
        for scale in [1e-30, 0.5, 1.001, 1e30] {
            let pose = normalized(Pose::from_rotation(scaled(scale))).unwrap();
            assert!(
                pose.rotation.angle_between(&unit.rotation).abs() < 1e-6,
                "{scale}"
            );
            assert!((pose.rotation.length() - 1.0).abs() < 1e-6, "{scale}");
        }
        for bad in [0.0, f32::NAN] {
            assert_eq!(normalized(Pose::from_rotation(scaled(bad))), None);
        }
    }

    #[test]
    fn the_angle_of_a_rotation_is_unsigned_and_at_most_half_a_turn() {
        for (turn, expected) in [
            (0.5, 0.5),
            (-0.5, 0.5),
            (3.0, 3.0),
            (4.0, std::f32::consts::TAU - 4.0),
        ] {
            assert!(
                (angle(Rotation::from_angle(turn)) - expected).abs() < 1e-6,
                "{turn}"
            );
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "compared within a tolerance")]
mod tests_of_turns {
    use super::*;
    use crate::dim::blend::LANES;

    fn turn_by(angle: AngVector) -> Rotation {
        turns(Spins::new([angle; LANES])).to_array()[0]
    }

    #[test]
    fn rotations_by_angles_of_any_size_are_exact_to_1e_7() {
        for i in -4_000..4_000i16 {
            let angle = 0.01 * f32::from(i);
            let turn = turn_by(angle);
            let (sin, cos) = f64::from(angle).sin_cos();
            assert!(
                (f64::from(turn.im) - sin).abs() < 1e-7,
                "{turn:?} at {angle}"
            );
            assert!(
                (f64::from(turn.re) - cos).abs() < 1e-7,
                "{turn:?} at {angle}"
            );
        }
        assert!(turn_by(1e30).is_normalized());
        assert_eq!(turn_by(0.0), Rotation::IDENTITY);
    }

    #[test]
    fn each_of_four_lanes_turns_by_its_own_angle() {
        let angles = [0.1, -3.0, 0.7, 40.0];
        let all = turns(Spins::new(angles)).to_array();
        assert_eq!(all, angles.map(turn_by));
    }
}

#[cfg(test)]
mod tests_of_matrices {
    use super::*;
    use rapier::glamx::{Mat3, Mat4, Quat};
    use rapier::math::Vector;

    #[test]
    fn written_matrices_match_those_of_glam() {
        for count in [0, 1, 5u8] {
            let pose = |i: f32| Pose::new(Vector::new(i, -2.0), 1.0 - i);
            let poses: Vec<_> = (0..count).map(|i| (i, pose(i.into()))).collect();
            let mut threes = vec![[[f32::NAN; 3]; 3]; poses.len()];
            let mut fours = vec![[[f32::NAN; 4]; 4]; poses.len()];
            write_matrices_3x3(&poses, &mut threes);
            write_matrices_4x4(&poses, &mut fours);
            for (((_, pose), three), four) in poses.iter().zip(threes).zip(fours) {
                let angle = pose.rotation.angle();
                let flat = Mat3::from_scale_angle_translation(Vector::ONE, angle, pose.translation);
                assert!(Mat3::from_cols_array_2d(&three).abs_diff_eq(flat, 1e-6));
                let in_space = Mat4::from_rotation_translation(
                    Quat::from_rotation_z(angle),
                    pose.translation.extend(0.0),
                );
                assert!(Mat4::from_cols_array_2d(&four).abs_diff_eq(in_space, 1e-6));
            }
        }
    }

    #[test]
    #[should_panic(expected = "as many matrices as poses")]
    fn an_output_slice_shorter_than_the_poses_panics() {
        write_matrices_3x3(&[((), Pose::IDENTITY)], &mut []);
    }
}
