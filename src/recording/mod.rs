//! Runs recorded while they are played, and replayed with checks: for crash reports, tests and demos. With the feature
//! `serde`.
//!
//! A [`Recorder`] writes a run to any `Write`: a file, or a [`FlightRecorder`] that keeps the last seconds in memory. A
//! [`Recording`] is read from these bytes, and a [`Replay`] plays it from any tick. The docs of [`Recorder`] have a
//! complete program, the example `replay` is one.

// The parts of a recording as bytes.
mod chunk;
// A run, written.
mod recorder;
// The last seconds of a run, in memory.
mod flight;
// A run, played again and checked.
mod replay;
// A recording, read.
mod reading;

pub use flight::FlightRecorder;
pub use reading::{Recording, RecordingEnd};
pub use recorder::{RecordError, Recorder, RecorderSettings};
pub use replay::{Divergence, Replay, ReplayError};
