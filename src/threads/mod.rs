//! Physics on a thread of its own: for steps that take so long that they cost frames.
//!
//! A [`Runner`] steps a simulation by the wall clock; its hooks run there, and neither side waits for the other. An
//! [`Overlap`] makes each step while the game draws; its hooks stay on the game's thread. Both show frames through a
//! [`View`]. The chapter on threads of the book compares them.
//!
//! A browser starts no thread for them: there both return a [`StartError`], which contains the simulation.

// What can be set.
mod runner_settings;
// Errors and panics.
mod failure;
// The types of std that tests replace.
mod sync;
// The start of a thread, where there are any.
mod start;
// From the physics to the game.
mod mailbox;
// From the game to the physics.
mod orders;
// Copies of states, for the view.
mod publisher;
// The physics' side of a `Runner`.
mod physics;
// The game's side of either.
mod view;
// By the wall clock.
mod runner;
// A runner as what has the bodies of entities.
mod host;
// By the game's frames.
mod overlap;

pub use crate::owners::Spawned;
pub use failure::{Failure, SendError, StartError};
pub use overlap::Overlap;
pub use physics::Call;
pub use runner::{Answer, Runner};
pub use runner_settings::RunnerSettings;
pub use view::View;
