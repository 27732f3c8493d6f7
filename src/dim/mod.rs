//! All that needs the number of dimensions. Elsewhere a vector, a rotation and the rate of a turn are values without
//! components: what is done with them is Rapier's, or is here, under names that mean as much in a plane.

// Interpolation of two poses.
mod slerp;
// Arithmetic on four bodies at once.
mod lanes;
// Rotations of four bodies, by how far they turn.
mod turns;
// Poses as renderers take them.
mod matrices;
// The parts of a pose and of a motion.
mod parts;
// A world for a fingerprint.
#[cfg(feature = "checksum")]
mod world;

pub(crate) use lanes::{Floats, LANES, Rotations, Spins, Vectors, chosen};
pub use matrices::{write_matrices_3x4, write_matrices_4x4};
pub(crate) use parts::{Isometry, angle, capped_spin, is_same, lerp_in_f64, normalized};
#[cfg(feature = "checksum")]
pub(crate) use parts::{rotation_to_array, spin_to_array};
pub(crate) use slerp::Blend;
pub use slerp::{interpolate, interpolate_all};
pub(crate) use turns::turns;
#[cfg(feature = "checksum")]
pub(crate) use world::world_of_all_shapes;
