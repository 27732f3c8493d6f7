//! The loop: elapsed time in, steps made one at a time, poses displayed.

// The parts of a simulation.
mod root;
// The loop, driven by the game.
mod pull;
// The loop in one call.
mod advance;
// The game's part in it.
mod hooks;
// A report of what a frame did.
mod frame;
// Calls that the game has forgotten.
mod forgotten;
// Rate, speed, pause: the clock's settings.
mod clock;
// The game's own values.
mod resources;
// Poses for a renderer.
mod picture;
// The last steps: snapshots, records, poses.
mod past;
// Earlier poses, and queries against them.
mod history;
// Steps that a rollback made due again.
mod redo;
// Another value in place of the physics.
mod replacing;
// Back in time, to stay there.
mod rewind;
// Back in time, for steps to be resimulated.
mod roll_back;
// A simulation as data of serde.
#[cfg(feature = "serde")]
mod saving;

pub use frame::Frame;
pub use hooks::Hooks;
pub(crate) use hooks::or_none;
pub use past::{PastWorld, RewindError};
pub use picture::FrameChanges;
pub use roll_back::{CorrectError, ResimulateError};
pub use root::Simulation;
#[cfg(feature = "serde")]
pub use saving::SaveError;
