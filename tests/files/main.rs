//! States and recordings as bytes: what is written is read again to the bit, and no forged byte panics or takes memory.
//!
//! Runs the closure and the pull form, `Runner` and `Overlap`, in 3D and in 2D.
//! One case: `cargo test --all-features --test files replay::damage::`.

#[path = "../scenes/mod.rs"]
mod scenes;

// Saved states.
mod saved;
// Recordings and their replay.
mod replay;
