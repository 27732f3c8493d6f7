//! Reports of bodies that the game puts to sleep or takes out of the simulation, each in its step.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation};
use scenes::{MS, space};

/// Runs 60 frames, and returns the steps in which the body fell asleep (`true`) or woke up.
fn reports(
    simulation: &mut Simulation,
    key: BodyKey,
    mut play: impl FnMut(&mut Physics, u64),
) -> Vec<(u64, bool)> {
    let mut reports = Vec::new();
    for _ in 0..60 {
        simulation.advance(MS(17), |physics, step| play(physics, step.tick));
        let events = simulation.events();
        let changes = events.sleep_changes().filter(|change| change.body == key);
        reports.extend(changes.map(|change| (change.step, change.is_asleep)));
    }
    reports
}

#[test]
fn a_body_that_is_dynamic_and_enabled_again_wakes_up() {
    let types = [
        RigidBodyType::Fixed,
        RigidBodyType::KinematicPositionBased,
        RigidBodyType::KinematicVelocityBased,
        // Disabled instead.
        RigidBodyType::Dynamic,
    ];
    for to in types {
        let mut simulation = space(60);
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let key = simulation.physics.insert(body, scenes::ball());
        let reports = reports(&mut simulation, key, |physics, tick| {
            let (is_taken, is_back) = (tick == 10, tick == 30);
            if (is_taken || is_back)
                && let Some(body) = physics.body_mut(key)
            {
                match to {
                    RigidBodyType::Dynamic => body.set_enabled(is_back),
                    to if is_taken => body.set_body_type(to, true),
                    _ => {
                        body.set_body_type(RigidBodyType::Dynamic, true);
                        body.set_linvel(Vector::X, true);
                    }
                }
            }
        });
        assert_eq!(reports, [(30, false)], "{to:?}");
    }
}

#[test]
fn sleep_that_the_game_sets_is_reported_in_its_step_whatever_touches_the_body() {
    for (distance, has_joint) in [(2.0, false), (0.195, false), (2.0, true)] {
        let mut simulation = space(60);
        let physics = &mut simulation.physics;
        let [key, other] = [0.0, distance].map(|x| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
            physics.insert(body.linvel(Vector::X * 0.9), scenes::ball())
        });
        if has_joint {
            let ends = [key, other].map(|key| physics.handle(key).unwrap());
            let joint = RopeJointBuilder::new(3.0);
            let joints = physics.rapier_mut_except_bodies();
            joints.insert_impulse_joint(ends[0], ends[1], joint);
        }
        let mut slept = Vec::new();
        let reports = reports(&mut simulation, key, |physics, tick| {
            let body = physics.body_mut(key).unwrap();
            slept.push(body.is_sleeping());
            if tick == 10 {
                body.sleep();
            }
        });
        assert!(slept[11] && !slept[10]);
        assert_eq!(reports, [(10, true)], "{distance} {has_joint}");
    }
}

#[test]
fn sleep_in_the_step_of_a_shift_of_the_origin_is_reported_in_it() {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic();
    let key = simulation.physics.insert(body, scenes::ball());
    let reports = reports(&mut simulation, key, |physics, tick| {
        if tick == 5 {
            physics.shift_origin(Vector::X * 3.0).unwrap();
            physics.body_mut(key).unwrap().sleep();
        }
    });
    assert_eq!(reports, [(5, true)]);
}
