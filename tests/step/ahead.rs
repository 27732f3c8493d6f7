//! `Physics::step_ahead`: steps of a copy, with and without a hook.

use crate::scenes::{MS, ball, flyer, flyer_in_space, space, stepped_x};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

fn push(physics: &mut Physics, step: Step, key: BodyKey) {
    let force = (step.tick % 3) as f32;
    physics.add_force(key, Vector::Y * force).unwrap();
}

#[test]
fn step_ahead_gives_the_hook_the_steps_of_advance_without_real_time() {
    let (mut simulation, key) = flyer_in_space();
    let mut ahead = simulation.physics.clone();
    let (mut seen, mut real) = (Vec::new(), Vec::new());
    ahead.step_ahead(20, |physics, step| {
        assert_eq!(physics.current_step(), Some(step));
        assert_eq!(step.real_start, Duration::ZERO);
        assert_eq!(step.real_end, Duration::ZERO);
        assert_eq!(step.real_frame_end, Duration::ZERO);
        seen.push((step.tick, step.dt.to_bits(), step.time, step.end_time));
        push(physics, step, key);
    });
    while simulation.physics.tick() < 20 {
        simulation.advance(MS(7), |physics, step| {
            real.push((step.tick, step.dt.to_bits(), step.time, step.end_time));
            push(physics, step, key);
        });
    }
    assert_eq!(seen, real);
    let pose = |physics: &Physics| *physics.body(key).unwrap().position();
    assert_eq!(pose(&ahead), pose(&simulation.physics));
    assert_eq!((ahead.tick(), ahead.current_step()), (20, None));
}

#[test]
fn several_step_ahead_calls_equal_one_longer_call() {
    let (simulation, key) = flyer_in_space();
    let mut once = simulation.physics.clone();
    let mut often = once.clone();
    once.step_ahead(12, |physics, step| push(physics, step, key));
    for steps in [0, 1, 5, 0, 6] {
        often.step_ahead(steps, |physics, step| push(physics, step, key));
    }
    let state = |physics: &Physics| {
        let body = physics.body(key).unwrap();
        (physics.tick(), *body.position(), body.linvel())
    };
    assert_eq!(state(&once), state(&often));
}

#[test]
fn a_body_inserted_by_the_hook_moves_in_that_step() {
    let (simulation, _) = flyer_in_space();
    let mut ahead = simulation.physics.clone();
    let mut new = None;
    ahead.step_ahead(3, |physics, step| {
        if step.tick == 1 {
            new = Some(physics.insert(flyer(), ball()));
        }
    });
    let key = new.unwrap();
    assert!((stepped_x(&ahead, key) - 2.0).abs() < 1e-4); // two steps of a metre
    assert!(simulation.physics.body(key).is_none());
}

#[test]
fn a_step_does_not_run_if_its_hook_assigns_another_state() {
    let (simulation, key) = flyer_in_space();
    let start = simulation.physics.clone();
    let mut ahead = start.clone();
    let mut ticks = Vec::new();
    ahead.step_ahead(5, |physics, step| {
        ticks.push(step.tick);
        physics.add_force(key, Vector::Y * 100.0).unwrap();
        if ticks.len() == 3 {
            *physics = start.clone();
        }
    });
    assert_eq!(ticks, [0, 1, 2, 0, 1]);
    assert_eq!(ahead.tick(), 2);
    assert_eq!(ahead.current_step(), None);
}

#[test]
fn a_panic_in_the_hook_discards_only_its_step() {
    let (simulation, key) = flyer_in_space();
    let mut ahead = simulation.physics.clone();
    let steps = AssertUnwindSafe(|| {
        ahead.step_ahead(4, |physics, step| {
            physics.add_force(key, Vector::Y * 100.0).unwrap();
            assert!(step.tick < 2, "planned");
        });
    });
    catch_unwind(steps).unwrap_err();
    assert_eq!(ahead.tick(), 2);
    let velocity = ahead.body(key).unwrap().linvel().y;
    ahead.step_ahead(1, |_, _| ());
    assert_eq!(ahead.tick(), 3);
    // The force of the step that panicked is discarded.
    assert_eq!(ahead.body(key).unwrap().linvel().y, velocity);
}

#[test]
fn step_ahead_in_a_hook_aborts_the_current_step() {
    let mut simulation = space(10);
    let frame = simulation.advance(MS(250), |physics, step| {
        if step.tick == 1 && step.is_last {
            physics.step_ahead(3, |_, _| ());
        }
    });
    assert_eq!(simulation.physics.tick(), 4);
    assert_eq!((frame.tick, frame.dropped.aborted), (4, 1));
}
