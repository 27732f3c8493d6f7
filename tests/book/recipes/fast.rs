//! Fast bodies: Rapier's limits of velocity, and which walls stop a bullet.

use super::position;
use evenstep::rapier::prelude::*;
use evenstep::{Simulation, Smoothing};
use scenes::space;
use std::f32::consts::PI;
use std::time::Duration;

const ONE_STEP: Duration = Duration::from_millis(17);

/// Returns the velocity and the spin after one step, in metres and radians per second.
fn after_a_step(simulation: &mut Simulation, body: RigidBodyBuilder) -> [f32; 2] {
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.1));
    let hermite = Some(Smoothing::Hermite);
    simulation.physics.set_body_smoothing(key, hermite).unwrap();
    simulation.advance(ONE_STEP, |_, _| ());
    let body = simulation.physics.body(key).unwrap();
    [body.linvel().x, body.angvel().y]
}

#[test]
fn rapier_limits_velocities_until_the_limits_are_raised() {
    let near = |actual: f32, expected: f32| (actual - expected).abs() < 0.01;
    let body = RigidBodyBuilder::dynamic()
        .linvel(Vector::X * 900.0)
        .angvel(Vector::Y * 200.0);
    let mut simulation = space(60);
    let [speed, spin] = after_a_step(&mut simulation, body.clone());
    assert!(
        near(speed, 400.0) && near(spin, 15.0 * PI),
        "{speed} {spin}"
    );

    let rapier = simulation.physics.rapier_mut_except_bodies();
    rapier.integration_parameters.normalized_max_linear_velocity = 1_000.0;
    let body = body.translation(Vector::Y * 10.0).allow_fast_rotation(true);
    let [speed, spin] = after_a_step(&mut simulation, body);
    assert!(near(speed, 900.0) && near(spin, 200.0), "{speed} {spin}");
}

/// Returns whether a bullet at 200 m/s passes through a wall 5 cm thick.
fn passes(wall: RigidBodyBuilder, has_ccd: bool) -> bool {
    let mut simulation = space(60);
    let shape = ColliderBuilder::cuboid(0.025, 2.0, 2.0);
    simulation.physics.insert(wall, shape);
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::X * -2.0)
        .linvel(Vector::X * 200.0)
        .ccd_enabled(has_ccd);
    let bullet = simulation.physics.insert(body, ColliderBuilder::ball(0.05));
    simulation.advance(Duration::from_millis(200), |_, _| ());
    position(&simulation.physics, bullet).translation.x > 0.0
}

#[test]
fn kinematic_walls_stop_only_bullets_with_ccd() {
    assert!(!passes(RigidBodyBuilder::fixed(), false));
    assert!(passes(RigidBodyBuilder::kinematic_position_based(), false));
    assert!(!passes(RigidBodyBuilder::kinematic_position_based(), true));
}
