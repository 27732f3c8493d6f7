//! Random files and random programs for evenstep: damaged or forged states, recordings and lists of frame times, and
//! calls in any order.
//!
//! An input is bytes. A [`Target`] interprets an input, mutates it and runs it. The seed and the run's number identify
//! a run, so that it can be repeated.
//!
//! The law is that a file that loads without an error runs sixty steps, and that nothing panics in evenstep. Rapier's
//! panics are counted by location.

// Counts, and breaches of the law.
mod tally;
// Panics by location.
mod panics;
// Mutations of inputs.
mod mutate;
// Valid checksums for changed inputs.
mod seal;
// The worlds of the first inputs.
mod worlds;
// A game that plays a loaded state.
mod play;
// The kinds of inputs.
mod targets;
// Runs by number.
mod runs;
// The random game of the laws, and the laws that judge it.
#[path = "../../tests/laws/random/mod.rs"]
mod random;

pub use panics::hush;
pub use runs::Runs;
pub use tally::Tally;
pub use targets::Target;
