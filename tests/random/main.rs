//! Random games with everything that Rapier has, and laws that hold for all of them.

#[path = "../scenes/mod.rs"]
mod scenes;

mod game;

use evenstep::BodyKey;
#[cfg(feature = "serde")]
use evenstep::Simulation;
use game::{Deeds, Game, Run, TICKS, game};
use proptest::prelude::*;
use scenes::hash;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// How long a copy is followed.
const FOLLOWED: u64 = 20;

fn bits(run: &Run) -> u64 {
    hash(run.simulation.physics())
}

/// Makes steps to `tick`; gives all bits after each.
fn follow(mut run: Run, tick: u64) -> Vec<u64> {
    let mut all = Vec::new();
    while run.simulation.tick() < tick {
        run.step();
        all.push(bits(&run));
    }
    all
}

/// All bits after each step of a game; `None` of one in which Rapier panics, as it does in some with links or fixed
/// bodies that have joints.
fn expected(game: &Game) -> Option<Vec<u64>> {
    let run = game.run();
    catch_unwind(AssertUnwindSafe(|| follow(run, TICKS + FOLLOWED))).ok()
}

/// All bits before each step, and the keys that were given out.
fn at_fps(game: &Game, fps: u32) -> (Vec<u64>, Vec<BodyKey>) {
    let mut run = game.run();
    while run.simulation.tick() < TICKS {
        run.frame(fps);
    }
    run.before.truncate(TICKS as usize);
    (run.before, run.keys)
}

/// So many cases, unless the environment asks for another number.
fn config(cases: u32) -> ProptestConfig {
    let config = ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return config;
    }
    ProptestConfig { cases, ..config }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn a_clone_goes_on_to_the_bit(game in prop_oneof![game(Deeds::Sleep), game(Deeds::All)]) {
        let Some(expected) = expected(&game) else {
            return Ok(());
        };
        let mut run = game.run();
        for tick in 0..TICKS {
            let to = tick + FOLLOWED;
            let copy = follow(run.clone(), to);
            prop_assert_eq!(&copy[..], &expected[tick as usize..to as usize], "from {}", tick);
            run.step();
        }
    }

    #[test]
    fn steps_made_again_are_the_same_to_the_bit(game in game(Deeds::Sleep)) {
        let Some(expected) = expected(&game) else {
            return Ok(());
        };
        let mut run = game.run();
        run.simulation.set_rewind_limits(FOLLOWED, usize::MAX);
        let mut known = vec![run.keys.len()];
        for tick in 1..TICKS {
            run.step();
            let from = tick.saturating_sub(tick * 7 % FOLLOWED);
            known.push(run.keys.len());
            run.simulation.roll_back(from).unwrap();
            run.keys.truncate(known[from as usize]);
            run.make_steps();
            prop_assert_eq!(bits(&run), expected[tick as usize - 1], "to {} from {}", tick, from);
        }
    }

    #[cfg(all(feature = "enhanced-determinism", feature = "serde"))]
    #[test]
    fn what_is_loaded_goes_on_to_the_bit(game in game(Deeds::Sleep)) {
        let Some(expected) = expected(&game) else {
            return Ok(());
        };
        let mut run = game.run();
        for tick in 1..TICKS {
            run.step();
            let mut loaded = run.clone();
            loaded.simulation = Simulation::load(&run.simulation.save().unwrap()).unwrap();
            let to = tick + FOLLOWED;
            prop_assert_eq!(&follow(loaded, to)[..], &expected[tick as usize..to as usize], "from {}", tick);
        }
    }

    #[test]
    fn the_same_bits_at_every_frame_rate(game in game(Deeds::All)) {
        if expected(&game).is_none() {
            return Ok(());
        }
        let at_60 = at_fps(&game, 60);
        for fps in [7, 15, 144] {
            prop_assert_eq!(&at_fps(&game, fps), &at_60, "at {} frames a second", fps);
        }
    }

    #[test]
    fn what_is_shown_is_finite_and_what_is_saved_can_be_loaded(game in game(Deeds::Wild), fps in 10..200u32) {
        if expected(&game).is_none() {
            return Ok(());
        }
        let mut run = game.run();
        while run.simulation.tick() < TICKS {
            run.frame(fps);
            let simulation = &run.simulation;
            for (key, _) in simulation.bodies() {
                prop_assert!(simulation.pose(key).is_some_and(|pose| pose.is_finite()));
            }
            #[cfg(feature = "serde")]
            if simulation.frame().number % 5 == 0
                && let Ok(bytes) = simulation.save()
            {
                let loaded = Simulation::load(&bytes);
                prop_assert!(loaded.is_ok(), "{:?}", loaded.err());
            }
        }
    }
}
