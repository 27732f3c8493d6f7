//! A peer whose input arrives too late for a rollback, and that continues from the state of another machine.

use super::position;
use evenstep::rapier::prelude::*;
use evenstep::rewind::{Kept, RewindError};
use evenstep::{BodyKey, Physics, Step};
use recipes::outage::continue_from;
use scenes::space;
use std::time::Duration;

const FRAME: Duration = Duration::from_millis(17);

/// Pushes the ball with the input of a tick, or the newest one before it that has arrived.
fn push(physics: &mut Physics, step: Step, ball: BodyKey, inputs: &[f32]) {
    let newest = inputs.len() - 1;
    let input = inputs[newest.min(step.tick as usize)];
    physics.add_force(ball, Vector::X * input).unwrap();
}

#[test]
fn a_peer_continues_smoothly_within_the_window_and_jumps_after_a_longer_outage() {
    let mut here = space(60);
    let ball = here
        .physics
        .insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    let mut there = here.clone();
    here.keep(Kept {
        ticks: 20,
        ..Kept::default()
    });
    let inputs: Vec<f32> = (0..300).map(|tick| (tick / 30 % 2) as f32).collect();
    for _ in 0..75 {
        here.advance(FRAME, |physics, step| {
            push(physics, step, ball, &inputs[..30]);
        });
        there.advance(FRAME, |physics, step| push(physics, step, ball, &inputs));
    }
    // The input from tick 30 on arrives, too late.
    let error = here.resimulate(30, |physics, step| push(physics, step, ball, &inputs));
    assert!(matches!(error, Err(RewindError::NotKept { tick: 30, .. })));
    for outage in [5, 50] {
        let state = there.physics.clone();
        for _ in 0..outage {
            for simulation in [&mut here, &mut there] {
                simulation.advance(FRAME, |physics, step| push(physics, step, ball, &inputs));
            }
        }
        continue_from(&mut here, state, |physics, step| {
            push(physics, step, ball, &inputs);
        });
        while here.physics.tick() < there.physics.tick() {
            here.advance(FRAME, |physics, step| push(physics, step, ball, &inputs));
        }
        assert_eq!(
            position(&here.physics, ball),
            position(&there.physics, ball)
        );
        assert_eq!(here.visual_error(ball).is_some(), outage == 5);
    }
}
