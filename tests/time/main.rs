//! Elapsed time becomes steps: exactly, at every rate, speed and stepping, and with the same bits at every frame rate.
//!
//! Runs the closure and the pull form, `Runner` and `Overlap` where they differ, in 3D and in 2D.
//! One case: `cargo test --all-features --test time stepping::`.

#[path = "../scenes/mod.rs"]
mod scenes;

// The loop driven by the game.
mod pull;
// The five steppings, pauses and speeds.
mod stepping;
// The same bits at every frame rate.
mod determinism;
// Recorded frame times, and how they are read.
mod frame_times;
// Frame times that a display or a browser has rounded.
mod rounded_stamps;
// Strategies of a timestep compared.
mod strategies;
