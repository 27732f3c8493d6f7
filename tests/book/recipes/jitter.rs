//! The causes of jitter that the book lists, each with its cure.

use super::SECOND;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation, Smoothing, Step};
use scenes::space;
use std::time::Duration;

/// Returns how deep in a wall a ball is drawn, in metres.
fn depth(smoothing: Smoothing) -> f32 {
    let mut simulation = space(60);
    simulation.smoothing = smoothing;
    let wall = RigidBodyBuilder::fixed().translation(Vector::X * 5.0);
    let collider = ColliderBuilder::cuboid(0.5, 5.0, 5.0).restitution(1.0);
    simulation.physics.insert(wall, collider);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let ball = ColliderBuilder::ball(0.5).restitution(1.0);
    let ball = simulation.physics.insert(body.ccd_enabled(true), ball);
    let depths = (0..400).map(|_| {
        simulation.advance(SECOND / 240, |_, _| ());
        simulation.pose(ball).unwrap().translation.x + 0.5 - 4.5
    });
    depths.fold(0.0, f32::max)
}

#[test]
fn extrapolation_draws_a_ball_inside_the_wall_that_it_hits() {
    let interpolated = depth(Smoothing::Interpolate);
    assert!(interpolated < 0.03, "{interpolated} m");
    let extrapolated = depth(Smoothing::Extrapolate);
    assert!(extrapolated > interpolated + 0.05, "{extrapolated} m");
}

/// A body that moves at this speed, and its simulation.
fn runner(rate: u32, speed: f32, smoothing: Smoothing) -> (Simulation, BodyKey) {
    let mut simulation = space(rate);
    simulation.smoothing = smoothing;
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * speed);
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    (simulation, key)
}

/// Returns how far behind the clock frames are drawn, in seconds: at best, and at worst.
fn latency(rate: u32, smoothing: Smoothing) -> [f32; 2] {
    let (mut simulation, key) = runner(rate, 1.0, smoothing);
    let (mut best, mut worst) = (f32::MAX, f32::MIN);
    for frame in 0..500 {
        let frame_time = Duration::from_micros(4_000 + frame * 7_919 % 6_001);
        simulation.advance(frame_time, |_, _| ());
        if simulation.physics.tick() > 2 {
            let drawn = simulation.pose(key).unwrap().translation.x; // at 1 m/s: seconds
            let latency = simulation.clock().time().as_secs_f32() - drawn;
            (best, worst) = (best.min(latency), worst.max(latency));
        }
    }
    [best, worst]
}

#[test]
fn interpolation_is_exactly_one_step_behind_the_clock() {
    let check = |[best, worst]: [f32; 2], from: f32, to: f32| {
        let is_near = (best - from).abs() < 2e-4 && (worst - to).abs() < 2e-4;
        assert!(is_near, "{best} to {worst} s");
    };
    let interpolate = Smoothing::Interpolate;
    check(latency(60, interpolate), 1.0 / 60.0, 1.0 / 60.0);
    check(latency(120, interpolate), 1.0 / 120.0, 1.0 / 120.0);
    check(latency(60, Smoothing::Extrapolate), 0.0, 0.0);
    check(latency(60, Smoothing::Latest), 0.0, 1.0 / 60.0); // varies: stutter
}

/// Runs frames at 59.94 Hz with a jitter of up to 0.5 ms. Returns how many have no step or two, and the largest
/// deviation from even motion in a frame, in metres.
fn at_59_94_hz(smoothing: Smoothing) -> (u32, f32) {
    let (mut simulation, key) = runner(60, 6.0, smoothing);
    let (mut odd, mut worst, mut last) = (0, 0.0_f32, 0.0);
    for frame in 0..600_u64 {
        let frame_time = Duration::from_micros(16_183 + frame * 7_919 % 1_001);
        let steps = simulation.advance(frame_time, |_, _| ()).steps;
        let drawn = simulation.pose(key).unwrap().translation.x;
        if frame > 4 {
            odd += u32::from(steps != 1);
            worst = worst.max((drawn - last - 6.0 * frame_time.as_secs_f32()).abs());
        }
        last = drawn;
    }
    (odd, worst)
}

#[test]
fn a_display_near_60_hz_stutters_at_60_steps_per_second_without_interpolation() {
    let (odd, latest) = at_59_94_hz(Smoothing::Latest);
    assert!(odd > 4, "{odd} of 595 frames");
    assert!(latest > 0.09, "{latest} m"); // a whole step
    let (_, interpolated) = at_59_94_hz(Smoothing::Interpolate);
    assert!(interpolated < 1e-4, "{interpolated} m");
}

/// Returns the largest difference between two successive motions per frame, in metres.
fn unevenness(reads_again: bool) -> f32 {
    let (mut simulation, key) = runner(60, 10.0, Smoothing::Interpolate);
    let (mut read, mut drawn) = (Duration::ZERO, Vec::new());
    for refresh in 1..300 {
        let now = SECOND * refresh / 144;
        let frame = simulation.advance(now - read, |_, _| ());
        read = now;
        if reads_again && frame.steps > 0 {
            let cost = Duration::from_millis(5); // of a step
            simulation.advance(cost, |_, _| ());
            read += cost;
        }
        drawn.push(simulation.pose(key).unwrap().translation.x);
    }
    let moved: Vec<f32> = drawn.windows(2).map(|two| two[1] - two[0]).collect();
    let changes = moved[20..].windows(2).map(|two| (two[1] - two[0]).abs());
    changes.fold(0.0, f32::max)
}

#[test]
fn a_clock_that_is_read_again_after_the_steps_makes_motion_uneven() {
    assert!(unevenness(false) < 0.001);
    assert!(unevenness(true) > 0.04); // 5 ms at 10 m/s
}

/// Returns the largest deviation from an even turn, in radians per frame, of a body whose rotations are locked and that
/// `turn` turns by the given angle in each step.
fn uneven_turn(turn: fn(&mut RigidBody, f32, Step)) -> f32 {
    const ANGLE: f32 = 0.05; // radians per step
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().lock_rotations();
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let drawn = (0..60).map(|_| {
        simulation.advance(SECOND / 144, |physics, step| {
            turn(physics.body_mut(key).unwrap(), ANGLE, step);
        });
        let rotation = simulation.pose(key).unwrap().rotation;
        rotation.to_scaled_axis().y
    });
    let drawn: Vec<f32> = drawn.collect();
    let even = ANGLE * 60.0 / 144.0;
    let turned = drawn[10..].windows(2).map(|two| two[1] - two[0]);
    turned.fold(0.0, |worst, by| worst.max((by - even).abs()))
}

#[test]
fn a_body_that_is_turned_in_each_step_needs_an_angular_velocity() {
    let set = uneven_turn(|body, angle, _| {
        let turned = Rotation::from_rotation_y(angle) * *body.rotation();
        body.set_rotation(turned, true);
    });
    assert!(set > 0.02, "{set}"); // more than in an even frame
    let spun = uneven_turn(|body, angle, step| {
        body.set_angvel(Vector::Y * (angle / step.dt), true);
    });
    assert!(spun < 1e-4, "{spun}");
}
