//! Random games with everything that Rapier has, and laws that hold for all of them.

#[path = "../scenes/mod.rs"]
mod scenes;

mod game;

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
}
