//! What is done with the state of a simulation as a value.

// One number for all of it.
#[cfg(feature = "checksum")]
mod checksum;
// How files begin.
#[cfg(feature = "serde")]
mod bytes;
// All of it as bytes.
#[cfg(feature = "serde")]
mod saved;
// What a recording is made of.
#[cfg(feature = "serde")]
mod chunk;
// A run, written while it is played.
#[cfg(feature = "serde")]
mod recording;
// The last of it, in memory.
#[cfg(feature = "serde")]
mod flight;
// Played again, and checked.
#[cfg(feature = "serde")]
mod replay;

#[cfg(feature = "serde")]
pub use flight::FlightRecorder;
#[cfg(feature = "serde")]
pub use recording::{RecordError, Recorder, RecorderSettings};
#[cfg(feature = "serde")]
pub use replay::{Divergence, Recording, RecordingEnd, Replay, ReplayError};
#[cfg(feature = "serde")]
pub use saved::LoadError;
