//! Entities and bodies live and die together, in hecs, in every loop and through every rollback.
//!
//! Runs the closure and the pull form, `Runner` and `Overlap`, in 3D and in 2D. `examples/ecs` tests the five other
//! ECSs.
//! To run one case: `cargo test --all-features --test ecs entities::restored::`.

// Components and their sync.
mod entities;
// What holds with each host.
mod hosts;
// An `EntityMap` without hecs.
mod map;
// Maps that are synced for the first time late.
mod late_maps;
// Entities of bodies that a recovery, a rollback or a stop takes back.
mod recovered;
// A hecs world that is rolled back with the physics.
mod rollback;
// Entities of a `Runner` and of an `Overlap`.
mod threads;
// Entities that wait for a body on its way to a `Runner`.
mod waiting;
// Entities of a `Runner` without a thread, in random games.
mod worker;
