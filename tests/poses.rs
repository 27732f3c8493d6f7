//! What a frame shows, case by case.

mod scenes;

use crate::scenes::testing::{ball_joint, spin, translation};
use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Physics, Rate, Simulation, Step, interpolate};
use scenes::{MS, advance, assert_near, ball, flyer, moved_keys, shown_x};
use std::time::Duration;

/// Free space at 100 steps a second, so that a step is 10 ms.
fn space() -> Simulation {
    scenes::space(100)
}

fn at(x: f32) -> Pose {
    translation(x, 0.0, 0.0)
}

#[test]
fn a_new_body_is_shown_where_it_was_spawned() {
    let mut simulation = space();
    let key = simulation
        .physics
        .insert(flyer().translation(Vector::X * 7.0), ball());
    assert_eq!(simulation.pose(key), Some(at(7.0)));
    advance(&mut simulation, 5); // no step
    assert_eq!(simulation.pose(key), Some(at(7.0)));
    assert_eq!(
        simulation.moved(),
        [(key, at(7.0))],
        "a host is told of it once"
    );
    advance(&mut simulation, 1);
    assert_eq!(simulation.moved(), []);
}

#[test]
fn the_first_step_starts_from_the_spawn_pose() {
    let mut simulation = space();
    let key = simulation
        .physics
        .insert(flyer().translation(Vector::X * 7.0), ball());
    advance(&mut simulation, 12);
    assert_eq!(previous_pose(&simulation, key), Some(at(7.0)));
    assert_near(shown_x(&simulation, key), 7.2);
}

#[test]
fn a_body_spawned_in_a_hook_starts_from_its_spawn_pose_in_that_step() {
    let mut simulation = space();
    let mut key = None;
    simulation.advance(MS(35), |physics, step| {
        if step.tick == 1 {
            key = Some(physics.insert(flyer(), ball()));
        }
    });
    let key = key.unwrap();
    assert_near(previous_pose(&simulation, key).unwrap().translation.x, 1.0);
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 2.0);
}

#[test]
fn a_body_changed_right_after_it_was_spawned_starts_from_there() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_position(at(50.0), true);
    let other = simulation.physics.insert(flyer(), ball());
    let handle = simulation.physics.handle(other).unwrap();
    simulation.physics.rapier_mut().bodies[handle].set_position(at(60.0), true);
    advance(&mut simulation, 10);
    assert_eq!(previous_pose(&simulation, key), Some(at(50.0)));
    assert_eq!(previous_pose(&simulation, other), Some(at(60.0)));
}

#[test]
fn a_frame_without_a_step_keeps_the_pair_and_moves_on() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 10);
    let pair = (
        previous_pose(&simulation, key),
        current_pose(&simulation, key),
    );
    for ms in 1..10 {
        advance(&mut simulation, 1);
        assert_eq!(
            (
                previous_pose(&simulation, key),
                current_pose(&simulation, key)
            ),
            pair
        );
        assert_near(shown_x(&simulation, key), ms as f32 / 10.0);
        assert_eq!(moved_keys(&simulation), [key]);
    }
}

#[test]
fn several_steps_in_a_frame_show_the_last_two_states() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 104);
    assert_near(previous_pose(&simulation, key).unwrap().translation.x, 9.0);
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 10.0);
    assert_near(shown_x(&simulation, key), 9.4);
}

#[test]
fn every_way_to_ask_for_a_pose_agrees() {
    let mut simulation = space();
    let key = simulation
        .physics
        .insert(flyer().angvel(spin(30.0, 20.0, 10.0)), ball());
    advance(&mut simulation, 33);
    let frame = simulation.frame();
    let (previous, current) = (
        previous_pose(&simulation, key).unwrap(),
        current_pose(&simulation, key).unwrap(),
    );
    let pose = simulation.pose(key).unwrap();
    assert_eq!(pose, interpolate(&previous, &current, frame.alpha));
    let tick = frame.tick;
    assert_eq!(simulation.pose_at(key, tick, frame.alpha), Some(pose));
    assert_eq!(
        simulation.moved(),
        [(key, pose)],
        "the batch and a single call, to the bit"
    );
    assert_eq!(simulation.pose_at(key, tick, 0.0), Some(previous));
    assert_eq!(simulation.pose_at(key, tick, -3.0), Some(previous));
    assert_eq!(simulation.pose_at(key, tick, f32::NAN), Some(previous));
    assert_eq!(
        simulation.pose_at(key, tick, f32::INFINITY),
        simulation.pose_at(key, tick, 1.0)
    );
}

#[test]
fn a_removed_body_stays_in_the_picture_until_the_next_one() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    let kept = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 15);
    let displayed = simulation.pose(key);
    assert!(simulation.physics.remove(key).is_some());
    assert_eq!(
        (simulation.pose(key), displayed.is_some()),
        (displayed, true)
    );
    assert_eq!(
        (
            previous_pose(&simulation, key),
            current_pose(&simulation, key)
        ),
        (None, None)
    );
    assert!(simulation.physics.body(key).is_none() && simulation.physics.body_mut(key).is_none());
    assert!(simulation.physics.handle(key).is_none() && simulation.physics.remove(key).is_none());
    assert_eq!(
        simulation.physics.add_force(key, Vector::X),
        Err(BodyError::Gone(key))
    );
    assert_eq!(
        simulation.physics.teleport(key, at(0.0)),
        Err(BodyError::Gone(key))
    );
    assert_eq!(
        simulation.physics.insert_collider(key, ball()),
        Err(BodyError::Gone(key))
    );
    advance(&mut simulation, 2);
    assert_eq!(simulation.pose(key), None);
    assert_eq!(moved_keys(&simulation), [kept]);
    assert_eq!(simulation.removed(), [key]);
    advance(&mut simulation, 2);
    assert_eq!(simulation.removed(), []);
}

#[test]
fn a_body_spawned_and_removed_between_two_frames_leaves_no_trace() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    simulation.physics.remove(key);
    let frame = simulation.advance(MS(25), |_, _| ());
    assert_eq!((frame.steps, frame.awake), (2, 0));
    assert_eq!(simulation.pose(key), None);
    assert_eq!(simulation.moved(), []);
}

#[test]
fn a_body_in_a_used_slot_never_has_the_pose_of_the_one_before() {
    let mut simulation = space();
    let old = simulation
        .physics
        .insert(flyer().translation(Vector::X * -50.0), ball());
    advance(&mut simulation, 15);
    let slot = simulation.physics.handle(old).unwrap().into_raw_parts().0;
    simulation.physics.remove(old);
    let new = simulation
        .physics
        .insert(flyer().translation(Vector::X * 7.0), ball());
    assert_eq!(
        simulation.physics.handle(new).unwrap().into_raw_parts().0,
        slot
    );
    assert_near(shown_x(&simulation, old), -49.5);
    assert_eq!(simulation.pose(new), Some(at(7.0)));
    advance(&mut simulation, 7);
    assert_near(shown_x(&simulation, new), 7.2);
    assert_eq!(
        (simulation.pose(old), moved_keys(&simulation)),
        (None, vec![new])
    );
}

#[test]
fn a_body_removed_through_rapier_is_noticed() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    let asleep = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().sleeping(true), ball());
    advance(&mut simulation, 15);
    for key in [key, asleep] {
        let handle = simulation.physics.handle(key).unwrap();
        simulation.physics.rapier_mut().remove_body(handle);
        assert_eq!(
            (
                simulation.physics.handle(key),
                simulation.physics.key(handle)
            ),
            (None, None)
        );
        assert_eq!(
            simulation.physics.add_force(key, Vector::X),
            Err(BodyError::Gone(key))
        );
    }
    // Its slot is used again by a body that has no key.
    let stranger = simulation
        .physics
        .rapier_mut()
        .insert_body(RigidBodyBuilder::dynamic());
    assert_eq!(simulation.physics.key(stranger), None);
    advance(&mut simulation, 15);
    assert_eq!(simulation.moved(), []);
    let mut removed = simulation.removed().to_vec();
    removed.sort();
    let mut expected = vec![key, asleep];
    expected.sort();
    assert_eq!(removed, expected);
    let tracked = simulation.physics.track(stranger).unwrap();
    assert_eq!(
        simulation.physics.track(stranger),
        Some(tracked),
        "the same key again"
    );
    assert_eq!(simulation.physics.key(stranger), Some(tracked));
    assert_eq!(simulation.pose(key), None);
    assert_eq!(simulation.physics.track(RigidBodyHandle::invalid()), None);
}

/// A crate on the floor, at 100 steps a second, and the number of milliseconds until it sleeps.
fn falling_asleep() -> (Simulation, BodyKey) {
    let mut simulation = scenes::with_floor(Rate::hz(100).unwrap());
    let key = scenes::pile(&mut simulation, 1)[0];
    simulation
        .physics
        .teleport(key, translation(0.0, 0.52, 0.0))
        .unwrap();
    (simulation, key)
}

#[test]
fn a_body_that_falls_asleep_settles_on_its_final_pose_and_is_told_once_more() {
    let (mut simulation, key) = falling_asleep();
    let mut last_moved = 0;
    for frame in 0..2_000 {
        advance(&mut simulation, 7);
        if !simulation.moved().is_empty() {
            last_moved = frame;
        }
    }
    assert!(simulation.physics.body(key).unwrap().is_sleeping());
    assert!((1..1_900).contains(&last_moved));
    assert_eq!(
        simulation.pose(key),
        Some(*simulation.physics.body(key).unwrap().position())
    );
    assert_eq!(simulation.frame().awake, 0);
}

#[test]
fn what_moved_tells_is_what_is_shown_to_the_last_bit() {
    let (mut simulation, key) = falling_asleep();
    let mut shown = None;
    for _ in 0..2_000 {
        advance(&mut simulation, 7);
        for (moved, pose) in simulation.moved() {
            if *moved == key {
                assert_ne!(shown, Some(*pose), "it did not move");
                shown = Some(*pose);
            }
        }
        assert_eq!(shown, simulation.pose(key));
    }
    assert!(simulation.physics.body(key).unwrap().is_sleeping());
}

#[test]
fn a_body_put_to_sleep_while_moving_settles_on_its_final_pose() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 15);
    simulation.physics.body_mut(key).unwrap().sleep();
    advance(&mut simulation, 12);
    let rest = *simulation.physics.body(key).unwrap().position();
    assert_eq!(simulation.pose(key), Some(rest));
    assert_eq!(simulation.moved(), [(key, rest)]);
    advance(&mut simulation, 12);
    assert_eq!(simulation.moved(), []);
}

#[test]
fn a_body_woken_inside_a_step_moves_on_from_where_it_lay() {
    let mut simulation = space();
    let sleeper = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().sleeping(true), ball());
    simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::X * -1.0)
            .linvel(Vector::X * 5.0),
        ball(),
    );
    let mut shown = vec![shown_x(&simulation, sleeper)];
    for _ in 0..200 {
        advance(&mut simulation, 3);
        shown.push(shown_x(&simulation, sleeper));
    }
    assert!(*shown.last().unwrap() > 0.5, "it was not hit");
    let speed = simulation.physics.body(sleeper).unwrap().linvel().x;
    let longest = shown
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(0.0, f32::max);
    assert!(
        longest <= speed * 0.003 * 1.01,
        "a jump of {longest} at {speed} m/s"
    );
}

#[test]
fn a_body_that_wakes_and_falls_asleep_within_one_frame_is_not_missed() {
    let mut simulation = space();
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linear_damping(5.0), ball());
    advance(&mut simulation, 20_000);
    assert_eq!(simulation.frame().awake, 0);
    simulation
        .physics
        .apply_impulse(key, Vector::X * 0.1)
        .unwrap();
    advance(&mut simulation, 20_000);
    assert_eq!(simulation.frame().awake, 0);
    let rest = *simulation.physics.body(key).unwrap().position();
    assert!(rest.translation.x > 0.1, "it has moved");
    assert_eq!(simulation.moved(), [(key, rest)]);
    assert_eq!(simulation.pose(key), Some(rest));
}

#[test]
fn kinematic_bodies_are_interpolated() {
    let mut simulation = space();
    let target = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let speed = RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X * 100.0);
    let speed = simulation.physics.insert(speed, ball());
    simulation.advance(MS(25), |physics, step| {
        let next = Vector::X * (step.tick + 1) as f32;
        physics
            .body_mut(target)
            .unwrap()
            .set_next_kinematic_translation(next);
    });
    assert_near(shown_x(&simulation, target), 1.5);
    assert_near(shown_x(&simulation, speed), 1.5);
}

#[test]
fn a_fixed_body_moved_by_hand_is_shown_there_and_told_once() {
    for through_rapier in [false, true] {
        let mut simulation = space();
        let key = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        advance(&mut simulation, 15);
        advance(&mut simulation, 15);
        assert_eq!(simulation.moved(), []);
        for (place, frame_time) in [(5.0, 10), (6.0, 1)] {
            let handle = simulation.physics.handle(key).unwrap();
            if through_rapier {
                simulation.physics.rapier_mut().bodies[handle].set_position(at(place), true);
            } else {
                simulation
                    .physics
                    .body_mut(key)
                    .unwrap()
                    .set_position(at(place), true);
            }
            advance(&mut simulation, frame_time);
            assert_eq!(simulation.moved(), [(key, at(place))]);
            assert_eq!(simulation.pose(key), Some(at(place)));
            advance(&mut simulation, frame_time);
            assert_eq!(simulation.moved(), []);
        }
    }
}

#[test]
fn a_disabled_body_stays_where_it_was_disabled() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 25);
    simulation.physics.body_mut(key).unwrap().set_enabled(false);
    advance(&mut simulation, 20);
    let rest = *simulation.physics.body(key).unwrap().position();
    assert_eq!(simulation.pose(key), Some(rest));
    advance(&mut simulation, 20);
    assert_eq!(simulation.moved(), []);
    simulation.physics.body_mut(key).unwrap().set_enabled(true);
    advance(&mut simulation, 10);
    assert_eq!(previous_pose(&simulation, key), Some(rest));
    assert_ne!(current_pose(&simulation, key), Some(rest));
}

#[test]
fn a_link_whose_joint_leads_nowhere_is_shown_where_it_was() {
    let mut simulation = space();
    let [root, link] = [0.0, 1.0].map(|x| {
        simulation.physics.insert(
            RigidBodyBuilder::dynamic().translation(Vector::X * x),
            ball(),
        )
    });
    let ends = [root, link].map(|key| simulation.physics.handle(key).unwrap());
    let joint = ball_joint(Vector::ZERO, Vector::NAN);
    simulation
        .physics
        .rapier_mut_except_bodies()
        .insert_multibody_joint(ends[0], ends[1], joint);
    for _ in 0..5 {
        simulation.advance(MS(10), |_, _| ());
        assert_eq!(simulation.pose(link).unwrap().translation, Vector::X);
    }
}

#[test]
fn the_last_finite_pose_of_a_body_that_became_nan_stays() {
    // By velocity, by Rapier's own force, by position; before a step and between two frames.
    let ways: [fn(&mut RigidBody); 3] = [
        |body| body.set_linvel(Vector::NAN, true),
        |body| body.add_force(Vector::NAN, true),
        |body| body.set_position(Pose::from_translation(Vector::NAN), true),
    ];
    for way in ways {
        let mut simulation = space();
        let key = simulation.physics.insert(flyer(), ball());
        let other = simulation
            .physics
            .insert(flyer().translation(Vector::Y * 9.0), ball());
        advance(&mut simulation, 25);
        way(simulation.physics.body_mut(key).unwrap());
        for ms in [3, 10, 25, 10] {
            advance(&mut simulation, ms);
            let pose = simulation.pose(key).unwrap();
            assert!(pose.is_finite());
            assert!((1.0..=2.1).contains(&pose.translation.x), "{pose:?}");
            assert!(simulation.moved().iter().all(|(_, pose)| pose.is_finite()));
        }
        assert!(!simulation.physics.body(key).unwrap().is_enabled());
        assert_near(current_pose(&simulation, other).unwrap().translation.x, 7.0);
    }
}

#[test]
fn a_quarantined_body_is_reported_with_its_tick() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    simulation.advance(MS(50), |physics, step| {
        if step.tick == 2 {
            physics.body_mut(key).unwrap().set_linvel(Vector::NAN, true);
        }
    });
    let quarantined: Vec<_> = simulation.events().quarantined().collect();
    let [quarantined] = quarantined[..] else {
        panic!("one body, once");
    };
    assert_eq!((quarantined.tick, quarantined.body), (2, key));
    assert!(
        simulation.physics.rapier().quarantine().is_empty(),
        "Rapier has forgotten it by then"
    );
}

#[test]
fn a_teleport_is_displayed_by_the_next_frame_and_does_not_smear() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 25);
    let displayed = simulation.pose(key);
    simulation.physics.teleport(key, at(500.0)).unwrap();
    assert_eq!(
        simulation.pose(key),
        displayed,
        "the picture stays as it is"
    );
    advance(&mut simulation, 1); // no step
    assert_eq!(simulation.pose(key), Some(at(500.0)));
    assert_eq!(simulation.moved(), [(key, at(500.0))]);
    advance(&mut simulation, 10);
    assert_near(
        previous_pose(&simulation, key).unwrap().translation.x,
        500.0,
    );
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 501.0);
    assert_eq!(
        simulation.physics.body(key).unwrap().linvel(),
        Vector::X * 100.0,
        "velocity stays"
    );
    let bad = Pose::from_translation(Vector::NAN);
    assert_eq!(
        simulation.physics.teleport(key, bad),
        Err(BodyError::NotFinite(key))
    );
    assert_near(current_pose(&simulation, key).unwrap().translation.x, 501.0);
}

#[test]
fn set_position_does_not_smear_whenever_it_is_called() {
    struct Mover {
        key: BodyKey,
        tick: u64,
        after: bool,
        through_rapier: bool,
    }
    impl Mover {
        fn set(&self, physics: &mut Physics) {
            let handle = physics.handle(self.key).unwrap();
            let body = if self.through_rapier {
                &mut physics.rapier_mut().bodies[handle]
            } else {
                physics.body_mut(self.key).unwrap()
            };
            body.set_position(at(500.0), true);
        }
    }
    impl evenstep::Hooks for Mover {
        type Error = std::convert::Infallible;
        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if !self.after && step.tick == self.tick {
                self.set(physics);
            }
            Ok(())
        }
        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if self.after && step.tick == self.tick {
                self.set(physics);
            }
            Ok(())
        }
    }

    for asleep in [false, true] {
        for (tick, after, through_rapier) in combinations(&[2, 3, 4], &[false, true]) {
            let mut simulation = space();
            let key = simulation.physics.insert(flyer().sleeping(asleep), ball());
            advance(&mut simulation, 20);
            let mut mover = Mover {
                key,
                tick,
                after,
                through_rapier,
            };
            let Ok(_) = simulation.advance_with(MS(35), &mut mover);
            let context = format!("asleep {asleep}, tick {tick}, after {after}");
            for ms in [0, 4, 10] {
                advance(&mut simulation, ms);
                let current = current_pose(&simulation, key).unwrap();
                let step = current.translation.x - shown_x(&simulation, key);
                assert!(step < 1.01, "{context}: {step} m in a step");
                assert!(
                    shown_x(&simulation, key) >= 499.99,
                    "{context}: {}",
                    shown_x(&simulation, key)
                );
            }
        }
    }
}

/// All combinations of a tick and two flags.
fn combinations(ticks: &[u64], flags: &[bool]) -> Vec<(u64, bool, bool)> {
    let mut all = Vec::new();
    for &tick in ticks {
        for &first in flags {
            all.extend(flags.iter().map(|&second| (tick, first, second)));
        }
    }
    all
}

/// Frames of so many milliseconds until all sleep. Gives how many bodies settled in them.
fn advance_until_asleep(simulation: &mut Simulation, ms: u64) -> usize {
    let mut settled = 0;
    for _ in 0..2_000 {
        let frame = advance(simulation, ms);
        settled += frame.poses.settled;
        if frame.awake == 0 {
            return settled;
        }
    }
    panic!("{} are still awake", simulation.frame().awake);
}

#[test]
fn a_scene_at_rest_yields_nothing_and_costs_nothing() {
    let mut simulation = scenes::with_floor(Rate::hz(60).unwrap());
    scenes::pile(&mut simulation, 100);
    advance(&mut simulation, 17);
    assert_eq!(simulation.frame().awake, 100);
    advance_until_asleep(&mut simulation, 16);
    advance(&mut simulation, 16);
    advance(&mut simulation, 16);
    for _ in 0..50 {
        advance(&mut simulation, 7);
        assert_eq!(simulation.moved(), []);
    }
}

#[test]
fn with_the_true_speed_constant_every_rendered_step_is_the_same() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    for frame in 1..=400 {
        simulation.advance(Duration::from_nanos(6_944_444), |_, _| ());
        // A step behind the true state, and at the start before it is under way.
        let expected = (0.694_444_4 * f64::from(frame) - 1.0).max(0.0);
        let shown = f64::from(shown_x(&simulation, key));
        assert!(
            (shown - expected).abs() < 1e-4,
            "{shown} in {frame}, not {expected}"
        );
    }
}

#[test]
fn pause_shows_a_still_picture_and_slow_motion_a_smooth_one() {
    let mut simulation = space();
    let key = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 25);
    simulation.pause();
    let still = simulation.pose(key);
    for _ in 0..5 {
        assert_eq!(simulation.advance(MS(16), |_, _| ()).steps, 0);
        assert_eq!((simulation.pose(key), simulation.moved().len()), (still, 0));
    }
    simulation.resume();
    simulation.set_speed(0.1).unwrap();
    let mut before = shown_x(&simulation, key);
    for _ in 0..50 {
        advance(&mut simulation, 10);
        let now = shown_x(&simulation, key);
        assert!((now - before - 0.1).abs() < 1e-4);
        before = now;
    }
}

#[test]
fn a_key_of_another_simulation_is_safe() {
    let (mut one, mut other) = (space(), space());
    one.physics.insert(flyer(), ball());
    let foreign = one.physics.insert(flyer(), ball());
    assert_eq!(other.pose(foreign), None);
    other.physics.insert(flyer(), ball());
    other.physics.insert(flyer(), ball());
    // It may name a body there, and that is all.
    assert!(other.pose(foreign).is_some());
    assert!(other.physics.remove(foreign).is_some());
}

#[test]
fn each_frame_tells_what_it_did() {
    let mut simulation = scenes::with_floor(Rate::hz(100).unwrap());
    let keys = scenes::pile(&mut simulation, 20);
    let frame = advance(&mut simulation, 15);
    assert_eq!((frame.steps, frame.alpha, frame.poses.movers), (1, 0.5, 21));
    assert_eq!(
        (
            frame.poses.settled,
            frame.poses.teleported,
            frame.poses.set_from_velocity
        ),
        (1, 0, 0)
    );
    let mut settled = advance_until_asleep(&mut simulation, 10);
    settled += advance(&mut simulation, 10).poses.settled;
    assert_eq!(settled, 20);
    let frame = advance(&mut simulation, 10);
    assert_eq!((frame.poses.movers, frame.poses.settled), (0, 0));

    // One in each way, and one that stays where it is.
    let there = translation(0.0, 50.0, 0.0);
    simulation.physics.teleport(keys[0], there).unwrap();
    simulation.physics.teleport_by(keys[1], there).unwrap();
    simulation
        .physics
        .body_mut(keys[2])
        .unwrap()
        .set_position(there, false);
    let same = *simulation.physics.body(keys[3]).unwrap().position();
    simulation
        .physics
        .body_mut(keys[3])
        .unwrap()
        .set_position(same, false);
    simulation
        .physics
        .body_mut(keys[4])
        .unwrap()
        .set_linvel(Vector::Y, true);
    simulation
        .physics
        .set_previous_from_velocity(keys[4])
        .unwrap();
    let smoothing = Some(evenstep::Smoothing::Extrapolate);
    for key in &keys[..2] {
        simulation
            .physics
            .set_body_smoothing(*key, smoothing)
            .unwrap();
    }
    let frame = advance(&mut simulation, 2); // no step
    assert_eq!(
        (
            frame.steps,
            frame.poses.teleported,
            frame.poses.set_from_velocity
        ),
        (0, 3, 1)
    );
    assert_eq!((frame.poses.extrapolated, simulation.frame()), (0, frame));
    let frame = advance(&mut simulation, 10);
    assert_eq!(
        (
            frame.poses.teleported,
            frame.poses.set_from_velocity,
            frame.poses.extrapolated
        ),
        (0, 0, 2)
    );

    let frame = advance(&mut simulation, 1_000);
    assert_eq!(frame.dropped.frame_time, MS(750));
}

/// The pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// The pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}
