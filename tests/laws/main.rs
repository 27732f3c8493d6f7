//! Laws that hold for all features together. Each suite plays games that none of the others would find a defect with.
//!
//! - `model`: every displayed pose, list and event of random games equals those of a plain map, in one thread.
//! - `loops`: random games give the same states and events in the closure form, the pull form and `Overlap`.
//! - `random`: random games of joints, multibodies and soft bodies make the same bits at every frame rate and through every
//!   rollback.
//! - `conformance`: eleven scenes make the steps of bare Rapier.
//! - `golden`: eighteen scenes make the bits of every platform; `GOLDEN=write cargo test --workspace --all-features --test laws
//!   golden` renews them after a change that is meant to move bits.
//! - `states`: every public method in every state that a `Simulation` can be in.
//!
//! Runs in 3D and in 2D. One case: `cargo test --all-features --test laws model::`; `PROPTEST_CASES` sets how many random
//! games are played, and `PROPTEST_RNG_SEED` which.

#[path = "../scenes/mod.rs"]
mod scenes;

// Random games against a plain map.
mod model;
// Random games in every loop.
mod loops;
// Random games of everything, at every frame rate.
mod random;
// Bare Rapier.
mod conformance;
// Bits of every platform.
mod golden;
// All methods in all states.
mod states;

use proptest::test_runner::Config;

/// Settings for so many random games, unless `PROPTEST_CASES` asks for another number.
fn config(usual: u32) -> Config {
    Config {
        cases: scenes::cases(usual),
        ..Config::default()
    }
}
