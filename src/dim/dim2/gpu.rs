//! Poses for a renderer that blends them on the GPU.

use rapier::math::Pose;

/// A pose as floats for the GPU: the cosine and the sine of its angle, then the translation (x, y) in metres. It has the
/// layout of the struct in [`BLEND_WGSL`], 16 bytes.
pub type PoseFloats = [f32; 4];

/// The WGSL source of a struct `EvenstepPose`, and of a function `evenstep_blend(previous, current, alpha)` that
/// interpolates two of them. Put it before the source of a shader that blends [`RenderData`](crate::RenderData) on the
/// GPU.
///
/// It is as exact as [`interpolate`](crate::interpolate) for rotations up to 45 degrees apart. Wider turns are among
/// the [`exceptions`](crate::RenderData::exceptions).
pub const BLEND_WGSL: &str = include_str!("blend.wgsl");

/// Converts a pose to floats for the GPU.
#[must_use]
pub fn pose_floats(pose: &Pose) -> PoseFloats {
    let (rotation, translation) = (pose.rotation, pose.translation);
    [rotation.re, rotation.im, translation.x, translation.y]
}
