//! A random game, which plays in every host, and the laws that judge it. The fuzzer compiles this folder, too.

// The game.
pub mod game;
// Every law in every host.
pub mod every;
// Steps: a plain loop does the same, and has the same states.
mod steps;
// Lists of moved and removed bodies, and entities.
mod lists;
// The displayed time.
mod moments;
// Displayed poses and visual errors.
mod display;
// Bodies that jump.
mod jumps;
// Displayed events, and the rules that say which they are.
mod occurrences;
// A displayed pose, in f64.
mod reference;
