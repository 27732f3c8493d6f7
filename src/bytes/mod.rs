//! States and recordings as bytes.

// The starts, checksums and contents of files.
mod start;
// Saved states, and why they cannot be written or read.
mod header;

pub(crate) use header::{Layout, StateType, read, read_fingerprint, write};
pub use header::{LoadError, SaveError};
pub(crate) use start::{NoStart, Start, checksum, decode};
