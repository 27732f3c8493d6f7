//! Edits between two steps, and how poses are displayed after them.

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Simulation, Smoothing};
use scenes::testing::{angle_between, spin, translation, turned, vector};
use scenes::{MS, advance, ball, space};
use std::time::Duration;

fn x(simulation: &Simulation, key: BodyKey) -> f32 {
    simulation.pose(key).unwrap().translation.x
}

fn at(x: f32) -> Pose {
    translation(x, 0.0, 0.0)
}

// Parts of a pose.

#[test]
fn setting_the_rotation_in_every_frame_keeps_displayed_translation_even() {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let key = simulation.physics.insert(body, ball());
    let mut last = 0.0;
    for frame in 0..200u8 {
        let rotation = turned(spin(0.0, 0.01 * f32::from(frame), 0.0));
        let body = simulation.physics.body_mut(key).unwrap();
        body.set_rotation(rotation, true);
        simulation.advance(Duration::from_nanos(6_944_444), |_, _| ());
        let now = x(&simulation, key);
        if frame > 4 {
            assert!((now - last - 0.0694).abs() < 1e-3, "{} m", now - last);
        }
        last = now;
        // The mouse has no latency: the frame displays the rotation that was set, plus what later steps turn.
        let shown = simulation.pose(key).unwrap().rotation;
        assert!(angle_between(shown, rotation) < 1e-5, "{shown:?}");
    }
}

#[test]
fn setting_the_translation_in_every_frame_keeps_displayed_rotation_even() {
    for smoothing in [Smoothing::Interpolate, Smoothing::Hermite] {
        let mut simulation = space(60);
        simulation.smoothing = smoothing;
        let body = RigidBodyBuilder::dynamic().angvel(spin(0.0, 6.0, 0.0));
        let key = simulation.physics.insert(body, ball());
        let mut last = Rotation::IDENTITY;
        for frame in 0..200u8 {
            let height = Vector::Y * 0.01 * f32::from(frame);
            let body = simulation.physics.body_mut(key).unwrap();
            body.set_translation(height, true);
            simulation.advance(Duration::from_nanos(6_944_444), |_, _| ());
            let shown = simulation.pose(key).unwrap();
            let turn = angle_between(last, shown.rotation);
            assert!(frame < 5 || (turn - 0.041_67).abs() < 1e-3, "{turn} rad");
            assert!(shown.translation.distance(height) < 1e-5, "{shown:?}");
            last = shown.rotation;
        }
    }
}

// Reported bodies.

#[test]
fn edits_after_a_frame_are_displayed_and_listed_in_the_next_frame() {
    let mut simulation = space(100);
    let flying = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let keys = [
        simulation.physics.insert(flying, ball()),
        simulation
            .physics
            .insert(RigidBodyBuilder::dynamic().sleeping(true), ball()),
        simulation.physics.insert(RigidBodyBuilder::fixed(), ball()),
    ];
    let picture = |simulation: &Simulation| {
        let poses = keys.map(|key| simulation.pose(key));
        (
            poses,
            simulation.moved().to_vec(),
            simulation.removed().to_vec(),
        )
    };
    for frames in 0..3 {
        for _ in 0..=frames {
            advance(&mut simulation, 15);
        }
        let before = picture(&simulation);
        for (key, x) in keys.iter().zip([500.0, 600.0, 700.0]) {
            let x = x + f32::from(frames as u8);
            simulation.physics.teleport(*key, at(x)).unwrap();
        }
        // No frame has displayed the new body yet. Its displayed pose is the current one, and follows each edit.
        let new = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        simulation.physics.teleport(new, at(800.0)).unwrap();
        assert_eq!(simulation.pose(new), Some(at(800.0)));
        simulation.physics.teleport(keys[0], at(900.0)).unwrap();
        assert_eq!(picture(&simulation), before);
        advance(&mut simulation, 0);
        let mut moved: Vec<BodyKey> = simulation.moved().iter().map(|(key, _)| *key).collect();
        moved.sort_unstable();
        assert_eq!(moved, [&keys[..], &[new]].concat());
        for (key, pose) in simulation.moved() {
            assert_eq!(simulation.pose(*key), Some(*pose));
        }
        assert_eq!(simulation.pose(keys[0]), Some(at(900.0)));
        simulation.physics.remove(new);
    }
}

#[test]
fn resting_bodies_inserted_in_a_pause_are_listed_in_one_frame_only() {
    let mut simulation = space(60);
    advance(&mut simulation, 20);
    simulation.pause();
    for i in 0..100u8 {
        let at = Vector::X * f32::from(i);
        simulation
            .physics
            .insert(RigidBodyBuilder::fixed().translation(at), ball());
        let asleep = RigidBodyBuilder::dynamic().sleeping(true);
        simulation
            .physics
            .insert(asleep.translation(at + Vector::Y), ball());
    }
    let frame = advance(&mut simulation, 20);
    assert_eq!((frame.movers, simulation.moved().len()), (200, 200));
    let frame = advance(&mut simulation, 20);
    assert_eq!((frame.movers, simulation.moved().len()), (0, 0));
}

// Access.

#[test]
fn only_bodies_named_for_access_are_checked_for_edits() {
    let mut simulation = space(100);
    let asleep = || RigidBodyBuilder::dynamic().sleeping(true);
    let keys: Vec<BodyKey> = (0..10u8)
        .map(|i| {
            let apart = asleep().translation(vector(0.0, 1.0, 1.0) * f32::from(i));
            simulation.physics.insert(apart, ball())
        })
        .collect();
    for _ in 0..2 {
        advance(&mut simulation, 10);
    }
    let handles: Vec<RigidBodyHandle> = (keys.iter())
        .map(|key| simulation.physics.handle(*key).unwrap())
        .collect();

    // A controller that accesses the world in every step costs nothing.
    let frame = simulation.advance(MS(50), |physics, _| {
        physics.rapier_mut_except_bodies().gravity = Vector::ZERO;
    });
    assert_eq!((frame.steps, frame.movers), (5, 0));

    // One body is named twice, together with a removed one. Another body is moved without being named.
    let gone = simulation.physics.insert(asleep(), ball());
    simulation.physics.remove(gone);
    let physics = simulation.physics.rapier_mut_for(&[keys[3], gone, keys[3]]);
    for handle in &handles[3..5] {
        physics.bodies[*handle].set_position(at(7.0), false);
    }
    let frame = advance(&mut simulation, 5);
    assert_eq!(frame.movers, 1);
    assert_eq!(simulation.moved(), [(keys[3], at(7.0))]);
    assert_eq!(x(&simulation, keys[4]), 0.0);
    // Once the unnamed body moves, it is displayed.
    simulation
        .physics
        .apply_impulse(keys[4], Vector::Y)
        .unwrap();
    advance(&mut simulation, 20);
    assert_eq!(x(&simulation, keys[4]), 7.0);

    // The whole world is checked once per frame, which also finds removals.
    simulation
        .physics
        .rapier_mut_except_bodies()
        .remove_body(handles[8]);
    assert_eq!(simulation.physics.handle(keys[8]), None);
    advance(&mut simulation, 5);
    assert!(!simulation.removed().contains(&keys[8]));
    simulation.physics.rapier_mut();
    advance(&mut simulation, 5);
    assert_eq!(simulation.removed(), [keys[8]]);
}

#[test]
fn a_body_turns_about_its_new_center_after_a_collider_is_removed() {
    let mut simulation = space(100);
    let body = RigidBodyBuilder::dynamic().angvel(spin(0.0, 0.0, 3.0));
    let key = simulation.physics.insert(body, ball());
    let off = ball().translation(Vector::X).mass(100.0);
    let collider = simulation.physics.insert_collider(key, off).unwrap();
    advance(&mut simulation, 30);
    assert!(simulation.physics.remove_collider(collider).is_some());
    assert!(simulation.physics.remove_collider(collider).is_none());
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_linvel(Vector::ZERO, true);
    advance(&mut simulation, 25);
    let origin = current_pose(&simulation, key).unwrap().translation;
    for _ in 0..20 {
        advance(&mut simulation, 3);
        let off = simulation.pose(key).unwrap().translation.distance(origin);
        assert!(off < 1e-4, "the origin moved by {off} m");
    }
}

// Poses of earlier ticks.

#[test]
fn poses_of_earlier_ticks_ignore_a_later_teleport() {
    for states in [2, 6] {
        let mut simulation = space(100);
        simulation.keep(Kept {
            poses: states,
            ..simulation.kept()
        });
        let flying = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
        let key = simulation.physics.insert(flying, ball());
        let rock = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        let frame = advance(&mut simulation, 55);
        let shown = [key, rock].map(|key| simulation.pose(key));
        for x in [500.0, 600.0] {
            simulation.physics.teleport(key, at(x)).unwrap();
            simulation
                .physics
                .body_mut(rock)
                .unwrap()
                .set_position(at(x), true);
            advance(&mut simulation, 0);
            let back = [key, rock].map(|key| simulation.pose_at(key, frame.tick, frame.alpha));
            assert_eq!(back, shown);
        }
        assert_eq!(x(&simulation, rock), 600.0);
        advance(&mut simulation, 10);
        let back = [key, rock].map(|key| simulation.pose_at(key, frame.tick, frame.alpha));
        assert_eq!(back, if states > 2 { shown } else { [None; 2] });
    }
}

#[test]
fn a_new_body_moved_before_its_first_step_has_no_earlier_poses() {
    let mut simulation = space(100);
    simulation.keep(Kept {
        poses: u64::MAX,
        ..simulation.kept()
    });
    let frame = advance(&mut simulation, 35);
    let between = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball());
    advance(&mut simulation, 0);
    simulation
        .physics
        .body_mut(between)
        .unwrap()
        .set_position(at(9.0), true);
    let mut inside = None;
    simulation.advance(MS(20), |physics, step| {
        if step.is_first {
            let key = physics.insert(RigidBodyBuilder::dynamic(), ball());
            physics.body_mut(key).unwrap().set_position(at(5.0), true);
            inside = Some(key);
        }
    });
    // The body is at the origin in a frame of that tick, and has no pose at earlier ticks.
    assert_eq!(simulation.pose_at(between, frame.tick, 0.7), Some(at(0.0)));
    assert_eq!(simulation.pose_at(between, frame.tick - 1, 0.7), None);
    assert_eq!(
        simulation.pose_at(between, frame.tick + 1, 0.7),
        Some(at(9.0))
    );
    // The body has no pose before its first step.
    let inside = inside.unwrap();
    assert_eq!(simulation.pose_at(inside, frame.tick, 0.7), None);
    assert_eq!(
        simulation.pose_at(inside, frame.tick + 1, 0.7),
        Some(at(5.0))
    );
}

// Curves.

#[test]
fn a_teleported_kinematic_body_continues_without_its_old_velocity() {
    let mut simulation = space(100);
    simulation.smoothing = Smoothing::Hermite;
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let time = simulation.clock().time_after(MS(200));
    simulation
        .physics
        .set_kinematic_target(key, at(20.0), time)
        .unwrap();
    advance(&mut simulation, 105);
    simulation.physics.teleport(key, at(500.0)).unwrap();
    let time = simulation.clock().time_after(MS(205));
    simulation
        .physics
        .set_kinematic_target(key, at(480.0), time)
        .unwrap();
    let mut last = 500.0;
    for _ in 0..100 {
        advance(&mut simulation, 1);
        let now = x(&simulation, key);
        assert!((-0.101..1e-4).contains(&(now - last)), "{} m", now - last);
        last = now;
    }
    assert!(last < 495.0, "{last}");
}

#[test]
fn displayed_motion_respects_rapiers_velocity_limits() {
    for (fast, most) in [(false, 0.79), (true, 20.0)] {
        let mut simulation = space(60);
        simulation.smoothing = Smoothing::Hermite;
        let body = RigidBodyBuilder::dynamic()
            .angvel(spin(0.0, 900.0, 0.0))
            .linvel(Vector::X * 5_000.0)
            .allow_fast_rotation(fast);
        let key = simulation.physics.insert(body, ball());
        advance(&mut simulation, 17);
        let mut turned = 0.0;
        let mut last = simulation.pose(key).unwrap();
        for _ in 0..160 {
            simulation.advance(Duration::from_micros(100), |_, _| ());
            let pose = simulation.pose(key).unwrap();
            turned += angle_between(last.rotation, pose.rotation);
            let moved = pose.translation.distance(last.translation);
            assert!(moved < 0.06, "at most 400 m/s: {moved} m in 0.1 ms");
            last = pose;
        }
        assert!(turned < most, "{turned} rad in a step");
        assert!(turned > 0.5 * most, "{turned} rad in a step");
    }
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

#[test]
fn a_body_that_is_removed_through_rapier_is_listed_once() {
    for is_listed in [false, true] {
        let mut simulation = space(60);
        let key = simulation
            .physics
            .insert(RigidBodyBuilder::dynamic(), ball());
        advance(&mut simulation, 20);
        let handle = simulation.physics.handle(key).unwrap();
        let rapier = if is_listed {
            simulation.physics.rapier_mut_for(&[key, key])
        } else {
            simulation.physics.rapier_mut()
        };
        rapier.remove_body(handle);
        assert_eq!(advance(&mut simulation, 20).movers, 0);
        assert_eq!(
            (simulation.removed(), simulation.pose(key)),
            (&[key][..], None)
        );
        advance(&mut simulation, 20);
        assert_eq!(simulation.removed(), []);
    }
}
