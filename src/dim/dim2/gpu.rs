//! Poses for a renderer that blends them on the GPU.

use rapier::math::Pose;

/// A pose as floats for the GPU: the cosine and the sine of its angle, then the translation (x, y) in metres. It has the
/// layout of the struct in [`BLEND_WGSL`], 16 bytes.
pub type PoseFloats = [f32; 4];

/// The source of a WGSL function `evenstep_blend(previous, current, alpha)`, which interpolates two poses of the struct
/// `EvenstepPose`, and of that struct. Put it before the source of a shader that blends
/// [`RenderData`](crate::RenderData) on the GPU.
///
/// It is as exact as [`interpolate`](crate::interpolate), for rotations up to 45 degrees apart: wider turns are among the
/// [`exceptions`](crate::RenderData::exceptions).
pub const BLEND_WGSL: &str = include_str!("blend.wgsl");

/// Converts a pose to floats for the GPU.
#[must_use]
pub fn pose_floats(pose: &Pose) -> PoseFloats {
    let (rotation, translation) = (pose.rotation, pose.translation);
    [rotation.re, rotation.im, translation.x, translation.y]
}

#[cfg(test)]
mod tests {
    use super::super::blend::{LEFT_OUT, NEAR_TERMS, interpolate};
    use super::*;
    use crate::dim::is_near;
    use crate::dim::testing::{pose, spin, vector};

    type Part = [f32; 2];

    fn parts([re, im, x, y]: PoseFloats) -> ([f32; 2], [f32; 2]) {
        ([re, im], [x, y])
    }

    fn ratio(i: f32, alpha: f32) -> f32 {
        0.5 * (i * i - alpha * alpha) / (i * (2.0 * i + 1.0))
    }

    /// The function of the shader, line by line.
    fn blended(previous: PoseFloats, current: PoseFloats, alpha: f32) -> (Part, Part) {
        if alpha >= 1.0 {
            return parts(current);
        }
        let (previous, current) = (parts(previous), parts(current));
        let back: Part = std::array::from_fn(|i| previous.0[i] - current.0[i]);
        let apart: f32 = back.iter().map(|it| it * it).sum();
        let left = 1.0 - alpha;
        let (mut term, mut of_end, mut of_both) = ([left, alpha], alpha, 0.0);
        for n in 1..NEAR_TERMS {
            let i = f32::from(u8::try_from(n).unwrap());
            term[0] *= apart * ratio(i, left);
            term[1] *= apart * ratio(i, alpha);
            if n == NEAR_TERMS - 1 {
                term[0] *= 1.0 + LEFT_OUT * ratio(i + 1.0, left);
                term[1] *= 1.0 + LEFT_OUT * ratio(i + 1.0, alpha);
            }
            of_end += term[1];
            of_both += term[0] + term[1];
        }
        let turned = |i: usize| previous.0[i] - (back[i] * of_end - previous.0[i] * of_both);
        let moved = |i: usize| previous.1[i] - (previous.1[i] - current.1[i]) * alpha;
        (std::array::from_fn(turned), std::array::from_fn(moved))
    }

    #[test]
    fn the_shader_blends_as_exactly_as_the_cpu() {
        let mut largest = 0.0_f32;
        for turns in 0..=50_u8 {
            let turn = f32::from(turns) / 50.0 * std::f32::consts::FRAC_PI_4;
            let start = pose(vector(1.0, -2.0, 3.0), spin(0.0, 0.0, 2.5));
            let end = pose(vector(1.5, -1.0, 2.0), spin(0.0, 0.0, turn));
            let end = Pose::from_parts(end.translation, end.rotation * start.rotation);
            assert!(is_near(&start, &end));
            for alphas in 0..=20_u8 {
                let alpha = f32::from(alphas) / 20.0;
                let (turned, moved) = blended(pose_floats(&start), pose_floats(&end), alpha);
                let exact = parts(pose_floats(&interpolate(&start, &end, alpha)));
                for (one, other) in turned.iter().zip(exact.0) {
                    largest = largest.max((one - other).abs());
                }
                assert_eq!(moved, exact.1);
            }
        }
        // A component is off by half of an angle in space, and by all of it in a plane.
        assert!(largest < 1.5e-7, "{largest}");
    }

    #[test]
    fn the_shader_has_the_constants_of_this_crate() {
        let terms = format!("EVENSTEP_TERMS = {NEAR_TERMS};");
        assert!(BLEND_WGSL.contains(&terms));
        let line = BLEND_WGSL
            .lines()
            .find_map(|line| line.strip_prefix("const EVENSTEP_LEFT_OUT = "));
        let factors = line.unwrap().trim_end_matches(';').split(" * ");
        let left_out: f32 = factors.map(|it| it.parse::<f32>().unwrap()).product();
        assert!((left_out - LEFT_OUT).abs() < 1e-9);
    }
}
