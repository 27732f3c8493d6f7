//! Runs the same scenes in evenstep and in the physics plugins for Bevy, frame by frame.
//!
//! Every [`Peer`] is built and checked. Then it is [measured](measure()) in turn with all the others.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

// The parts that depend on the number of dimensions.
mod dim;
// The scenes.
mod scene;
// The interface of all peers.
mod peer;
// The parts that the peers in Bevy share.
mod headless;
// Rapier's bare step.
mod bare;
// evenstep, with a write into hecs.
mod evenstep_hecs;
// evenstep, with a write into Bevy.
mod evenstep_bevy;
// bevy_rapier's plugin.
mod rapier_plugin;
// avian's plugins.
mod avian;
// Checks of the peers.
mod check;
// The measurement.
mod measure;
// The tables.
mod report;

pub use measure::{Measured, Run, Sample, measure};
pub use peer::{KINDS, Kind, Peer};
pub use report::{with_a_step, without_a_step};
pub use scene::{Body, Scene};
