//! The path of a throw: a copy of the world, run ahead.

use super::{SECOND, position};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation};
use recipes::throw_path;
use scenes::with_floor;
use std::time::Duration;

/// A ball on a floor.
fn world() -> (Simulation, BodyKey) {
    let mut simulation = with_floor(Rate::hz(50));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y);
    let ball = ColliderBuilder::ball(0.2).mass(1.0);
    let ball = simulation.physics.insert(body, ball);
    (simulation, ball)
}

/// Wind in gusts, which is stronger higher up.
fn blow(physics: &mut Physics, time: Duration, ball: BodyKey) {
    let height = position(physics, ball).translation.y;
    let gust = if time.as_millis() % 700 < 300 {
        3.0
    } else {
        0.0
    };
    physics.add_force(ball, Vector::Z * gust * height).unwrap();
}

const THROW: Vector = Vector::new(2.0, 6.0, 0.0);
const STEPS: u64 = 120;

/// Throws the ball after step `first`, and returns its pose after each step.
fn real_path(first: u64, frames_per_second: u32) -> Vec<Pose> {
    let (mut simulation, ball) = world();
    let mut path = Vec::new();
    while path.len() <= STEPS as usize {
        simulation.advance(SECOND / frames_per_second, |physics, step| {
            if step.tick >= first {
                path.push(position(physics, ball));
            }
            if step.tick == first {
                physics.apply_impulse(ball, THROW).unwrap();
            }
            blow(physics, step.start_time, ball);
        });
    }
    path.drain(1..=STEPS as usize).collect()
}

/// Returns the simulation after `steps` steps without a throw.
fn before_the_throw(steps: u64) -> (Simulation, BodyKey) {
    let (mut simulation, ball) = world();
    while simulation.physics.tick() < steps {
        simulation.advance(SECOND / 90, |physics, step| {
            blow(physics, step.start_time, ball)
        });
    }
    (simulation, ball)
}

/// Returns the pose after each step, if the ball is thrown now. The preview calls the hook.
fn preview(physics: &Physics, ball: BodyKey) -> Vec<Pose> {
    throw_path::path(physics, ball, THROW, STEPS, |physics, step| {
        blow(physics, step.start_time, ball);
    })
}

#[test]
fn a_preview_with_the_hook_equals_the_real_path_at_every_frame_rate() {
    for first in [0, 17] {
        let (simulation, ball) = before_the_throw(first);
        let path = preview(&simulation.physics, ball);
        for frames_per_second in [20, 60, 144] {
            assert_eq!(real_path(first, frames_per_second), path);
        }
    }
}

#[test]
fn a_separate_simulation_previews_the_same_path() {
    let (simulation, ball) = before_the_throw(17);
    let rate = simulation.clock().settings().rate();
    let mut ahead = Simulation::new(rate);
    ahead.physics = simulation.physics.clone();
    ahead.pause();
    ahead.physics.apply_impulse(ball, THROW).unwrap();
    let path: Vec<_> = (0..STEPS)
        .map(|_| {
            ahead.step_once();
            ahead.advance(Duration::ZERO, |physics, step| {
                blow(physics, step.start_time, ball);
            });
            position(&ahead.physics, ball)
        })
        .collect();
    assert_eq!(preview(&simulation.physics, ball), path);
}

#[test]
fn a_preview_without_the_hook_gives_another_path() {
    let (simulation, ball) = before_the_throw(17);
    let mut ahead = simulation.physics.clone();
    ahead.apply_impulse(ball, THROW).unwrap();
    let ahead = ahead.preview(STEPS, |_, _| ());
    let path = preview(&simulation.physics, ball);
    assert_ne!(position(&ahead, ball), path[STEPS as usize - 1]);
}
