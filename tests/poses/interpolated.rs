//! Your own values between two steps: each loop interpolates them at the time of the poses.

use evenstep::rewind::Kept;
use std::convert::Infallible;
use std::sync::mpsc::{Receiver, Sender, channel};

use evenstep::rapier::prelude::*;
use evenstep::render::Interpolated;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use scenes::testing::translation;
use scenes::{MS, flyer_in_space, shown_x};

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
            100 => simulation.clock_settings_mut().set_speed(0.3).unwrap(),
            150 => simulation.pause(),
            160 => simulation.resume(),
            200 => simulation.clock_settings_mut().set_rate(Rate::hz(48)),
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
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
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
        assert!(simulation.run_step());
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
    // The last value of a step counts.
    value.set(3, 4.0);
    assert_eq!(value.at(4, 0.5, lerp), 2.5);
}

#[test]
fn a_step_that_jumped_jumps_to_its_last_value() {
    let mut value = Interpolated::new(0.0);
    value.set(2, 1.0);
    for calls in [[true, false], [false, true], [true, true]] {
        for (jumps, to) in calls.into_iter().zip([100.0, 101.0]) {
            if jumps {
                value.jump(3, to);
            } else {
                value.set(3, to);
            }
        }
        assert_eq!(value.at(4, 0.5, lerp), 101.0, "{calls:?}");
        // The jump belongs to its step alone.
        value.set(4, 103.0);
        assert_eq!(value.at(5, 0.5, lerp), 102.0);
        // Step 2 is resimulated: the jump after it is forgotten.
        value.set(2, 1.0);
        value.set(3, 3.0);
        assert_eq!(value.at(4, 0.5, lerp), 2.0);
    }
}

#[test]
fn a_resimulated_step_jumps_only_if_it_jumps_again() {
    let mut value = Interpolated::new(0.0);
    let mut run = |first: u8, jumps: bool| {
        for tick in first..6 {
            if jumps && tick == 3 {
                value.jump(3, 50.0);
            }
            value.set(tick.into(), tick.into());
        }
        value.at(4, 0.5, lerp)
    };
    assert_eq!(run(0, false), 2.5);
    for rollback_to in [0, 2, 3] {
        assert_eq!(run(rollback_to, true), 3.0);
        assert_eq!(run(rollback_to, false), 2.5, "back to {rollback_to}");
    }
    // A single resimulated step sets its value like the second call in the step.
    value.jump(6, 6.0);
    value.set(6, 7.0);
    assert_eq!(value.at(7, 0.5, lerp), 7.0);
}

#[test]
fn a_restart_does_not_begin_with_a_later_value() {
    for (steps, before_restart) in [(64, -1.0), (65, 7.0), (300, 7.0)] {
        let mut value = Interpolated::new(-1.0);
        for tick in 0..steps {
            value.set(tick, tick as f32);
        }
        // After more than 64 steps, the value before the first step is not kept.
        value.set(0, 7.0);
        assert_eq!(value.at(1, 0.0, lerp), before_restart);
        assert_eq!(value.at(0, 0.5, lerp), before_restart);
        assert_eq!(value.at(1, 1.0, lerp), 7.0);
        assert_eq!(*value.latest(), 7.0);
        value.set(0, 8.0);
        value.set(1, 10.0);
        assert_eq!([1, 2].map(|tick| value.at(tick, 1.0, lerp)), [8.0, 10.0]);
        assert_eq!(value.at(2, 0.5, lerp), 9.0);
    }
}

#[test]
fn a_rollback_of_64_steps_interpolates_its_first_step_and_a_longer_one_does_not() {
    for (back, expected) in [(64, 35.5), (65, 35.0), (66, 34.0)] {
        let mut value = Interpolated::new(0.0);
        for tick in 0..100 {
            value.set(tick, tick as f32);
        }
        for tick in 100 - back..100 {
            value.set(tick, tick as f32);
            let is_first = tick == 100 - back;
            let expected = if is_first {
                expected
            } else {
                tick as f32 - 0.5
            };
            assert_eq!(value.at(tick + 1, 0.5, lerp), expected, "{back} steps");
        }
    }
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
