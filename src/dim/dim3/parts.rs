//! The parts of a pose and of a motion as numbers.

use crate::dim::blend::{Floats, LANES, Lanes, lanes_set_in};
use rapier::glamx::{DQuat, DVec3};
use rapier::math::{AngVector, Pose, Real, Rotation, Vector};

use super::blend::{Rotations, Spins, Vectors};

/// Returns whether two poses are equal bit for bit. −0 differs from 0.
#[inline]
pub(crate) fn is_same(one: &Pose, other: &Pose) -> bool {
    // Groups of 16, 8 and 4 bytes fit in registers, so each is compared at once.
    let bits = |pose: &Pose| {
        let (rotation, [x, y, z]) = (pose.rotation.to_array(), pose.translation.to_array());
        (
            rotation.map(f32::to_bits),
            [x, y].map(f32::to_bits),
            z.to_bits(),
        )
    };
    bits(one) == bits(other)
}

/// Returns a pose with its rotation normalised, or `None` if that is impossible or the pose is not finite. A rotation
/// of unit length, except for rounding, keeps its bits.
pub(crate) fn normalized(pose: Pose) -> Option<Pose> {
    // In `f64`, the square of an `f32` cannot overflow.
    let rotation = pose.rotation.as_dquat();
    let length_squared = rotation.length_squared();
    if !pose.is_finite() || length_squared == 0.0 {
        return None;
    }
    // A pose that the game has read from a body does not change when it is set again.
    if (length_squared - 1.0).abs() < 1e-5 {
        return Some(pose);
    }
    let rotation = rotation / length_squared.sqrt();
    Some(Pose::from_parts(pose.translation, rotation.as_quat()))
}

/// Returns the angle of a rotation, in radians, from the sine of half the angle, which is exact for small angles.
pub(crate) fn angle(rotation: Rotation) -> Real {
    2.0 * libm::asinf(rotation.xyz().length().min(1.0))
}

#[inline]
pub(crate) fn capped_spin(spin: AngVector, max: Real) -> AngVector {
    spin.clamp_length_max(max)
}

/// Returns the point at `fraction` between two points, in `f64`, because an `f32` has few digits left far from the
/// origin.
pub(crate) fn lerp_in_f64(from: Vector, to: Vector, fraction: f64) -> Vector {
    from.as_dvec3().lerp(to.as_dvec3(), fraction).as_vec3()
}

#[cfg(feature = "checksum")]
pub(crate) fn rotation_to_array(rotation: Rotation) -> [Real; 4] {
    rotation.to_array()
}

#[cfg(feature = "checksum")]
pub(crate) fn spin_to_array(spin: AngVector) -> [Real; 3] {
    spin.to_array()
}

/// The square of half the angle up to which a few terms of the series are enough: 45 degrees, the most that Rapier lets
/// a body turn in a step.
const NEAR_TURN: f32 = 0.155;

/// Returns the rotations about these axes, whose lengths are the angles in radians: up to 45 degrees from the power
/// series of sine and cosine, whose first omitted term is below 2e-8, and wider ones one by one.
pub(crate) fn turns(axes: Spins) -> Rotations {
    // The square of half the angle, which is the variable of the series.
    let squared = axes.length_squared() * 0.25;
    let series = |[a, b, c, d]: [f32; 4]| a + squared * (b + squared * (c + squared * d));
    // The sine of half the angle, divided by the angle.
    let half_sinc = series([1.0 / 2.0, -1.0 / 12.0, 1.0 / 240.0, -1.0 / 10_080.0]);
    let turns = Rotations {
        vector: axes * half_sinc,
        w: series([1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0]),
    };
    match squared.simd_gt(NEAR_TURN).to_bitmask() {
        0 => turns,
        wide_lanes => wide_turns(axes, turns, wide_lanes),
    }
}

/// Replaces the turns of the lanes whose bits are set in `wide_lanes`: their angles are too wide for the series.
#[cold]
fn wide_turns(axes: Spins, turns: Rotations, wide_lanes: u32) -> Rotations {
    let (axes, mut turns) = (axes.to_array(), turns.to_array());
    for i in lanes_set_in(wide_lanes) {
        turns[i] = wide_turn(axes[i]);
    }
    Rotations::new(turns)
}

/// Returns a rotation by a wide angle, the length of `axis`. It is computed in `f64`, because the series in `f32` loses
/// digits at wide angles.
fn wide_turn(axis: AngVector) -> Rotation {
    use std::f64::consts::{PI, TAU};
    let axis = axis.as_dvec3();
    let angle = axis.length();
    // A quaternion has the sine and cosine of half the angle. The remainder is exact, whatever the number of turns.
    let half = 0.5 * angle % TAU;
    let (sin, cos) = sin_cos(if half > PI { half - TAU } else { half });
    // The division by `angle` makes the axis one of unit length.
    let DVec3 { x, y, z } = axis * (sin / angle);
    DQuat::from_xyzw(x, y, z, cos).as_quat()
}

/// Returns sine and cosine by power series, for an angle in [−π, π], with an error below 1e-9.
fn sin_cos(angle: f64) -> (f64, f64) {
    let squared = angle * angle;
    // Until the end, `sin` is the sine divided by the angle.
    let (mut sin, mut cos) = (1.0, 1.0);
    for n in (1..=12).rev().map(|n| f64::from(2 * n)) {
        cos = 1.0 - squared * (1.0 / ((n - 1.0) * n)) * cos;
        sin = 1.0 - squared * (1.0 / (n * (n + 1.0))) * sin;
    }
    (angle * sin, cos)
}

/// Writes poses as matrices of three rows by four columns in row-major order, from `poses[i]` to `out[i]`.
///
/// Use it for instance buffers: three attributes of four floats each, 48 bytes. Each row has the coefficients of x, y
/// and z and then the translation, so its dot product with (p, 1) is a coordinate of the point p in world space.
///
/// # Panics
/// If the slices differ in length.
pub fn write_matrices_3x4<Key>(poses: &[(Key, Pose)], out: &mut [[[f32; 4]; 3]]) {
    write(poses, out, |poses, out| {
        let [x, y, z] = axes(poses);
        let Lanes(at) = Vectors::new(poses.map(|pose| pose.translation));
        write_line(out, 0, [x[0], y[0], z[0], at[0]]);
        write_line(out, 1, [x[1], y[1], z[1], at[1]]);
        write_line(out, 2, [x[2], y[2], z[2], at[2]]);
    });
}

/// Writes poses as 4 × 4 matrices in column-major order, from `poses[i]` to `out[i]`.
///
/// The layout is that of glam's `Mat4`, WGSL's `mat4x4f` and GLSL's `mat4`, 64 bytes.
///
/// # Panics
/// If the slices differ in length.
pub fn write_matrices_4x4<Key>(poses: &[(Key, Pose)], out: &mut [[[f32; 4]; 4]]) {
    write(poses, out, |poses, out| {
        for (i, [x, y, z]) in axes(poses).into_iter().enumerate() {
            write_line(out, i, [x, y, z, Floats::ZERO]);
        }
        for (out, pose) in out.iter_mut().zip(poses) {
            out[3] = pose.translation.extend(1.0).to_array();
        }
    });
}

/// Writes the matrices of all poses with `write_four`. Each of the last three or fewer is written as the first of four
/// equal ones.
fn write<Key, Matrix: Copy>(
    poses: &[(Key, Pose)],
    out: &mut [Matrix],
    write_four: impl Fn([&Pose; LANES], &mut [Matrix; LANES]),
) {
    let lengths = [poses.len(), out.len()];
    assert!(
        lengths[0] == lengths[1],
        "slices of lengths {lengths:?}: pass as many matrices as poses"
    );
    let (poses, last_poses) = poses.as_chunks::<LANES>();
    let (out, last_out) = out.as_chunks_mut::<LANES>();
    for (poses, out) in poses.iter().zip(out) {
        write_four(poses.each_ref().map(|(_, pose)| pose), out);
    }
    for ((_, pose), out) in last_poses.iter().zip(last_out) {
        let mut same = [*out; LANES];
        write_four([pose; LANES], &mut same);
        *out = same[0];
    }
}

/// Writes one line, a row or a column, of four matrices. `components` are the four numbers of that line, each for all
/// four matrices.
#[inline]
fn write_line<const LINES: usize>(
    out: &mut [[[f32; 4]; LINES]; LANES],
    line: usize,
    components: [Floats; 4],
) {
    for (out, components) in out.iter_mut().zip(Floats::transpose(components)) {
        out[line] = components.to_array();
    }
}

/// Returns the directions of the axes x, y and z of four bodies: the columns of their rotation matrices.
#[inline]
fn axes(poses: [&Pose; LANES]) -> [[Floats; 3]; 3] {
    let Rotations { vector, w } = Rotations::new(poses.map(|pose| pose.rotation));
    let Lanes([x, y, z]) = vector;
    let [x2, y2, z2] = [x + x, y + y, z + z];
    let (xx, yy, zz) = (x * x2, y * y2, z * z2);
    let (xy, xz, yz) = (x * y2, x * z2, y * z2);
    let (wx, wy, wz) = (w * x2, w * y2, w * z2);
    [
        [1.0 - (yy + zz), xy + wz, xz - wy],
        [xy - wz, 1.0 - (xx + zz), yz + wx],
        [xz + wy, yz - wx, 1.0 - (xx + yy)],
    ]
}

/// A pose as floats for the GPU: the rotation as a quaternion (x, y, z, w), the translation (x, y, z) in metres, and a
/// zero. It has the layout of the struct in [`BLEND_WGSL`], 32 bytes.
pub type PoseFloats = [f32; 8];

/// WGSL source of a struct `EvenstepPose` and a function `evenstep_blend(previous, current, alpha)`, to be put before a
/// shader that blends [`RenderData`](crate::render::RenderData) on the GPU. It is as exact as
/// [`interpolate`](crate::render::interpolate) for rotations up to 45 degrees apart. Wider turns are among the
/// [`overrides`](crate::render::RenderData::overrides).
pub const BLEND_WGSL: &str = include_str!("blend.wgsl");

/// Converts a pose to floats for the GPU.
#[must_use]
pub fn pose_floats(pose: &Pose) -> PoseFloats {
    let (rotation, translation) = (pose.rotation, pose.translation);
    [
        rotation.x,
        rotation.y,
        rotation.z,
        rotation.w,
        translation.x,
        translation.y,
        translation.z,
        // The struct in `BLEND_WGSL` has a translation of four components.
        0.0,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normalising_keeps_unit_rotations_and_refuses_zero_and_nan() {
        let unit = Rotation::from_rotation_y(1.0);
        assert_eq!(
            normalized(Pose::from_rotation(unit)),
            Some(Pose::from_rotation(unit))
        );
        for scale in [1e-30, 0.5, 1.001, 1e30] {
            let pose = normalized(Pose::from_rotation(unit * scale)).unwrap();
            assert!(pose.rotation.abs_diff_eq(unit, 1e-6), "{scale}");
            assert!((pose.rotation.length() - 1.0).abs() < 1e-6, "{scale}");
        }
        for bad in [
            Rotation::from_array([0.0; 4]),
            Rotation::from_array([f32::NAN; 4]),
        ] {
            assert_eq!(normalized(Pose::from_rotation(bad)), None);
        }
    }
}

#[cfg(test)]
mod tests_of_turns {
    use super::*;
    use crate::dim::blend::LANES;
    use nalgebra::{UnitQuaternion, Vector3};

    fn turn_by(by: AngVector) -> Rotation {
        turns(Spins::new([by; LANES])).to_array()[0]
    }

    #[test]
    fn rotations_by_angles_of_any_size_are_exact_to_1e_7() {
        for i in 0..4_000u16 {
            let angle = 0.01 * f32::from(i);
            let by = AngVector::new(0.6, 0.0, -0.8) * angle;
            let exact = UnitQuaternion::new(Vector3::new(by.x, by.y, by.z).cast::<f64>());
            let [x, y, z, w] = turn_by(by).to_array().map(f64::from);
            for (ours, theirs) in [(x, exact.i), (y, exact.j), (z, exact.k), (w, exact.w)] {
                assert!(
                    (ours - theirs).abs() < 1e-7,
                    "{ours}, not {theirs}, at {angle}"
                );
            }
        }
        assert!(turn_by(AngVector::Y * 1e30).is_normalized());
        assert_eq!(turn_by(AngVector::ZERO), Rotation::IDENTITY);
    }
}

#[cfg(test)]
mod tests_of_matrices {
    use super::*;
    use nalgebra::Isometry3;
    use rapier::glamx::{Mat4, Vec3};

    fn poses(count: u8) -> Vec<(u8, Pose)> {
        let pose = |i: f32| Pose::new(Vec3::new(i, -2.0, 0.5 * i), Vec3::new(i, 1.0 - i, 0.3));
        (0..count).map(|i| (i, pose(f32::from(i)))).collect()
    }

    #[test]
    fn written_matrices_match_those_of_glam_and_nalgebra() {
        // The counts are zero, fewer than four, four, and more.
        for count in [0, 3, 4, 11] {
            let poses = poses(count);
            let mut rows = vec![[[f32::NAN; 4]; 3]; poses.len()];
            let mut columns = vec![[[f32::NAN; 4]; 4]; poses.len()];
            write_matrices_3x4(&poses, &mut rows);
            write_matrices_4x4(&poses, &mut columns);
            for (((_, pose), rows), columns) in poses.iter().zip(rows).zip(columns) {
                let matrix = pose.to_mat4();
                assert!(Mat4::from_cols_array_2d(&columns).abs_diff_eq(matrix, 1e-6));
                let [x, y, z] = rows;
                let rows = [x, y, z, [0.0, 0.0, 0.0, 1.0]];
                assert_eq!(
                    Mat4::from_cols_array_2d(&rows)
                        .transpose()
                        .to_cols_array_2d(),
                    columns
                );
                let nalgebras = Isometry3::from(*pose).to_homogeneous();
                for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column)))
                {
                    assert!((nalgebras[(row, column)] - rows[row][column]).abs() < 1e-6);
                }
            }
        }
    }

    #[test]
    fn a_matrix_in_a_batch_equals_the_same_matrix_written_alone() {
        let poses = poses(7);
        let mut all = vec![[[0.0; 4]; 3]; 7];
        write_matrices_3x4(&poses, &mut all);
        for (i, all) in all.iter().enumerate() {
            let mut one = [[[0.0; 4]; 3]];
            write_matrices_3x4(&poses[i..=i], &mut one);
            assert_eq!(one[0], *all);
        }
    }

    #[test]
    #[should_panic(expected = "as many matrices as poses")]
    fn an_output_slice_shorter_than_the_poses_panics() {
        write_matrices_4x4(&poses(1), &mut []);
    }
}
