//! The state of a simulation as bytes.

// Headers and checksums of files.
#[cfg(feature = "serde")]
mod bytes;
// The state as bytes.
#[cfg(feature = "serde")]
mod saved;

#[cfg(feature = "serde")]
pub(crate) use bytes::{NoStart, Start, checksum, decode};
#[cfg(feature = "serde")]
pub use saved::{LoadError, fingerprint_of};
