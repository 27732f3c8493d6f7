//! Physics on another thread, for steps that take so long that they cost frames.
//!
//! - A [`Runner`] steps a simulation by the wall clock. Its hooks run on that thread.
//! - An [`Overlap`] runs each step while the game draws. Its hooks stay on the game's thread.
//!
//! Both display frames through a [`View`]. In a browser there are no threads: their `new` fails with a [`StartError`].
//! A [`Worker`] runs the steps of a runner without thread and clock.

// Settings.
mod settings;
// Errors and panics.
mod failure;
// The types that the two threads share. A model checker replaces them: see `tests/handover`.
mod sync {
    pub use std::sync::{Mutex, TryLockError};
}
// Data from the physics to the game.
mod mailbox;
// Copies of states, for the view.
mod publisher;
// The answer to a question.
mod asked;
// Messages from a runner to its worker.
mod message;
// The physics' side of a `Runner`.
mod worker;
// Bodies that a recovery must not bring back.
mod removed_bodies;
// The game's side of `Runner` and `Overlap`.
mod view;
// The wall clock, and the thread that follows it.
mod wall_clock;
// Runs steps by the wall clock.
mod runner;
// A runner as the host of entities' bodies.
mod host;
// Entities for bodies that were sent to a runner.
#[cfg(feature = "hecs")]
mod spawning;
// Runs steps by the game's frames.
mod overlap;

pub use crate::ecs::host::Spawned;
pub use asked::Asked;
pub use failure::{Failure, SendError, StartError};
pub use message::Call;
pub use overlap::Overlap;
pub use runner::Runner;
pub use settings::RunnerSettings;
pub use view::View;
pub use worker::Worker;
