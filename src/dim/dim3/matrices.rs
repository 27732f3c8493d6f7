//! Poses as matrices for renderers.

use rapier::math::Pose;

use crate::dim::lanes::{Floats, LANES, Lanes};

use super::lanes::{Rotations, Vectors};

/// Writes poses as matrices of three rows by four columns in row-major order, from `poses[i]` to `out[i]`.
///
/// Use it for instance buffers: three attributes of four floats each, 48 bytes. Each row has the coefficients of x, y
/// and z and then the translation, so a point p of the body is at (dot(row 0, (p, 1)), dot(row 1, (p, 1)), dot(row 2,
/// (p, 1))) in world space. `poses` can be [`Simulation::moved`](crate::Simulation::moved), the same list of a view, or
/// any other list. The matrices are in its order. The array has no gaps, so bytemuck's `cast_slice` can view it as
/// bytes.
///
/// Writing takes about as long as interpolating the poses: `cargo bench --bench frame -- matrices`.
///
/// ```
/// # use evenstep::{Rate, Simulation, write_matrices_3x4};
/// # use evenstep::rapier::prelude::*;
/// # let mut simulation = Simulation::new(Rate::default());
/// # simulation.physics.insert(RigidBodyBuilder::dynamic().translation(Vector::Y), ColliderBuilder::ball(0.5));
/// # simulation.advance(std::time::Duration::ZERO, |_, _| ());
/// let moved = simulation.moved();
/// let mut instances = vec![[[0.0; 4]; 3]; moved.len()];
/// write_matrices_3x4(moved, &mut instances);
/// assert_eq!(instances[0], [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]);
/// ```
///
/// # Panics
/// If the slices differ in length.
pub fn write_matrices_3x4<Key>(poses: &[(Key, Pose)], out: &mut [[[f32; 4]; 3]]) {
    write(poses, out, |poses, out| {
        let [x, y, z] = axes(poses);
        let Lanes(at) = Vectors::new(poses.map(|pose| pose.translation));
        put(out, 0, [x[0], y[0], z[0], at[0]]);
        put(out, 1, [x[1], y[1], z[1], at[1]]);
        put(out, 2, [x[2], y[2], z[2], at[2]]);
    });
}

/// Writes poses as 4 × 4 matrices in column-major order, from `poses[i]` to `out[i]`.
///
/// The layout is that of glam's `Mat4`, WGSL's `mat4x4f` and GLSL's `mat4`, 64 bytes: three columns with the directions
/// of the body's axes, each with a 0, and one with the translation and a 1. Otherwise, it is like
/// [`write_matrices_3x4`], whose matrices are a quarter smaller.
///
/// ```
/// # use evenstep::{Rate, Simulation, write_matrices_4x4};
/// # use evenstep::rapier::prelude::*;
/// # let mut simulation = Simulation::new(Rate::default());
/// # simulation.physics.insert(RigidBodyBuilder::dynamic().translation(Vector::Y), ColliderBuilder::ball(0.5));
/// # simulation.advance(std::time::Duration::ZERO, |_, _| ());
/// # let moved = simulation.moved();
/// let mut instances = vec![[[0.0; 4]; 4]; moved.len()];
/// write_matrices_4x4(moved, &mut instances);
/// assert_eq!(instances[0][0], [1.0, 0.0, 0.0, 0.0]); // the first column, not the first row
/// assert_eq!(instances[0][3], [0.0, 1.0, 0.0, 1.0]);
/// ```
///
/// # Panics
/// If the slices differ in length.
pub fn write_matrices_4x4<Key>(poses: &[(Key, Pose)], out: &mut [[[f32; 4]; 4]]) {
    write(poses, out, |poses, out| {
        for (i, [x, y, z]) in axes(poses).into_iter().enumerate() {
            put(out, i, [x, y, z, Floats::ZERO]);
        }
        for (out, pose) in out.iter_mut().zip(poses) {
            out[3] = pose.translation.extend(1.0).to_array();
        }
    });
}

/// Writes all matrices. `four` writes those of four poses.
fn write<Key, Matrix: Copy>(
    poses: &[(Key, Pose)],
    out: &mut [Matrix],
    four: impl Fn([&Pose; LANES], &mut [Matrix; LANES]),
) {
    let lengths = [poses.len(), out.len()];
    assert!(
        lengths[0] == lengths[1],
        "slices of lengths {lengths:?}: pass as many matrices as poses"
    );
    let (poses, poses_rest) = poses.as_chunks::<LANES>();
    let (out, out_rest) = out.as_chunks_mut::<LANES>();
    for (poses, out) in poses.iter().zip(out) {
        four(poses.each_ref().map(|(_, pose)| pose), out);
    }
    for ((_, pose), out) in poses_rest.iter().zip(out_rest) {
        let mut same = [*out; LANES];
        four([pose; LANES], &mut same);
        *out = same[0];
    }
}

/// Writes one line of four matrices. Each component holds a value for all four.
#[inline]
fn put<const LINES: usize>(
    out: &mut [[[f32; 4]; LINES]; LANES],
    line: usize,
    components: [Floats; 4],
) {
    for (out, components) in out.iter_mut().zip(Floats::transpose(components)) {
        out[line] = components.to_array();
    }
}

/// Returns the directions of the axes of four bodies, by component.
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

#[cfg(test)]
mod tests {
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
