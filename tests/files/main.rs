//! Saved states and recordings continue bit for bit. Forged ones neither panic nor allocate much memory.
//!
//! Runs the closure and the pull form, `Runner` and `Overlap`, in 3D and in 2D.
//! To run one case: `cargo test --all-features --test files replay::damage::`.

// Saved states.
mod saved;
// Recordings and their replay.
mod replay;
