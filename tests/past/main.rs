//! Earlier states: snapshots, rollbacks, rewinds and corrections, and the poses and worlds of earlier ticks.
//!
//! Runs the closure form and the pull form, in 3D and in 2D. `laws` and `threads` test rollbacks under `Overlap` and
//! `Runner`.
//! One case: `cargo test --all-features --test past rewind::correction::`.

// Rollbacks, rewinds and corrections.
mod rewind;
// Poses of earlier ticks.
mod history;
// Queries against an earlier world.
mod world_at;
// The `Physics` as a value: cloned and assigned.
mod value;
// Rollback of an ECS that stays outside the simulation.
mod rollback_outside;
// Prediction of some bodies only.
mod partial_prediction;
