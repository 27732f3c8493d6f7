//! Your own values between two steps: each loop interpolates them at the time of the poses.

use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, channel};

use crate::scenes::testing::translation;
use crate::scenes::{MS, flyer_in_space, shown_x};
use evenstep::rapier::prelude::*;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{BodyKey, Hooks, Interpolated, Physics, Rate, Simulation, Step};

fn lerp(a: &f32, b: &f32, t: f32) -> f32 {
    a + (b - a) * t
}

fn x(physics: &Physics, key: BodyKey) -> f32 {
    physics.body(key).unwrap().translation().x
}

/// Sets the value to its body's position after each step, and sends it.
struct Follower {
    key: BodyKey,
    x: Interpolated<f32>,
    sent: Option<Sender<(u64, f32)>>,
}

impl Hooks for Follower {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        // The body moves to and fro, so that a value that is a step late or early is noticed.
        let side = if step.tick % 7 < 4 { 90.0 } else { -110.0 };
        let body = physics.body_mut(self.key).unwrap();
        body.set_linvel(Vector::X * side, true);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        let x = x(physics, self.key);
        self.x.set(step.tick, x);
        if let Some(sent) = &self.sent {
            let _ = sent.send((step.tick, x));
        }
        Ok(())
    }
}

fn scene() -> (Simulation, Follower) {
    let (simulation, key) = flyer_in_space();
    let x = Interpolated::new(0.0);
    (simulation, Follower { key, x, sent: None })
}

fn with_channel() -> (Simulation, Follower, Receiver<(u64, f32)>) {
    let (simulation, mut follower) = scene();
    let (to, from) = channel();
    follower.sent = Some(to);
    (simulation, follower, from)
}

/// Asserts that a value is at the displayed position of the body that it follows.
#[track_caller]
fn assert_there(value: f32, pose: f32) {
    assert!((value - pose).abs() < 1e-4, "{value} is not {pose}");
}

#[test]
fn an_interpolated_value_follows_its_displayed_body_in_every_frame() {
    let (mut simulation, mut follower) = scene();
    let mut between = 0;
    for number in 0..400u64 {
        match number {
            100 => simulation.set_speed(0.3).unwrap(),
            150 => simulation.pause(),
            160 => simulation.resume(),
            200 => simulation
                .clock_settings_mut()
                .set_rate(Rate::hz(48).unwrap()),
            _ => (),
        }
        // Frames without a step, and with many.
        let frame_time = if number % 50 == 49 {
            MS(120)
        } else {
            MS(number * 7 % 23)
        };
        let Ok(frame) = simulation.advance_with(frame_time, &mut follower);
        let shown = follower.x.at(frame.tick, frame.alpha, lerp);
        assert_there(shown, shown_x(&simulation, follower.key));
        between += u32::from((shown - follower.x.latest()).abs() > 0.1);
    }
    assert!(between > 100, "{between} frames between two states");
}

#[test]
fn resimulated_steps_replace_interpolated_values() {
    let (mut simulation, mut follower) = scene();
    simulation.set_rewind_limits(20, usize::MAX);
    for _ in 0..30 {
        let Ok(_) = simulation.advance_with(MS(7), &mut follower);
    }
    let tick = simulation.physics.tick();
    simulation.roll_back(tick - 9).unwrap();
    // The velocities are not those of the first run.
    let (key, value) = (follower.key, &mut follower.x);
    while let Some(step) = simulation.next_step() {
        simulation
            .physics
            .body_mut(key)
            .unwrap()
            .set_linvel(Vector::X, true);
        assert!(simulation.make_step());
        value.set(step.tick, x(&simulation.physics, key));
        assert_eq!(*value.latest(), x(&simulation.physics, key));
    }
    simulation.end_frame();
    let tick = simulation.physics.tick();
    assert_eq!(value.at(tick, 1.0, lerp), x(&simulation.physics, key));
    // One step of 10 ms at 1 m/s.
    assert_there(
        value.at(tick, 0.0, lerp),
        x(&simulation.physics, key) - 0.01,
    );
}

#[test]
fn a_jump_is_never_interpolated() {
    let (mut simulation, mut follower) = scene();
    let mut jumped = false;
    for number in 0..60u64 {
        simulation.advance(MS(3), |physics, step| {
            let key = follower.key;
            let x = step.tick as f32;
            if step.tick % 5 == 4 {
                physics
                    .teleport(key, translation(100.0 * x, 0.0, 0.0))
                    .unwrap();
                follower.x.jump(step.tick, 100.0 * x);
            } else {
                follower.x.set(step.tick, x);
            }
        });
        let frame = simulation.frame();
        let shown = follower.x.at(frame.tick, frame.alpha, lerp);
        if frame.tick % 5 == 0 && frame.tick > 0 {
            jumped = true;
            assert_eq!(shown, 100.0 * (frame.tick - 1) as f32, "frame {number}");
        } else if frame.tick > 2 && frame.tick % 5 != 1 {
            assert!(
                shown <= frame.tick as f32,
                "frame {number} displays {shown}"
            );
        }
    }
    assert!(jumped);
}

#[test]
fn a_step_that_sets_nothing_keeps_the_previous_value() {
    let mut value = Interpolated::new(1.0);
    assert_eq!(value.at(0, 0.5, lerp), 1.0);
    assert_eq!(value.at(9, 0.5, lerp), 1.0);
    value.set(3, 2.0);
    let at = |tick| value.at(tick, 0.5, lerp);
    assert_eq!([3, 4, 5, u64::MAX].map(at), [1.0, 1.5, 2.0, 2.0]);
    value.set(3, 4.0);
    assert_eq!(value.at(4, 0.5, lerp), 2.5);
    // The last value of a step holds, whether it jumps or not.
    value.jump(3, 5.0);
    assert_eq!(value.at(4, 0.5, lerp), 5.0);
    value.set(3, 5.0);
    assert_eq!(value.at(4, 0.5, lerp), 3.0);
}

#[test]
fn the_values_of_64_steps_are_kept() {
    let mut value = Interpolated::new(0);
    for tick in 0..1_000 {
        value.set(tick, tick + 1);
    }
    let half = |a: &u64, b: &u64, _: f32| a + b;
    assert_eq!(value.at(938, 0.5, half), 937 + 938);
    assert_eq!(value.at(937, 0.5, half), 936 + 937);
    // Earlier ticks have the oldest value.
    assert_eq!(value.at(936, 0.5, half), 936);
    assert_eq!(value.at(3, 0.5, half), 936);
}

#[test]
fn with_overlap_an_interpolated_value_follows_its_displayed_body() {
    let (simulation, mut follower) = scene();
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut between = 0;
    for number in 0..200u64 {
        let Ok(view) = overlap.frame(MS(number * 7 % 23), &mut follower);
        let shown = follower.x.at(view.tick(), view.alpha(), lerp);
        if let Some(pose) = view.pose(follower.key) {
            assert_there(shown, pose.translation.x);
            between += u32::from((shown - follower.x.latest()).abs() > 0.1);
        }
    }
    assert!(between > 100, "{between} frames between two states");
}

#[test]
fn with_a_runner_early_values_wait_for_their_step() {
    let (simulation, follower, received) = with_channel();
    let key = follower.key;
    let mut runner = Runner::new(simulation, follower, RunnerSettings::default()).unwrap();
    let mut value = Interpolated::new(0.0);
    while runner.view().tick() < 100 {
        runner.frame();
        for (tick, x) in received.try_iter() {
            value.set(tick, x);
        }
        let view = runner.view();
        let shown = value.at(view.tick(), view.alpha(), lerp);
        if let Some(pose) = view.pose(key) {
            assert_there(shown, pose.translation.x);
        }
        std::thread::yield_now();
    }
}
