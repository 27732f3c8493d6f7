//! Three dimensions: a rotation is a quaternion.

// Vectors and rotations of four bodies, and interpolation of two poses.
pub(super) mod blend;
// The parts of a pose, in other forms: turns, matrices, numbers for the GPU.
pub mod parts;

pub(crate) use blend::{Rotations, Spins, Vectors};
pub(crate) use parts::{angle, capped_spin, is_same, lerp_in_f64, normalized, turns};
#[cfg(feature = "checksum")]
pub(crate) use parts::{rotation_to_array, spin_to_array};
