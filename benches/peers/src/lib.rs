//! The same scenes in evenstep and in the physics plugins of Bevy, frame by frame, side by side.
//!
//! Every [`Peer`] is built, checked to show what it is said to show, and then [measured](measure())
//! in turn with all the others.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

// What depends on the number of dimensions.
mod dim;
// The scenes.
mod scene;
// What all have in common.
mod peer;
// What all of Bevy's have in common.
mod headless;
// Rapier's step and nothing else.
mod bare;
// evenstep, with a write into hecs.
mod evenstep_hecs;
// evenstep, with a write into Bevy.
mod evenstep_bevy;
// bevy_rapier's plugin.
mod rapier_plugin;
// avian's plugins.
mod avian;
// Whether a peer does what is measured.
mod check;
// How long its frames take.
mod measure;
// The report for a reader.
mod report;

pub use measure::{Measured, Run, Sample, measure};
pub use peer::{KINDS, Kind, Peer};
pub use report::{with_a_step, without_a_step};
pub use scene::{Body, Scene};
