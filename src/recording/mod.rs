//! Recorded runs, and replays of them with checks, for crash reports, tests and demos.
//!
//! A [`Recorder`] writes a run to any `Write`. A [`Recording`] is read from these bytes, and a [`Replay`] plays it from
//! any keyframe. [`Recorder`] has a complete program.

// The parts of a recording as bytes.
mod chunk;
// Writing a run.
mod recorder;
// Playing a run again, with checks.
mod replay;
// Reading a recording.
mod reading;

pub use reading::{RecordedRun, Recording, RecordingEnd};
pub use recorder::{RecordError, Recorder, RecorderSettings};
pub use replay::{Divergence, Replay, ReplayError};
