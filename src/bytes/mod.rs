//! States and recordings as bytes, and what they need to be the same on two machines.

// Headers, checksums and contents, and why they cannot be written or read.
#[cfg(feature = "serde")]
mod header;
// A hash of what differs between machines.
mod fingerprint;

pub use fingerprint::fingerprint;
#[cfg(feature = "serde")]
pub(crate) use header::{
    Layout, NoStart, Start, StateType, checksum, decode, read, read_fingerprint, write,
};
#[cfg(feature = "serde")]
pub use header::{LoadError, SaveError};
