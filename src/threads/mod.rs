//! Physics on a separate thread, for steps that take so long that they cost frames.
//!
//! A [`Runner`] steps a simulation by the wall clock. Its hooks run on the physics thread, and neither side waits for
//! the other. An [`Overlap`] runs each step while the game draws. Its hooks stay on the game's thread. Both display
//! frames through a [`View`]. The book's chapter on threads compares them.
//!
//! A browser starts no threads, so both return a [`StartError`] there, which contains the simulation.

// Settings.
mod runner_settings;
// Errors and panics.
mod failure;
// The types of std that tests replace.
mod sync;
// The start of a thread, where the system has threads.
mod start;
// Data from the physics to the game.
mod mailbox;
// Orders from the game to the physics.
mod orders;
// Copies of states, for the view.
mod publisher;
// The physics' side of a `Runner`.
mod physics;
// The game's side of `Runner` and `Overlap`.
mod view;
// Runs steps by the wall clock.
mod runner;
// A runner as the host of entities' bodies.
mod host;
// Runs steps by the game's frames.
mod overlap;

pub use crate::owners::Spawned;
pub use failure::{Failure, SendError, StartError};
pub use overlap::Overlap;
pub use physics::Call;
pub use runner::{Answer, Runner};
pub use runner_settings::RunnerSettings;
pub use view::View;
