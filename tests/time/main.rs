//! Elapsed time becomes steps: exactly, at every rate, speed and stepping, and with the same bits at every frame rate.
//!
//! Runs the closure and the pull form in 3D and in 2D, and `Runner` and `Overlap` where they differ.
//! One case: `cargo test --all-features --test time stepping::`.

// The loop driven by the game.
mod pull;
// The five steppings, pauses and speeds.
mod stepping;
// The displayed time.
mod displayed;
// Pauses after a step.
mod stop;
// The same bits at every frame rate.
mod determinism;
// Recorded frame times and their reader.
mod frame_times;
// Frame times that a display or a browser has rounded.
mod rounded_stamps;
// The stepping strategies compared.
mod strategies;
