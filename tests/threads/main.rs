//! Physics beside or on another thread: the same bits, no frame that waits, and panics that are reported.
//!
//! Runs `Overlap` and `Runner` against one thread, in 3D and in 2D. The hand-over between two threads has tests of its own
//! in `tests/handover`, and random games of a `Runner` stand in `src/threads/physics/tests`.
//! One case: `cargo test --all-features --test threads overlap::picture::`.

#[path = "../scenes/mod.rs"]
mod scenes;

// Steps made while the game draws.
mod overlap;
// Steps made by the wall clock.
mod runner;
// Both against one thread.
mod together;
// Steps on all cores.
#[cfg(feature = "parallel")]
mod parallel;
