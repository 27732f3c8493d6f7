//! States and recordings as bytes: they are read back bit for bit, and forged bytes neither panic nor take memory.
//!
//! Runs the closure and the pull form, `Runner` and `Overlap`, in 3D and in 2D.
//! To run one case: `cargo test --all-features --test files replay::damage::`.

#[path = "../scenes/mod.rs"]
mod scenes;

// Saved states.
mod saved;
// Recordings and their replay.
mod replay;
