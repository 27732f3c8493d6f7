//! What is done with the state of a simulation as a value.

// One number for all of it.
#[cfg(feature = "checksum")]
mod checksum;
// All of it as bytes.
#[cfg(feature = "serde")]
mod saved;

#[cfg(feature = "serde")]
pub use saved::{LoadError, SaveError};
