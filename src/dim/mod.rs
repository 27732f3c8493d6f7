//! Everything that depends on the number of dimensions. In other modules a vector, a rotation and an angular velocity
//! are values without components.
//!
//! The same sources build two packages, `evenstep` and `evenstep2d`, which differ in one module.

// The module that differs between the packages. Both versions have the same items.
#[cfg_attr(dim2, path = "dim2/mod.rs")]
#[cfg_attr(not(dim2), path = "dim3/mod.rs")]
mod dimension;
// Arithmetic on four bodies at once, and interpolation of their poses.
mod blend;

pub(crate) use blend::{Blend, Floats, LANES, is_near, lanes_set_in};
pub(crate) use dimension::{
    Rotations, Spins, Vectors, angle, capped_spin, is_same, lerp_in_f64, normalized, turns,
};
pub use dimension::{
    blend::{interpolate, interpolate_all},
    parts,
};
#[cfg(feature = "checksum")]
pub(crate) use dimension::{rotation_to_array, spin_to_array};
