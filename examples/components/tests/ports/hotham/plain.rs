//! On plain Rapier.

use super::{Game, Hull, Impulse, Rigid, Transform};
use evenstep::hecs::{Entity, Without, World};
use evenstep::rapier::prelude::*;
use std::time::Duration;

/// The body of an entity.
struct Handle(RigidBodyHandle);

pub fn run(frames: &[Duration]) -> Vec<f32> {
    let (mut world, mut rapier) = (World::new(), PhysicsWorld::default());
    let mut game = Game::new(&mut world);
    for time in frames {
        game.rules(&mut world, time.as_secs_f32());
        insert_missing(&mut world, &mut rapier);
        write(&mut world, &mut rapier);
        rapier.integration_parameters.dt = 1.0 / 72.0;
        rapier.step();
        read(&mut world, &rapier);
        list_touching(&mut world, &rapier);
    }
    game.end(&world)
}

fn insert_missing(world: &mut World, rapier: &mut PhysicsWorld) {
    let missing = world.query_mut::<Without<(Entity, &Transform, &Rigid, &Hull), &Handle>>();
    let mut new = Vec::new();
    for (entity, transform, rigid, hull) in missing {
        let body = RigidBodyBuilder::new(rigid.kind)
            .pose(transform.0)
            .linvel(rigid.velocity);
        let collider = ColliderBuilder::new(hull.shape.clone())
            .sensor(hull.is_sensor)
            .active_collision_types(ActiveCollisionTypes::all())
            .user_data(u128::from(entity.to_bits().get()));
        new.push((entity, rapier.insert(body, collider).0));
    }
    for (entity, handle) in new {
        world.insert_one(entity, Handle(handle)).unwrap();
    }
}

fn write(world: &mut World, rapier: &mut PhysicsWorld) {
    for (handle, transform, rigid, hull) in
        world.query_mut::<(&Handle, &Transform, &Rigid, &Hull)>()
    {
        let body = &mut rapier.bodies[handle.0];
        body.set_body_type(rigid.kind, true);
        match rigid.kind {
            RigidBodyType::KinematicPositionBased => body.set_next_kinematic_position(transform.0),
            RigidBodyType::KinematicVelocityBased => body.set_linvel(rigid.velocity, true),
            _ => (),
        }
        for handle in body.colliders() {
            let collider = &mut rapier.colliders[*handle];
            collider.set_shape(hull.shape.clone());
            collider.set_sensor(hull.is_sensor);
        }
    }
    let mut applied = Vec::new();
    for (entity, handle, impulse) in world.query_mut::<(Entity, &Handle, &Impulse)>() {
        rapier.bodies[handle.0].apply_impulse(impulse.0, true);
        applied.push(entity);
    }
    for entity in applied {
        world.remove_one::<Impulse>(entity).unwrap();
    }
}

fn read(world: &mut World, rapier: &PhysicsWorld) {
    for (handle, transform, rigid) in world.query_mut::<(&Handle, &mut Transform, &mut Rigid)>() {
        let body = &rapier.bodies[handle.0];
        if matches!(
            rigid.kind,
            RigidBodyType::Dynamic | RigidBodyType::KinematicVelocityBased
        ) {
            transform.0 = *body.position();
            rigid.velocity = body.linvel();
        }
    }
}

fn list_touching(world: &mut World, rapier: &PhysicsWorld) {
    for (handle, hull) in world.query_mut::<(&Handle, &mut Hull)>() {
        hull.touching.clear();
        for own in rapier.bodies[handle.0].colliders() {
            let contacts = rapier.narrow_phase.contact_pairs_with(*own);
            let contacts = contacts.filter(|pair| pair.has_any_active_contact());
            let contacts = contacts.map(|pair| (pair.collider1, pair.collider2));
            let crossed = rapier.narrow_phase.intersection_pairs_with(*own);
            let crossed = crossed
                .filter(|(.., crossed)| *crossed)
                .map(|(one, two, _)| (one, two));
            for (one, two) in contacts.chain(crossed) {
                let other = if one == *own { two } else { one };
                let bits = rapier.colliders[other].user_data as u64;
                hull.touching.extend(Entity::from_bits(bits));
            }
        }
    }
}
