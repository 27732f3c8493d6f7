//! Physics alongside the game or on its own thread: the bits are the same, no frame waits, and panics are reported.
//!
//! Compares `Overlap` and `Runner` with a single thread, in 3D and in 2D. `tests/handover` tests the hand-over between
//! two threads, and `tests/laws` (every) has random games of both.
//! To run one case: `cargo test --all-features --test threads overlap::picture::`.

// Steps run while the game draws.
mod overlap;
// Steps run by the wall clock.
mod runner;
// Steps run when the test says so.
mod worker;
// Both compared with one thread.
mod together;
// Copies of a simulation on a thread.
mod copies;
// Steps on all cores.
#[cfg(feature = "parallel")]
mod parallel;
