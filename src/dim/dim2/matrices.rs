//! Poses as matrices for renderers.

use rapier::math::Pose;

/// Writes poses as 3 × 3 matrices in column-major order, from `poses[i]` to `out[i]`.
///
/// The layout is that of glam's `Mat3`, 36 bytes: two columns with the directions of the body's axes, each with a 0,
/// and one with the translation and a 1. Use it for instance buffers: three attributes of three floats each. `poses`
/// can be [`Simulation::moved`](crate::Simulation::moved), the same list of a view, or any other list. The matrices are
/// in its order. The array has no gaps, so bytemuck's `cast_slice` can view it as bytes.
///
/// ```
/// # use evenstep::{Rate, Simulation, write_matrices_3x3};
/// # use evenstep::rapier::prelude::*;
/// # let mut simulation = Simulation::new(Rate::default());
/// # simulation.physics.insert(RigidBodyBuilder::dynamic().translation(Vector::Y), ColliderBuilder::ball(0.5));
/// # simulation.advance(std::time::Duration::ZERO, |_, _| ());
/// let moved = simulation.moved();
/// let mut instances = vec![[[0.0; 3]; 3]; moved.len()];
/// write_matrices_3x3(moved, &mut instances);
/// assert_eq!(instances[0], [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]);
/// ```
///
/// # Panics
/// If the slices differ in length.
pub fn write_matrices_3x3<Key>(poses: &[(Key, Pose)], out: &mut [[[f32; 3]; 3]]) {
    write(poses, out, |[x, y, at]| {
        [[x[0], x[1], 0.0], [y[0], y[1], 0.0], [at[0], at[1], 1.0]]
    });
}

/// Writes poses as 4 × 4 matrices in column-major order, from `poses[i]` to `out[i]`.
///
/// The layout is that of glam's `Mat4`, WGSL's `mat4x4f` and GLSL's `mat4`, 64 bytes, for renderers that draw in 3D.
/// The bodies are rotated about the axis z, at z = 0. The draw order is up to the renderer: write `out[i][3][2]`
/// afterwards, or sort. Otherwise, it is like [`write_matrices_3x3`].
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

/// Writes each matrix. `matrix` builds it from the directions of the axes and the translation.
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

#[cfg(test)]
mod tests {
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
