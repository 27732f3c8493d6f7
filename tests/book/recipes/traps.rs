//! What goes wrong easily, and what the book says to do instead.

use super::{SECOND, position};
use evenstep::input::TickQueue;
use evenstep::rapier::prelude::*;
use evenstep::time::FrameTimer;
use evenstep::{Rate, Simulation, Smoothing};
use recipes::portal::seen_from_entry;
use scenes::{space, with_floor};
use std::time::Duration;

/// Draws a ball at 5 m/s on a machine that manages one step per frame. Returns the slowest and the fastest drawn speed.
fn drawn_speeds(frames_per_second: u32, limit: fn(&mut Simulation)) -> [f32; 2] {
    let mut simulation = space(60);
    limit(&mut simulation);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 5.0);
    let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let mut last = None;
    let mut speeds = [f32::MAX, f32::MIN];
    for frame in 0..400 {
        simulation.advance(SECOND / frames_per_second, |_, _| ());
        let now = simulation.pose(ball).unwrap().translation.x;
        if let Some(last) = last.replace(now).filter(|_| frame > 60) {
            let speed = (now - last) * frames_per_second as f32 / 5.0;
            speeds = [speeds[0].min(speed), speeds[1].max(speed)];
        }
    }
    speeds
}

#[test]
fn a_limit_of_the_frame_time_draws_a_slow_machine_evenly_and_a_limit_of_steps_does_not() {
    for frames_per_second in [45, 55] {
        let by_time = drawn_speeds(frames_per_second, |simulation| {
            (simulation.clock_settings_mut()).set_max_frame_time(Rate::hz(60).period());
        });
        assert!(by_time[1] - by_time[0] < 0.01, "{by_time:?}");
        let by_steps = drawn_speeds(frames_per_second, |simulation| {
            (simulation.clock_settings_mut()).set_max_steps_per_frame(Some(1));
        });
        assert!(by_steps[1] - by_steps[0] > 0.5, "{by_steps:?}");
    }
}

/// Where the hand of a player is, who walks and holds it in front of him.
fn hand(player: Vector) -> Vector {
    player + Vector::new(0.0, 1.2, -0.4)
}

/// Returns the largest distance of the drawn object from the drawn hand, while the player walks at 3 m/s. `ahead` is
/// whether the game takes the player's pose after the step that begins.
fn gap_while_walking(ahead: bool, frames_per_second: u32) -> f32 {
    let mut simulation = space(90);
    let player = RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X * 3.0);
    let player = simulation
        .physics
        .insert(player, ColliderBuilder::ball(0.3));
    let held = RigidBodyBuilder::kinematic_position_based().translation(hand(Vector::ZERO));
    let held = simulation.physics.insert(held, ColliderBuilder::ball(0.05));
    let extrapolate = Some(Smoothing::Extrapolate);
    (simulation.physics)
        .set_body_smoothing(held, extrapolate)
        .unwrap();
    let mut largest = 0.0_f32;
    for frame in 0..200 {
        simulation.advance(SECOND / frames_per_second, |physics, step| {
            let body = physics.body(player).unwrap();
            let lead = if ahead {
                body.linvel() * step.dt
            } else {
                Vector::ZERO
            };
            let to = hand(body.translation() + lead);
            let held = physics.body_mut(held).unwrap();
            held.set_next_kinematic_translation(to);
        });
        if frame > 20 {
            let [drawn, at] = [held, player].map(|key| simulation.pose(key).unwrap().translation);
            largest = largest.max(drawn.distance(hand(at)));
        }
    }
    largest
}

#[test]
fn a_held_object_stays_in_the_hand_of_a_player_that_walks() {
    for frames_per_second in [72, 90, 120] {
        assert!(gap_while_walking(true, frames_per_second) > 0.03);
        let gap = gap_while_walking(false, frames_per_second);
        assert!(gap < 0.001, "{gap}");
    }
}

#[test]
fn a_body_is_drawn_on_the_right_side_of_a_portal() {
    const ENTRY: f32 = 2.0;
    let by = Pose::translation(100.0, 0.0, 0.0);
    for frames_per_second in [144, 240, 1_000] {
        let mut simulation = space(60);
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
        let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.2));
        let (mut is_through, mut crossed) = (false, false);
        for _ in 0..frames_per_second {
            simulation.begin_frame(SECOND / frames_per_second);
            while simulation.next_step().is_some() {
                simulation.run_step();
                // After the step, so that the drawn pose has not passed the entry yet.
                let x = simulation.physics.body(ball).unwrap().translation().x;
                if !is_through && x >= ENTRY {
                    simulation.physics.teleport_by(ball, by).unwrap();
                    is_through = true;
                }
            }
            simulation.end_frame();
            let drawn = simulation.pose(ball).unwrap();
            let x = seen_from_entry(drawn, by, is_through, ENTRY).translation.x;
            // Never past the entry on this side, nor before the exit on the other one.
            assert!(x <= ENTRY + 1e-4 || x >= 100.0 + ENTRY - 1e-4, "{x}");
            crossed |= x > 100.0;
        }
        assert!(crossed);
    }
}

#[test]
fn a_second_match_begins_with_a_new_queue() {
    let mut queue = TickQueue::new(0, 60);
    let mut simulation = space(60);
    for _ in 0..50 {
        simulation.advance(SECOND / 60, |_, step| queue.drain(step).for_each(drop));
    }
    queue
        .push(simulation.physics.tick() + 20, "left over")
        .unwrap();
    // The next match begins at tick 0.
    let mut simulation = space(60);
    assert!(
        queue.push(1, "jump").is_err(),
        "the old queue takes it for late"
    );
    queue = TickQueue::new(simulation.physics.tick(), 60);
    queue.push(1, "jump").unwrap();
    let mut got = Vec::new();
    for _ in 0..200 {
        simulation.advance(SECOND / 60, |_, step| {
            got.extend(queue.drain(step).map(|input| (step.tick, input)));
        });
    }
    assert_eq!(got, [(1, "jump")]);
}

/// Rides on a copy of a platform that a simulation at 20 Hz moves. Returns how far the rider ends from it.
fn ride(with_target: bool) -> f32 {
    let [mut slow, mut fast] = [20, 60].map(|hz| Simulation::new(Rate::hz(hz)));
    let platform = || RigidBodyBuilder::kinematic_position_based();
    let floor = || ColliderBuilder::cuboid(2.0, 0.1, 2.0).friction(1.0);
    let original = slow.physics.insert(platform(), floor());
    let copy = fast.physics.insert(platform(), floor());
    let rider = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.6);
    let rider = fast
        .physics
        .insert(rider, ColliderBuilder::cuboid(0.5, 0.5, 0.5).friction(1.0));
    let to = Pose::translation(2.5, 0.0, 0.0);
    (slow.physics)
        .set_kinematic_target(original, to, 5 * SECOND)
        .unwrap();
    for _ in 0..4 * 144 {
        let steps = slow.advance(SECOND / 144, |_, _| ()).steps;
        if steps > 0 {
            let pose = position(&slow.physics, original);
            if with_target {
                // The copy arrives at the end of the slow step, seen from the fast clock.
                let time = slow.physics.time() + Rate::hz(20).period();
                fast.physics.set_kinematic_target(copy, pose, time).unwrap();
            } else {
                let body = fast.physics.body_mut(copy).unwrap();
                body.set_next_kinematic_position(pose);
            }
        }
        fast.advance(SECOND / 144, |_, _| ());
    }
    let at = |key| position(&fast.physics, key).translation;
    (at(rider).x - at(copy).x).abs()
}

#[test]
fn a_rider_stays_on_a_copy_that_is_led_to_the_end_of_the_slow_step() {
    assert!(ride(true) < 0.05, "{}", ride(true));
    assert!(ride(false) > 0.3, "{}", ride(false));
}

#[test]
fn an_unchanged_shape_keeps_a_body_awake_and_an_unchanged_position_does_not() {
    let mut simulation = with_floor(Rate::hz(60));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.5);
    let crate_ = simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5));
    let collider = simulation.physics.body(crate_).unwrap().colliders()[0];
    for (with_shape, is_asleep) in [(false, true), (true, false)] {
        for _ in 0..200 {
            simulation.advance(SECOND / 60, |physics, _| {
                if with_shape {
                    let shape = SharedShape::cuboid(0.5, 0.5, 0.5);
                    physics.collider_mut(collider).unwrap().set_shape(shape);
                }
                let body = physics.body_mut(crate_).unwrap();
                let (position, velocity) = (*body.position(), body.linvel());
                body.set_position(position, true);
                body.set_linvel(velocity, true);
            });
        }
        let body = simulation.physics.body(crate_).unwrap();
        assert_eq!(body.is_sleeping(), is_asleep, "{with_shape}");
    }
}

#[test]
fn a_body_that_becomes_dynamic_without_waking_hangs_in_the_air() {
    for wakes in [true, false] {
        let mut simulation = Simulation::default();
        let body = RigidBodyBuilder::kinematic_position_based().translation(Vector::Y * 5.0);
        let lamp = simulation.physics.insert(body, ColliderBuilder::ball(0.1));
        for _ in 0..60 {
            simulation.advance(SECOND / 60, |_, _| ());
        }
        let body = simulation.physics.body_mut(lamp).unwrap();
        body.set_body_type(RigidBodyType::Dynamic, wakes);
        for _ in 0..60 {
            simulation.advance(SECOND / 60, |_, _| ());
        }
        let fell = 5.0 - position(&simulation.physics, lamp).translation.y;
        assert_eq!(fell > 4.0, wakes, "{fell}");
    }
}

/// The present-timing feedback of a display reports when a frame was displayed, some frames later.
#[test]
fn feedback_that_is_late_by_frames_tells_when_the_next_frame_will_be_displayed() {
    let period = Duration::from_nanos(6_944_444);
    let display = |frame: u64| SECOND + period * u32::try_from(frame).unwrap();
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 5.0);
    let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let mut timer = FrameTimer::new(display(0), simulation.clock().real_time());
    let mut drawn = Vec::new();
    for frame in 1..300_u64 {
        // The newest report is that of the third frame before this one.
        let reported = frame.saturating_sub(3);
        let frames_since = u32::try_from(frame - reported).unwrap();
        let expected = display(reported) + period * frames_since;
        simulation.advance(timer.frame(expected), |_, _| ());
        drawn.push(simulation.pose(ball).unwrap().translation.x);
    }
    let motion: Vec<f32> = drawn
        .windows(2)
        .map(|two| two[1] - two[0])
        .skip(10)
        .collect();
    let even = 5.0 * period.as_secs_f32();
    assert!(motion.iter().all(|it| (it - even).abs() < 1e-4));
}
