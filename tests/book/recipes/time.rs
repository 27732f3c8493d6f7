//! Hit-stop, a body in slow motion, and enemies that think ten times per second.

use super::{at_tick, poses, position};
use evenstep::rapier::prelude::*;
use evenstep::{Physics, Rate, Step};
use recipes::hit_stop;
use recipes::thinking::{Enemy, steer};
use scenes::{space, with_floor};
use std::time::Duration;

/// Returns the number of frames without motion, and the pose of a ball that hits a wall, before step 120.
fn hit(has_hit_stop: bool, speed: f64) -> (usize, Pose) {
    let mut simulation = space(60);
    let wall = RigidBodyBuilder::fixed().translation(Vector::X * 5.0);
    simulation
        .physics
        .insert(wall, ColliderBuilder::cuboid(0.5, 5.0, 5.0));
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 6.0);
    let collider = ColliderBuilder::ball(0.5).restitution(1.0);
    let collider = collider.active_events(ActiveEvents::COLLISION_EVENTS);
    let ball = simulation.physics.insert(body, collider);
    let (mut until, mut stopped, mut end) = (Duration::ZERO, 0, None);
    while end.is_none() {
        let frame_time = Duration::from_millis(10);
        hit_stop::frame(
            &mut simulation,
            &mut until,
            frame_time,
            speed,
            |physics, step| {
                if step.tick == 120 {
                    end = Some(position(physics, ball));
                }
            },
        );
        if !has_hit_stop {
            until = Duration::ZERO;
        }
        stopped += usize::from(simulation.moved().is_empty());
    }
    (stopped, end.unwrap())
}

#[test]
fn a_hit_stop_stops_the_picture_and_changes_no_step() {
    let ((stopped, with), (never, without)) = (hit(true, 1.0), hit(false, 1.0));
    assert_eq!((stopped, never), (8, 0));
    assert_eq!(with, without);
    // In slow motion it lasts as long. A new body waits two frames for its second step.
    let ((stopped, with), (waiting, never)) = (hit(true, 0.5), hit(false, 0.5));
    assert_eq!((stopped - waiting, with, never), (8, without, without));
}

#[test]
fn a_second_simulation_at_a_quarter_of_the_speed_is_the_same_fall() {
    let world = || {
        let mut simulation = with_floor(Rate::hz(60));
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 5.0);
        let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
        (simulation, ball)
    };
    let ((mut usual, ball), (mut slow, slow_ball)) = (world(), world());
    slow.clock_settings_mut().set_speed(0.25).unwrap();
    let (mut heights, mut slow_heights) = (Vec::new(), Vec::new());
    for _ in 0..240 {
        let frame_time = Duration::from_millis(12);
        usual.advance(frame_time, |_, _| ());
        slow.advance(frame_time, |_, _| ());
        heights.push(usual.pose(ball).unwrap().translation.y);
        slow_heights.push(slow.pose(slow_ball).unwrap().translation.y);
    }
    let every_fourth: Vec<f32> = slow_heights.into_iter().skip(3).step_by(4).collect();
    assert_eq!(every_fourth, heights[..60]);
    assert!(heights[59] < 3.0, "{} m", heights[59]);
}

#[test]
fn enemies_that_think_at_10_hz_move_alike_at_every_frame_rate() {
    let run = |frames_per_second| {
        let mut simulation = space(60);
        let mut enemies: Vec<Enemy> = (0..8u8)
            .map(|i| {
                let body = RigidBodyBuilder::dynamic();
                let body = body.translation(Vector::Y * 2.0 * f32::from(i));
                let ball = ColliderBuilder::ball(0.5).mass(2.0);
                let key = simulation.physics.insert(body, ball);
                let steering = Vector::ZERO;
                Enemy { key, steering }
            })
            .collect();
        let hook = |physics: &mut Physics, step: Step| {
            let target = Vector::X * 3.0 * step.start_time.as_secs_f32();
            steer(&mut enemies, physics, step, target);
        };
        at_tick(180, frames_per_second, simulation, hook, poses)
    };
    let reference = run(60);
    assert!(reference[7].translation.x > 1.0);
    for frames_per_second in [15, 144, 240] {
        assert_eq!(run(frames_per_second), reference);
    }
}
