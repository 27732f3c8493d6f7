//! Conveyors, explosions, buoyancy, and joints that break.

use super::*;
use evenstep::{BodyError, Hooks};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The user data of a belt's collider.
const BELT: u128 = 1;
/// How fast a belt moves, in metres per second.
const VELOCITY: Vector = Vector::new(2.0, 0.0, 0.0);

struct Belts;

impl PhysicsHooks for Belts {
    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let is_first = context.colliders[context.collider1].user_data == BELT;
        let Some(manifold) = context.rigid_mut() else {
            return;
        };
        for contact in manifold.solver_contacts.iter_mut() {
            contact.tangent_velocity = if is_first { VELOCITY } else { -VELOCITY };
        }
    }
}

struct Game(Arc<Belts>);

impl Hooks for Game {
    type Error = std::convert::Infallible;

    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        Some(self.0.clone())
    }
}

#[test]
fn a_belt_carries_a_parcel_at_its_velocity_whichever_was_inserted_first() {
    for belt_is_first in [true, false] {
        let (mut simulation, mut game) = (Simulation::default(), Game(Arc::new(Belts)));
        let belt = ColliderBuilder::cuboid(50.0, 0.1, 1.0)
            .user_data(BELT)
            .active_hooks(ActiveHooks::MODIFY_SOLVER_CONTACTS);
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

/// Pushes bodies away. `impulse` is the one at the centre, in N s. It falls to zero at the radius.
fn explode(physics: &mut Physics, centre: Vector, radius: f32, impulse: f32) {
    let rapier = physics.rapier();
    let (pose, ball) = (Pose::from_translation(centre), Ball::new(radius));
    let hit = rapier.intersect_shape(pose, &ball, QueryFilter::only_dynamic());
    // Takes each body once, always in the same order.
    let keys = hit.filter_map(|(collider, _)| physics.key_of_collider(collider));
    for key in keys.collect::<BTreeSet<BodyKey>>() {
        let offset = physics.body(key).unwrap().center_of_mass() - centre;
        let (ray, walls) = (Ray::new(centre, offset), QueryFilter::only_fixed());
        if physics.rapier().cast_ray(&ray, 1.0, true, walls).is_none() {
            let strength = impulse * (1.0 - offset.length() / radius).max(0.0);
            let impulse = offset.normalize_or_zero() * strength;
            physics.apply_impulse(key, impulse).unwrap();
        }
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

/// Returns the force on a crate of 1 m³, in water up to height 0.
fn buoyancy(body: &RigidBody) -> Vector {
    let volume = (0.5 - body.translation().y).clamp(0.0, 1.0); // under water
    let weight = Vector::Y * 9.81 * 1_000.0 * volume; // of the displaced water
    weight - body.linvel() * 800.0 * volume
}

/// Returns the force of a wind of 10 m/s, every other second.
fn gusts(body: &RigidBody, step: Step) -> Vector {
    let blows = step.start_time.as_secs().is_multiple_of(2);
    let wind = if blows {
        Vector::X * 10.0
    } else {
        Vector::ZERO
    };
    (wind - body.linvel()) * 60.0
}

/// Adds both forces to each floating body, in the hook before a step.
fn add_forces(floating: &[BodyKey], physics: &mut Physics, step: Step) -> Result<(), BodyError> {
    for key in floating {
        let body = physics.body(*key).ok_or(BodyError::Gone(*key))?;
        let force = buoyancy(body) + gusts(body, step);
        physics.add_force(*key, force)?;
    }
    Ok(())
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

/// Removes the joints that took more than `limit` newtons in the last step.
fn break_joints(physics: &mut Physics, limit: f32) {
    let rapier = physics.rapier_mut_except_bodies();
    let parameters = &rapier.integration_parameters;
    let substep = parameters.dt / parameters.num_solver_iterations as f32;
    let force = |joint: &ImpulseJoint| {
        let [x, y, z, ..] = joint.impulses;
        Vector::new(x, y, z).length() / substep
    };
    let joints = rapier.impulse_joints();
    let broken = joints.filter(|(_, joint)| force(joint) > limit);
    for joint in broken.map(|(handle, _)| handle).collect::<Vec<_>>() {
        rapier.remove_impulse_joint(joint);
    }
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
