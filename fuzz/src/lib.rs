//! Random files and random programs for evenstep: states, recordings and lists of frame times that were changed by
//! chance or by ill will, and calls in any order.
//!
//! An input is bytes. A [`Target`] says what these are, makes one of another, and runs it. A run is known by the seed
//! and its number, so that it can be made again.
//!
//! The law: what is loaded without an error makes sixty steps, and nothing panics in evenstep. Rapier's panics are
//! counted by their place.

// What is counted, and what is forbidden.
mod tally;
// Panics, by their place.
mod panics;
// One input of another.
mod mutate;
// Checksums, made right.
mod seal;
// The worlds that inputs begin with.
mod worlds;
// What a game does with what it has loaded.
mod play;
// What inputs are, and how they are run.
mod targets;
// Runs by number.
mod runs;
// Shared with the tests of evenstep.
#[path = "../../tests/scenes/mod.rs"]
mod scenes;

pub use panics::hush;
pub use runs::Runs;
pub use tally::Tally;
pub use targets::Target;
