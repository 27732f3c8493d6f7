//! Resources are the game's part of the state. They follow the bodies in every loop.

use evenstep::rewind::Kept;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};

use evenstep::rapier::prelude::*;
use evenstep::rewind::ResimulateError;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use scenes::MS;
use std::time::Duration;

/// A game whose steps depend on its own data: it pushes harder the more often it has pushed.
#[derive(Clone, Debug, PartialEq)]
struct Game {
    ball: BodyKey,
    pushes: Vec<(u64, u32)>,
}

impl Game {
    fn before_step(&mut self, physics: &mut Physics, step: Step, push: u32) {
        self.pushes.push((step.tick, push));
        let push = push * self.pushes.len() as u32;
        let impulse = Vector::X * push as f32;
        physics.apply_impulse(self.ball, impulse).unwrap();
    }
}

fn start() -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(100));
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let ball = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    let pushes = Vec::new();
    simulation
        .physics
        .resources_mut()
        .insert(Game { ball, pushes });
    simulation
}

fn game(simulation: &Simulation) -> &Game {
    simulation.physics.resources().get().unwrap()
}

fn step(physics: &mut Physics, step: Step, push: u32) {
    let scope = physics.resource_scope(|physics, game: &mut Game| {
        game.before_step(physics, step, push);
    });
    scope.unwrap();
}

fn run_steps(simulation: &mut Simulation, push: fn(u64) -> u32) {
    while let Some(now) = simulation.next_step() {
        step(&mut simulation.physics, now, push(now.tick));
        simulation.run_step();
    }
}

/// Returns the game, and the pose and the velocity of its ball.
fn state(simulation: &Simulation) -> (Game, Pose, Vector) {
    let game = game(simulation).clone();
    let ball = simulation.physics.body(game.ball).unwrap();
    let (position, velocity) = (*ball.position(), ball.linvel());
    (game, position, velocity)
}

fn without_rollback(steps: u64, push: fn(u64) -> u32) -> (Game, Pose, Vector) {
    let mut simulation = start();
    for _ in 0..steps {
        simulation.advance(MS(10), |physics, now| step(physics, now, push(now.tick)));
    }
    state(&simulation)
}

/// The predicted input, and the actual one.
const PREDICTED: fn(u64) -> u32 = |_| 1;
const ACTUAL: fn(u64) -> u32 = |tick| tick as u32 % 3;

/// Hooks that push with the predicted input, and with the actual one in resimulated steps.
struct Late;

impl Hooks for Late {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, now: Step) -> Result<(), Infallible> {
        let push = if now.is_resimulated {
            ACTUAL
        } else {
            PREDICTED
        };
        step(physics, now, push(now.tick));
        Ok(())
    }
}

#[test]
fn resources_follow_a_resimulation_with_closures() {
    let mut simulation = start();
    for _ in 0..10 {
        simulation.advance(MS(10), |physics, now| {
            step(physics, now, PREDICTED(now.tick))
        });
    }
    assert_eq!(state(&simulation), without_rollback(10, PREDICTED));
    (simulation.resimulate(0, |physics, now| step(physics, now, ACTUAL(now.tick)))).unwrap();
    assert_eq!(state(&simulation), without_rollback(10, ACTUAL));
}

#[test]
fn resources_follow_several_rollbacks_within_one_frame() {
    let mut simulation = start();
    simulation.begin_frame(MS(100));
    for _ in 0..7 {
        let now = simulation.next_step().unwrap();
        step(&mut simulation.physics, now, PREDICTED(now.tick));
        simulation.run_step();
    }
    for tick in [4, 2, 0] {
        simulation.roll_back(tick).unwrap();
        let now = simulation.next_step().unwrap();
        assert_eq!(game(&simulation).pushes.len() as u64, tick);
        step(&mut simulation.physics, now, ACTUAL(now.tick));
        simulation.run_step();
    }
    run_steps(&mut simulation, ACTUAL);
    simulation.end_frame();
    assert_eq!(state(&simulation), without_rollback(10, ACTUAL));
}

#[test]
fn resources_follow_a_resimulation_in_an_overlap() {
    let mut overlap = Overlap::new(start()).unwrap();
    for _ in 0..10 {
        overlap.frame(MS(10), &mut Late).unwrap();
    }
    let simulation = overlap.simulation(&mut Late).unwrap();
    simulation.resimulate_with(0, &mut Late).unwrap();
    let steps = simulation.physics.tick();
    assert!(steps >= 9);
    assert_eq!(state(simulation), without_rollback(steps, ACTUAL));
}

#[test]
fn resources_follow_a_resimulation_in_a_runner() {
    let mut simulation = start();
    simulation.keep(Kept {
        ticks: 100_000,
        ..simulation.kept()
    });
    let runner = Runner::new(simulation, Late, RunnerSettings::default()).unwrap();
    let minute = Duration::from_secs(60);
    let tick = |runner: &Runner<Late>| {
        let (tick, _) = runner.ask(|_| ()).unwrap().wait(minute).unwrap();
        tick
    };
    while tick(&runner) < 10 {}
    let resimulate = |simulation: &mut Simulation, hooks: &mut Late| {
        simulation.resimulate_with(0, hooks).unwrap();
    };
    runner.call(resimulate).unwrap();
    let called_at = tick(&runner);
    while tick(&runner) < called_at + 5 {}
    let (simulation, _) = runner.stop();

    let pushes = game(&simulation).pushes.clone();
    assert_eq!(pushes.len() as u64, simulation.physics.tick());
    let again = pushes
        .iter()
        .position(|(tick, push)| *push != ACTUAL(*tick));
    assert!(again.is_none_or(|first_new| first_new >= 10));
    let mut other = start();
    for (_, push) in pushes {
        other.advance(MS(10), |physics, now| step(physics, now, push));
    }
    assert_eq!(state(&simulation), state(&other));
}

#[test]
fn resources_follow_a_rewind_and_a_clone() {
    let mut simulation = start();
    let push = |simulation: &mut Simulation| {
        simulation.advance(MS(10), |physics, now| step(physics, now, ACTUAL(now.tick)));
    };
    (0..10).for_each(|_| push(&mut simulation));
    let saved = simulation.clone();
    simulation.rewind(4).unwrap();
    assert_eq!(state(&simulation), without_rollback(4, ACTUAL));
    simulation.rewind(10).unwrap();
    assert_eq!(state(&simulation), without_rollback(10, ACTUAL));
    (0..5).for_each(|_| push(&mut simulation));
    simulation = saved;
    assert_eq!(state(&simulation), without_rollback(10, ACTUAL));
    // The two simulations share no data.
    let copy = simulation.clone();
    simulation
        .physics
        .resources_mut()
        .get_mut::<Game>()
        .unwrap()
        .pushes
        .clear();
    assert_eq!(game(&copy).pushes.len(), 10);
}

#[test]
fn a_hook_error_in_a_resimulation_leaves_the_remaining_steps_due() {
    struct Fails;
    impl Hooks for Fails {
        type Error = &'static str;

        fn before_step(&mut self, physics: &mut Physics, now: Step) -> Result<(), &'static str> {
            step(physics, now, 7);
            if now.tick == 8 { Err("no") } else { Ok(()) }
        }
    }
    let mut simulation = start();
    simulation.advance(MS(100), |physics, now| step(physics, now, ACTUAL(now.tick)));
    let error = simulation.resimulate_with(5, &mut Fails).unwrap_err();
    assert_eq!(error, ResimulateError::Hook("no"));
    assert_eq!(
        (simulation.physics.tick(), simulation.steps_to_resimulate()),
        (8, 2)
    );
    // Resimulates from the kept state with the actual input.
    simulation
        .resimulate(5, |physics, now| step(physics, now, ACTUAL(now.tick)))
        .unwrap();
    assert_eq!(state(&simulation), without_rollback(10, ACTUAL));
}

#[test]
fn correcting_with_another_machines_state_replaces_the_resources() {
    let mut simulation = start();
    simulation.advance(MS(100), |physics, now| {
        step(physics, now, PREDICTED(now.tick))
    });
    let mut theirs = start();
    theirs.advance(MS(50), |physics, now| step(physics, now, ACTUAL(now.tick)));
    simulation.roll_back(5).unwrap();
    simulation.correct(theirs.physics).unwrap();
    simulation.begin_frame(MS(0));
    run_steps(&mut simulation, ACTUAL);
    simulation.end_frame();
    assert_eq!(state(&simulation), without_rollback(10, ACTUAL));
}

#[test]
fn resources_hold_one_value_per_type() {
    let mut simulation = Simulation::default();
    let resources = simulation.physics.resources_mut();
    assert_eq!(resources.insert(1_u32), None);
    assert_eq!(resources.insert(2_u32), Some(1));
    assert_eq!(resources.insert("text"), None);
    assert_eq!(
        (resources.get::<u32>(), resources.get::<u64>()),
        (Some(&2), None)
    );
    assert_eq!(format!("{resources:?}").matches("u32").count(), 1);
    assert_eq!(
        (resources.remove::<u32>(), resources.remove::<u32>()),
        (Some(2), None)
    );
    assert_eq!(simulation.resource_scope(|_, _: &mut u32| ()), None);
}

#[test]
fn changes_to_the_scoped_type_within_a_resource_scope_persist() {
    let mut simulation = Simulation::default();
    let is_there = |simulation: &Simulation| simulation.physics.resources().get::<u32>().copied();
    simulation.physics.resources_mut().insert(1_u32);
    let scope = simulation.resource_scope(|simulation, number: &mut u32| {
        assert_eq!(is_there(simulation), None);
        *number += 1;
        // A nested scope of the same type finds no value.
        assert_eq!(simulation.resource_scope(|_, _: &mut u32| ()), None);
    });
    assert_eq!((scope, is_there(&simulation)), (Some(()), Some(2)));
    let _ = simulation
        .resource_scope(|simulation, _: &mut u32| simulation.physics.resources_mut().insert(9_u32));
    assert_eq!(is_there(&simulation), Some(9));
    let _ =
        simulation.resource_scope(|simulation, _: &mut u32| *simulation = Simulation::default());
    assert_eq!(is_there(&simulation), None);
    simulation.physics.resources_mut().insert(1_u32);
    let _ = simulation.resource_scope(|simulation, _: &mut u32| {
        simulation.physics.resources_mut().remove::<u32>()
    });
    assert_eq!(is_there(&simulation), None);
}

#[test]
fn a_panic_in_a_resource_scope_loses_no_resource() {
    let mut simulation = start();
    let panics = |simulation: &mut Simulation| {
        simulation.advance(MS(10), |physics, _| {
            let _ = physics.resource_scope(|_, game: &mut Game| {
                game.pushes.push((0, 0));
                panic!("in the game");
            });
        });
    };
    assert!(catch_unwind(AssertUnwindSafe(|| panics(&mut simulation))).is_err());
    assert_eq!(game(&simulation).pushes, [(0, 0)]);
    let _ = simulation.clone();
}

/// Nothing is copied while no states are kept.
#[test]
fn a_frame_can_run_in_a_resource_scope_if_no_states_are_kept() {
    let mut simulation = start();
    simulation.keep(Kept {
        ticks: 0,
        bytes: 0,
        ..simulation.kept()
    });
    let scope = simulation.resource_scope(|simulation, _: &mut Game| {
        assert_eq!(simulation.advance(MS(30), |_, _| ()).steps, 3);
    });
    assert_eq!(scope, Some(()));
}

/// This holds even in a step whose state is not kept, not only in every fourth step.
#[test]
fn a_step_in_a_resource_scope_panics_even_if_its_state_is_not_kept() {
    let mut simulation = start();
    simulation.keep(Kept {
        interval: 4,
        ..simulation.kept()
    });
    simulation.advance(MS(10), |_, _| ());
    let scope = || {
        simulation.resource_scope(|simulation, _: &mut Game| simulation.advance(MS(10), |_, _| ()))
    };
    assert!(catch_unwind(AssertUnwindSafe(scope)).is_err());
}

/// A copy of the state would lack the value that the scope has taken out. Every call that copies it panics and changes
/// nothing.
#[test]
fn copying_a_state_in_a_resource_scope_panics_and_changes_nothing() {
    type Misuse = fn(&mut Simulation);
    let misuses: [Misuse; 6] = [
        |simulation| drop(simulation.clone()),
        |simulation| assert!(simulation.next_step().is_none()),
        |simulation| simulation.roll_back(2).unwrap(),
        |simulation| simulation.rewind(2).unwrap(),
        |simulation| simulation.correct(start().physics).unwrap(),
        |simulation| assert_eq!(simulation.advance(MS(10), |_, _| ()).steps, 0),
    ];
    for (i, misuse) in misuses.into_iter().enumerate() {
        let mut simulation = start();
        simulation.advance(MS(100), |physics, now| step(physics, now, ACTUAL(now.tick)));
        if i == 1 {
            simulation.begin_frame(MS(10));
        }
        let scope = || simulation.resource_scope(|simulation, _: &mut Game| misuse(simulation));
        let panic = catch_unwind(AssertUnwindSafe(scope)).unwrap_err();
        let text = panic.downcast_ref::<String>().unwrap();
        assert!(text.contains("Game` is in `resource_scope`"), "{i}: {text}");
        assert_eq!(state(&simulation), without_rollback(10, ACTUAL), "{i}");
        simulation.end_frame();
        simulation.rewind(4).unwrap();
        assert_eq!(state(&simulation), without_rollback(4, ACTUAL), "{i}");
    }
}
