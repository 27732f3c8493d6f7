//! Bodies that sleep, wake, are disabled, or become NaN.

use super::*;

/// Creates a crate just above the floor, at 100 Hz, which soon falls asleep.
fn falling_asleep() -> (Simulation, BodyKey) {
    let mut simulation = scenes::with_floor(Rate::hz(100));
    let key = scenes::pile(&mut simulation, 1)[0];
    simulation
        .physics
        .teleport(key, translation(0.0, 0.52, 0.0))
        .unwrap();
    (simulation, key)
}

#[test]
fn a_body_that_falls_asleep_settles_on_its_final_pose() {
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
fn moved_lists_the_displayed_pose_bit_for_bit() {
    let (mut simulation, key) = falling_asleep();
    let mut shown = None;
    for _ in 0..2_000 {
        advance(&mut simulation, 7);
        for (moved, pose) in simulation.moved() {
            if *moved == key {
                assert_ne!(shown, Some(*pose), "listed, although it did not move");
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
fn a_body_woken_in_a_step_is_displayed_without_a_jump() {
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
    assert!(*shown.last().unwrap() > 0.5, "the body was not hit");
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
fn a_body_that_wakes_and_falls_asleep_within_one_frame_is_listed() {
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
    assert!(rest.translation.x > 0.1, "the body has moved");
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
fn set_position_of_a_fixed_body_is_displayed_and_listed_once() {
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
fn a_link_with_a_nan_joint_keeps_its_displayed_pose() {
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
fn a_body_that_becomes_nan_keeps_its_last_finite_pose() {
    // NaN as the velocity, as Rapier's own force and as the position.
    let edits: [fn(&mut RigidBody); 3] = [
        |body| body.set_linvel(Vector::NAN, true),
        |body| body.add_force(Vector::NAN, true),
        |body| body.set_position(Pose::from_translation(Vector::NAN), true),
    ];
    for edit in edits {
        let mut simulation = space();
        let key = simulation.physics.insert(flyer(), ball());
        let other = simulation
            .physics
            .insert(flyer().translation(Vector::Y * 9.0), ball());
        advance(&mut simulation, 25);
        edit(simulation.physics.body_mut(key).unwrap());
        for ms in [3, 10, 25, 10] {
            advance(&mut simulation, ms);
            let pose = simulation.pose(key).unwrap();
            assert!(pose.is_finite());
            assert!((1.0..=2.1).contains(&pose.translation.x), "{pose:?}");
            assert!(simulation.moved().iter().all(|(_, pose)| pose.is_finite()));
        }
        assert!(!simulation.physics.body(key).unwrap().is_enabled());
        assert_eq!(simulation.frame().movers, 1, "it does not rest");
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
        panic!("expected one body, once");
    };
    assert_eq!((quarantined.step, quarantined.body), (2, key));
    assert!(
        simulation.physics.rapier().quarantine().is_empty(),
        "the last step has cleared Rapier's quarantine"
    );
}
