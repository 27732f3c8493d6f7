//! Two dimensions: a rotation is the cosine and the sine of its angle.

// Interpolation of two poses.
pub(super) mod blend;
// Vectors and rotations of four bodies.
mod lanes;
// Poses as matrices for renderers.
pub mod matrices;
// The parts of a pose and of a motion.
mod parts;
// Poses for the GPU.
mod gpu;
// Helpers for tests of both dimensions.
#[cfg(test)]
pub(crate) mod testing;
// Rotations of four bodies from angles.
mod turns;
// A world for a fingerprint.
#[cfg(feature = "checksum")]
mod world;

pub use blend::{interpolate, interpolate_all};
pub use gpu::{BLEND_WGSL, PoseFloats, pose_floats};
pub(crate) use lanes::{Rotations, Spins, Vectors};
pub(crate) use parts::{angle, capped_spin, is_same, lerp_in_f64, normalized};
#[cfg(feature = "checksum")]
pub(crate) use parts::{rotation_to_array, spin_to_array};
pub(crate) use turns::turns;
#[cfg(feature = "checksum")]
pub(crate) use world::world_of_all_shapes;
