//! Conveyors, explosions, buoyancy, and joints that break.

use super::position;
use evenstep::Simulation;
use evenstep::rapier::prelude::*;
use recipes::breakable_joints::break_joints;
use recipes::buoyancy::add_forces;
use recipes::conveyor::{Game, VELOCITY, belt};
use recipes::explosion::explode;
use scenes::space;
use std::time::Duration;

#[test]
fn a_belt_carries_a_parcel_at_its_velocity_whichever_was_inserted_first() {
    for belt_is_first in [true, false] {
        let (mut simulation, mut game) = (Simulation::default(), Game::default());
        let belt = belt(ColliderBuilder::cuboid(50.0, 0.1, 1.0));
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.35);
        let parcel = ColliderBuilder::cuboid(0.25, 0.25, 0.25);
        let physics = &mut simulation.physics;
        let parcel = if belt_is_first {
            physics.insert(RigidBodyBuilder::fixed(), belt);
            physics.insert(body, parcel)
        } else {
            let parcel = physics.insert(body, parcel);
            physics.insert(RigidBodyBuilder::fixed(), belt);
            parcel
        };
        for _ in 0..180 {
            let Ok(_) = simulation.advance_with(Duration::from_millis(17), &mut game);
        }
        let velocity = simulation.physics.body(parcel).unwrap().linvel();
        assert!((velocity - VELOCITY).length() < 0.05, "{velocity} m/s");
    }
}

#[test]
fn an_explosion_pushes_each_body_in_reach_once_and_none_behind_a_wall() {
    let mut simulation = space(60);
    let bodies = [2.0, 4.0, 12.0, -4.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        let collider = ColliderBuilder::ball(0.5).mass(0.5);
        let key = simulation.physics.insert(body, collider.clone());
        // A body with two colliders is still pushed once.
        simulation.physics.insert_collider(key, collider).unwrap();
        key
    });
    let wall = RigidBodyBuilder::fixed().translation(Vector::X * -2.0);
    simulation
        .physics
        .insert(wall, ColliderBuilder::cuboid(0.1, 2.0, 2.0));
    simulation.advance(Duration::from_millis(100), |physics, step| {
        if step.tick == 3 {
            explode(physics, Vector::ZERO, 8.0, 10.0);
        }
    });
    let speeds = bodies.map(|key| simulation.physics.body(key).unwrap().linvel().x);
    assert_eq!(speeds, [7.5, 5.0, 0.0, 0.0]); // near, far, out of reach, behind the wall
}

#[test]
fn a_crate_floats_and_drifts_downwind() {
    let mut simulation = Simulation::default();
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
    let cargo = ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(600.0);
    let cargo = simulation.physics.insert(body, cargo);
    for _ in 0..60 * 20 {
        simulation.advance(Duration::from_millis(17), |physics, step| {
            add_forces(&[cargo], physics, step).unwrap();
        });
    }
    let position = simulation.pose(cargo).unwrap().translation;
    assert!((position.y + 0.1).abs() < 0.01, "{position}"); // 0.6 m³ is under water
    assert!(position.x > 2.0, "{position}"); // downwind
}

#[test]
fn a_joint_breaks_under_a_heavy_lamp() {
    let mut simulation = Simulation::default();
    let lamps = [8.0, 12.0].map(|mass| {
        let hook = RigidBodyBuilder::fixed().translation(Vector::X * mass);
        let hook = simulation.physics.insert_body(hook);
        let body = RigidBodyBuilder::dynamic().translation(Vector::new(mass, -1.0, 0.0));
        let lamp = simulation
            .physics
            .insert(body, ColliderBuilder::ball(0.2).mass(mass));
        let chain = SphericalJointBuilder::new().local_anchor2(Vector::Y);
        let [a, b] = [hook, lamp].map(|key| simulation.physics.handle(key).unwrap());
        let rapier = simulation.physics.rapier_mut_except_bodies();
        rapier.insert_impulse_joint(a, b, chain);
        lamp
    });
    for _ in 0..60 {
        simulation.advance(Duration::from_millis(17), |physics, _| {
            break_joints(physics, 100.0)
        });
    }
    let [light, heavy] = lamps.map(|key| position(&simulation.physics, key).translation.y);
    assert!((light + 1.0).abs() < 0.01, "{light} m"); // 78 N
    assert!(heavy < -4.0, "{heavy} m"); // 118 N: it falls
}
