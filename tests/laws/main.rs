//! Laws that hold for all features together. The games of each suite find defects that those of the others would miss.
//!
//! - `model`: every displayed pose and list of random games equals those of a plain map, in one thread.
//! - `loops`: random games give the same states and events in the closure form, the pull form and `Overlap`.
//! - `random`: random games of joints, multibodies and soft bodies produce the same bits at every frame rate and
//!   through every rollback.
//! - `exchange`: loops that exchange, copy, save and restore their states display exactly the bodies of their states.
//! - `events`: each event is displayed once, in the first picture after its step.
//! - `conformance`: eleven scenes run the same steps as bare Rapier.
//! - `golden`: eighteen scenes produce the same bits on every platform. After a change that is meant to change bits,
//!   `GOLDEN=write cargo test --workspace --all-features --test laws golden` renews them.
//! - `displayed`: the displayed time never goes back, and bodies are on their paths at that time.
//! - `errors`: visual errors of random games begin, add up and decay as computed in f64.
//! - `states`: every public method in every state that a `Simulation` can be in.
//!
//! Runs in 3D and in 2D. To run one case: `cargo test --all-features --test laws model::`. `PROPTEST_CASES` scales
//! the number of random games (256 is usual), and `PROPTEST_RNG_SEED` selects them.

#[path = "../scenes/mod.rs"]
mod scenes;

// Random games, compared with a plain map.
mod model;
// Random games in every loop.
mod loops;
// Random games with everything, at every frame rate.
mod random;
// Random games that exchange states between loops.
#[cfg(all(feature = "enhanced-determinism", feature = "serde"))]
mod exchange;
// Comparison with bare Rapier.
mod conformance;
// The same bits on every platform.
mod golden;
// The displayed time and the displayed motion.
mod displayed;
// Displayed events.
mod events;
// Visual errors, compared with arithmetic in f64.
mod errors;
// All methods in all states.
mod states;
