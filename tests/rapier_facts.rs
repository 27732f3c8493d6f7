//! What the book says of Rapier's defaults.

use evenstep::Simulation;
use evenstep::rapier::dynamics::RigidBodyActivation;
use evenstep::rapier::prelude::*;
use std::time::Duration;

#[test]
fn a_body_falls_asleep_after_half_a_second() {
    assert_eq!(RigidBodyActivation::default_time_until_sleep(), 0.5);
}

/// How many of twenty bullets without CCD, of 10 to 200 m/s, pass a wall of 5 cm.
fn passed(wall: RigidBodyBuilder, max_ccd_substeps: usize) -> usize {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    world.integration_parameters.max_ccd_substeps = max_ccd_substeps;
    world.insert(wall, ColliderBuilder::cuboid(0.025, 20.0, 20.0));
    let bullets: Vec<_> = (1..=20u8)
        .map(|i| {
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::new(-2.0, 0.0, f32::from(i) - 10.0))
                .linvel(Vector::X * 10.0 * f32::from(i));
            world.insert(body, ColliderBuilder::ball(0.05)).0
        })
        .collect();
    for _ in 0..60 {
        world.step();
    }
    let has_passed = |bullet: &&RigidBodyHandle| world.bodies[**bullet].translation().x > 0.1;
    bullets.iter().filter(has_passed).count()
}

#[test]
fn bullets_without_ccd_pass_walls_that_may_move() {
    assert_eq!(passed(RigidBodyBuilder::fixed(), 1), 0);
    assert_eq!(passed(RigidBodyBuilder::kinematic_position_based(), 1), 18);
    assert!(passed(RigidBodyBuilder::fixed(), 0) > 10);
}

/// Whether a kinematic player that enters a sensor without a moving body is reported.
fn is_reported(player: ActiveCollisionTypes, sensor: ActiveCollisionTypes) -> bool {
    let mut simulation = Simulation::default();
    let body = RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X * 5.0);
    let ball = ColliderBuilder::ball(0.5).active_collision_types(player);
    simulation.insert(body, ball);
    let area = ColliderBuilder::ball(0.5)
        .sensor(true)
        .active_events(ActiveEvents::COLLISION_EVENTS)
        .active_collision_types(sensor);
    simulation.insert(RigidBodyBuilder::fixed().translation(Vector::X * 2.0), area);
    let frames = (0..60).map(|_| {
        simulation.advance(Duration::from_millis(17), |_, _| ());
        simulation.events().collisions().count()
    });
    frames.sum::<usize>() > 0
}

#[test]
fn one_of_two_colliders_asks_for_kinematic_against_fixed() {
    let default = ActiveCollisionTypes::default();
    let both = default | ActiveCollisionTypes::KINEMATIC_FIXED;
    assert!(!is_reported(default, default));
    assert!(is_reported(both, default));
    assert!(is_reported(default, both));
}

/// The speed of 1 kg after a second, if each frame adds 1 N by Rapier's own `add_force`.
fn speed(frames_per_second: usize) -> f32 {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    let body = RigidBodyBuilder::dynamic();
    let (body, _) = world.insert(body, ColliderBuilder::ball(0.5).mass(1.0));
    let mut steps = 0;
    for frame in 1..=frames_per_second {
        world.bodies[body].add_force(Vector::X, true);
        while steps < 60 * frame / frames_per_second {
            world.step();
            steps += 1;
        }
    }
    world.bodies[body].linvel().x
}

#[test]
fn forces_of_rapier_add_up() {
    assert!((speed(60) - 30.5).abs() < 0.05, "{} m/s", speed(60));
    assert!((speed(144) - 73.6).abs() < 0.05, "{} m/s", speed(144));
}

#[test]
fn the_handle_of_a_removed_body_finds_nothing() {
    let mut simulation = Simulation::default();
    let old = simulation.insert_body(RigidBodyBuilder::dynamic());
    let handle = simulation.handle(old).unwrap();
    simulation.remove(old);
    simulation.insert_body(RigidBodyBuilder::dynamic()); // in its place
    assert!(simulation.physics().bodies.get(handle).is_none());
    assert_eq!(simulation.handle(old), None);
}

#[test]
fn a_body_has_the_handles_of_its_colliders() {
    let mut simulation = Simulation::default();
    let key = simulation.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    let collider = simulation.body(key).unwrap().colliders()[0];
    assert_eq!(simulation.key_of_collider(collider), Some(key));
}
