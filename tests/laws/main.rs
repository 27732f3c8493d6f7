//! Laws that hold for all features together.
//!
//! One random game plays in every host: a loop with a closure, with hooks or in the pull form, an overlap, and a runner
//! in time or late. `random::every` judges each run by every law:
//!
//! - `steps`: each step equals that of a plain loop that does the same, however the game copies, saves, assigns, rolls
//!   back or corrects its state.
//! - `lists`: a renderer, an `EntityMap` and a hecs world that follow the lists of moved and removed bodies draw what
//!   `pose` returns.
//! - `moments`: the displayed time never goes back, and no time is lost.
//! - `display`: each body is displayed on the path of its step, plus an error that decays as set.
//! - `jumps`: a body that does not jump has moved along its paths, and one that jumps was moved or corrected.
//! - `occurrences`: each event is displayed once, in the first picture after its step.
//!
//! `alike` compares games that differ only in what must not matter: the frame rate, a replay, and the kept states. To
//! add an action to all of this, add it to `random::game::action`.
//!
//! Other laws have games of their own kind:
//!
//! - `conformance`: eleven scenes run the same steps as bare Rapier.
//! - `golden`: eighteen scenes produce the same bits on every platform. After a change that is meant to change bits,
//!   `GOLDEN=write cargo test --workspace --all-features --test laws golden` renews them.
//! - `states`: every public method in every state that a `Simulation` can be in.
//!
//! Runs in 3D and in 2D. To run one case: `cargo test --all-features --test laws random::`. `PROPTEST_CASES` scales
//! the number of random games (256 is usual), and `PROPTEST_RNG_SEED` selects them. A failed game prints as Rust.

// The random game, and every law in every host.
mod random;
// Games that are alike.
mod alike;
// Comparison with bare Rapier.
mod conformance;
// The same bits on every platform.
mod golden;
// All methods in all states.
mod states;
