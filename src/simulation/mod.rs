//! The loop: time goes in, steps run one at a time, and poses are displayed.

// The parts of a simulation.
mod root;
// What the loop knows about its state.
mod run;
// The loop, driven by the game.
mod pull;
// The loop in one call.
mod advance;
// The game's code in each step.
mod hooks;
// A report of what a frame did.
mod frame;
// Detects calls that the game has forgotten.
mod forgotten;
// Rate, speed, pause: the clock's settings.
mod clock;
// The resources of the game.
mod resources;
// Poses for a renderer.
mod picture;
// The world as a frame displayed it.
mod displayed_world;
// The last steps: snapshots, records and poses.
mod past;
// Earlier poses, and queries against them.
mod history;
// Steps that a rollback made due again.
mod redo;
// Replacing the physics with another value.
mod replacing;
// Going back in time to stay there.
mod rewind;
// Going back in time to resimulate the steps since then.
mod roll_back;
// Serialisation with serde.
#[cfg(feature = "serde")]
mod saving;

pub use displayed_world::DisplayedWorld;
pub use frame::Frame;
pub use hooks::Hooks;
pub(crate) use hooks::or_none;
pub use past::RewindError;
pub use picture::FrameChanges;
pub(crate) use pull::Capture;
pub use roll_back::{CorrectError, ResimulateError};
pub use root::Simulation;
