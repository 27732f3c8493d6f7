//! Random games in which several loops exchange, copy, lend, save and restore their states, at any moment and from
//! inside of hooks.
//!
//! The state itself is the model: whatever happened to it, the next picture displays exactly its bodies, between their
//! poses before and after its last step. The same games run with a `Runner` in `src/threads/worker/tests/exchange.rs`.

// The loops and values of a game, and its hooks.
mod game;
// The loops.
mod hosts;
// A renderer, and the laws of its pictures.
mod picture;
// The moves of a game.
mod script;

use crate::scenes::{MS, cases::scaled, testing};
use game::play;
use hosts::start;
use proptest::prelude::*;
use script::Kind;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scaled(50)))]

    #[test]
    fn a_loop_of_closures_displays_exchanged_states(game in script::game()) {
        play(|it| start(Kind::Closure, it), &game);
    }

    #[test]
    fn a_loop_of_hooks_displays_exchanged_states(game in script::game()) {
        play(|it| start(Kind::Hooks, it), &game);
    }

    #[test]
    fn a_pull_loop_displays_exchanged_states(game in script::game()) {
        play(|it| start(Kind::Pull, it), &game);
    }

    #[test]
    fn an_overlap_displays_exchanged_states(game in script::game()) {
        play(|it| start(Kind::Overlap, it), &game);
    }
}
