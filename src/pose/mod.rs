//! What a frame shows: the last two states of every body that moves, and what is between them. It does not
//! step, and does not know why a pose changed.

// The paths of four bodies between two states, and beyond.
mod paths;
// The trajectory of a body from one state to the next.
mod motion;
// What is shown after a rollback.
mod correction;
// Work shared by many threads.
mod shared;
// The lists of bodies that move.
mod moving;
// The motion in earlier steps.
mod history;
// All of it by key.
mod poses;
// What another thread shows of it.
mod screen;

pub use correction::Correction;
pub use motion::Smoothing;
pub use poses::PoseCounts;
pub(crate) use poses::Poses;
pub(crate) use screen::{Moment, Onward, Screen};
