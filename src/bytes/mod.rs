//! States and recordings as bytes, and what they need to be the same on two machines.

// Saved states, and why they cannot be written or read.
#[cfg(feature = "serde")]
mod header;
// The starts, checksums and contents of files.
#[cfg(feature = "serde")]
mod start;
// A hash of the machine's float results.
mod fingerprint;

pub use fingerprint::fingerprint;
#[cfg(feature = "serde")]
pub(crate) use header::{Layout, StateType, read, read_fingerprint, write};
#[cfg(feature = "serde")]
pub use header::{LoadError, SaveError};
#[cfg(feature = "serde")]
pub(crate) use start::{NoStart, Start, checksum, decode};
