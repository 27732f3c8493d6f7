//! Random games with everything in Rapier, and laws that hold for all of them.

mod game;

use crate::scenes::{MS, STEPPINGS, hash};
use evenstep::rewind::Kept;
use evenstep::threads::Overlap;
use evenstep::{BodyKey, Hooks, Physics, Simulation, Step, Stepping};
use game::{Deeds, Game, Run, TICKS, game};
use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The number of steps for which a copy is compared.
const FOLLOWED: u64 = 20;

fn bits(run: &Run) -> u64 {
    hash(run.simulation.physics.rapier())
}

/// Runs steps up to `tick`. Returns all bits after each.
fn follow(mut run: Run, tick: u64) -> Vec<u64> {
    let mut all = Vec::new();
    while run.simulation.physics.tick() < tick {
        run.step();
        all.push(bits(&run));
    }
    all
}

/// Returns all bits after each step of a game, or `None` if Rapier panics in it. Rapier panics in some games whose
/// links or fixed bodies have joints: see multibody-disabled-link.md and disabled-body-joint.md in docs/upstream.
fn expected(game: &Game) -> Option<Vec<u64>> {
    let mut run = game.run();
    let mut all = Vec::new();
    while run.simulation.physics.tick() < TICKS + FOLLOWED {
        run.try_step()?;
        all.push(bits(&run));
    }
    Some(all)
}

/// Returns all bits before each step, and the keys of all bodies.
fn at_fps(game: &Game, fps: u32) -> (Vec<u64>, Vec<BodyKey>) {
    let mut run = game.run();
    while run.simulation.physics.tick() < TICKS {
        run.frame(fps);
    }
    run.before.truncate(TICKS as usize);
    (run.before, run.keys)
}

/// Checks a clone from every tick.
fn clones_continue(game: &Game) {
    let Some(expected) = expected(game) else {
        return;
    };
    let mut run = game.run();
    for tick in 0..TICKS {
        let to = tick + FOLLOWED;
        let copy = follow(run.clone(), to);
        assert_eq!(copy, expected[tick as usize..to as usize], "from {tick}");
        run.step();
    }
}

/// Checks that every step can run again, from some ticks earlier.
fn steps_can_be_resimulated(game: &Game) {
    let Some(expected) = expected(game) else {
        return;
    };
    let mut run = game.run();
    run.simulation.keep(Kept {
        ticks: FOLLOWED,
        ..run.simulation.kept()
    });
    let mut known = vec![run.keys.len()];
    for tick in 1..TICKS {
        run.step();
        let from = tick.saturating_sub(tick * 7 % FOLLOWED);
        known.push(run.keys.len());
        // Half of the time, not every state is kept.
        run.simulation.keep(Kept {
            interval: tick / 8 % 2 * 3,
            ..run.simulation.kept()
        });
        run.simulation.roll_back(from).unwrap();
        let from = run.simulation.physics.tick();
        run.keys.truncate(known[from as usize]);
        run.run_steps();
        let expected = expected[tick as usize - 1];
        assert_eq!(bits(&run), expected, "to {tick} from {from}");
    }
}

#[cfg(all(feature = "enhanced-determinism", feature = "serde"))]
fn loaded_states_continue(game: &Game) {
    let Some(expected) = expected(game) else {
        return;
    };
    let mut run = game.run();
    for tick in 1..TICKS {
        run.step();
        let mut loaded = run.clone();
        loaded.simulation = Simulation::load(&run.simulation.save().unwrap()).unwrap();
        let to = tick + FOLLOWED;
        let loaded = follow(loaded, to);
        assert_eq!(loaded, expected[tick as usize..to as usize], "from {tick}");
    }
}

fn frame_rates_change_no_bits(game: &Game) {
    if expected(game).is_none() {
        return;
    }
    let at_60 = at_fps(game, 60);
    for fps in [7, 15, 144] {
        assert_eq!(at_fps(game, fps), at_60, "at {fps} frames per second");
    }
}

fn poses_are_finite_and_states_load(game: &Game, fps: u32) {
    if expected(game).is_none() {
        return;
    }
    let mut run = game.run();
    while run.simulation.physics.tick() < TICKS {
        run.frame(fps);
        let simulation = &run.simulation;
        for (key, _) in simulation.physics.bodies() {
            assert!(simulation.pose(key).is_some_and(|pose| pose.is_finite()));
        }
        #[cfg(feature = "serde")]
        if simulation.frame().number.is_multiple_of(5)
            && let Ok(bytes) = simulation.save()
        {
            assert!(Simulation::load(&bytes).is_ok());
        }
    }
}

/// A change before a frame.
#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    Pause,
    Resume,
    StepOnce,
    Speed(u64),
    Push(u64),
}

fn between() -> impl Strategy<Value = Between> {
    prop_oneof![
        6 => Just(Between::Nothing),
        1 => Just(Between::Pause),
        2 => Just(Between::Resume),
        1 => Just(Between::StepOnce),
        1 => (1..6u64).prop_map(Between::Speed),
        3 => any::<u64>().prop_map(Between::Push),
    ]
}

/// The actions of a game in hooks.
struct Acting(Run);

impl Hooks for Acting {
    type Error = std::convert::Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        self.0.act_on(physics, step);
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Loop {
    Closure,
    Pull,
    Overlap,
}

fn prepare(simulation: &mut Simulation, run: &Run, between: Between) {
    match between {
        Between::Nothing => (),
        Between::Pause => simulation.pause(),
        Between::Resume => simulation.resume(),
        Between::StepOnce => simulation.step_once(),
        Between::Speed(twice) => simulation
            .clock_settings_mut()
            .set_speed(twice as f64 / 2.0)
            .unwrap(),
        Between::Push(chance) => run.push(&mut simulation.physics, chance),
    }
}

/// Returns all bits before each step and at the end, in a loop, or `None` if Rapier panics.
fn in_loop(
    game: &Game,
    stepping: Stepping,
    frames: &[(u64, Between)],
    which: Loop,
) -> Option<(Vec<u64>, u64)> {
    let mut hooks = Acting(game.run());
    let mut simulation = std::mem::take(&mut hooks.0.simulation);
    simulation.clock_settings_mut().set_stepping(stepping);
    let play = || match which {
        Loop::Closure => {
            for (millis, between) in frames {
                prepare(&mut simulation, &hooks.0, *between);
                let act = |physics: &mut Physics, step| hooks.0.act_on(physics, step);
                simulation.advance(MS(*millis), act);
            }
            (hooks.0.before, hash(simulation.physics.rapier()))
        }
        Loop::Pull => {
            for (millis, between) in frames {
                prepare(&mut simulation, &hooks.0, *between);
                simulation.begin_frame(MS(*millis));
                while let Some(step) = simulation.next_step() {
                    hooks.0.act_on(&mut simulation.physics, step);
                    simulation.run_step();
                }
                simulation.end_frame();
            }
            (hooks.0.before, hash(simulation.physics.rapier()))
        }
        Loop::Overlap => {
            let mut overlap = Overlap::new(simulation).unwrap();
            for (millis, between) in frames {
                if !matches!(between, Between::Nothing) {
                    let simulation = overlap.simulation(&mut hooks).unwrap();
                    prepare(simulation, &hooks.0, *between);
                }
                overlap.frame(MS(*millis), &mut hooks).unwrap();
            }
            let (simulation, _) = overlap.stop(&mut hooks);
            (hooks.0.before, hash(simulation.physics.rapier()))
        }
    };
    catch_unwind(AssertUnwindSafe(play)).ok()
}

#[test]
fn clones_and_rollbacks_continue_with_bodies_put_to_sleep_or_fixed() {
    for game in [
        Game::with_a_body_that_becomes_fixed(),
        Game::with_a_body_put_to_sleep(),
    ] {
        clones_continue(&game);
        steps_can_be_resimulated(&game);
    }
}

#[test]
fn moving_a_detached_link_before_the_next_step_continues_bit_for_bit() {
    let game = Game::with_a_detached_link();
    assert!(expected(&game).is_some());
    clones_continue(&game);
    steps_can_be_resimulated(&game);
    frame_rates_change_no_bits(&game);
    poses_are_finite_and_states_load(&game, 40);
}

#[test]
fn links_follow_a_moved_root_alike_at_every_frame_rate() {
    frame_rates_change_no_bits(&Game::with_a_moved_root());
}

#[test]
fn displayed_poses_stay_finite_when_a_links_pose_is_not() {
    poses_are_finite_and_states_load(&Game::with_a_non_finite_link(), 60);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::scenes::cases::scaled(12)))]

    #[test]
    fn a_clone_continues_bit_for_bit(game in prop_oneof![game(Deeds::Sleep), game(Deeds::All)]) {
        clones_continue(&game);
    }

    #[test]
    fn resimulated_steps_are_the_same_bit_for_bit(game in game(Deeds::Sleep)) {
        steps_can_be_resimulated(&game);
    }

    #[cfg(all(feature = "enhanced-determinism", feature = "serde"))]
    #[test]
    fn a_loaded_state_continues_bit_for_bit(game in game(Deeds::Sleep)) {
        loaded_states_continue(&game);
    }

    #[test]
    fn bits_are_the_same_at_every_frame_rate(game in game(Deeds::All)) {
        frame_rates_change_no_bits(&game);
    }

    #[test]
    fn every_loop_gives_the_same_bits_in_every_stepping(
        game in game(Deeds::Sleep),
        stepping in prop::sample::select(&STEPPINGS[..]),
        frames in prop::collection::vec((0..40u64, between()), 60..120),
    ) {
        // Rapier panics in some games.
        if let Some(expected) = in_loop(&game, stepping, &frames, Loop::Closure) {
            prop_assert!(!expected.0.is_empty());
            for which in [Loop::Pull, Loop::Overlap] {
                let bits = in_loop(&game, stepping, &frames, which);
                prop_assert!(bits.as_ref() == Some(&expected), "{which:?}");
            }
        }
    }

    #[test]
    fn displayed_poses_are_finite_and_saved_states_can_be_loaded(game in game(Deeds::Wild), fps in 10..200u32) {
        poses_are_finite_and_states_load(&game, fps);
    }
}
