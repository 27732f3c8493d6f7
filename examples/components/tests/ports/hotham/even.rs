//! On evenstep.

use super::{Game, Hull, Impulse, Rigid, Transform};
use evenstep::ecs::hecs::{Body, Entities};
use evenstep::hecs::{Entity, World};
use evenstep::rapier::prelude::*;
use evenstep::{Physics, Simulation, Step};
use std::{sync::Arc, time::Duration};

pub fn run(frames: &[Duration]) -> Vec<f32> {
    let (mut world, mut simulation, mut entities) =
        (World::new(), Simulation::default(), Entities::default());
    let mut game = Game::new(&mut world);
    for time in frames {
        simulation.begin_frame(*time);
        while let Some(step) = simulation.next_step() {
            game.rules(&mut world, step.dt);
            entities.remove_dropped(&mut world, &mut simulation.physics);
            insert_missing(&mut world, &mut entities, &mut simulation.physics);
            write(&mut world, &mut simulation.physics, step);
            simulation.run_step();
            read(&mut world, &simulation.physics);
            list_touching(&mut world, &entities, &simulation.physics);
        }
        simulation.end_frame();
        entities.sync(&mut world, &mut simulation);
    }
    game.end(&world)
}

fn insert_missing(world: &mut World, entities: &mut Entities, physics: &mut Physics) {
    // Only steps spawn entities, so their ids are an order.
    entities.insert_missing::<(&Transform, &Rigid, &Hull), _>(
        world,
        physics,
        |entity, (transform, rigid, hull)| {
            let body = RigidBodyBuilder::new(rigid.kind)
                .pose(transform.0)
                .linvel(rigid.velocity);
            let collider = ColliderBuilder::new(hull.shape.clone())
                .sensor(hull.is_sensor)
                .active_collision_types(ActiveCollisionTypes::all());
            Some((entity, body, vec![collider]))
        },
    );
}

fn write(world: &mut World, physics: &mut Physics, step: Step) {
    for (body, transform, rigid, hull) in world.query_mut::<(&Body, &Transform, &Rigid, &Hull)>() {
        let (key, body) = (body.key(), physics.body(body.key()).unwrap());
        let collider = body.colliders()[0];
        if body.body_type() != rigid.kind || body.linvel() != rigid.velocity {
            let body = physics.body_mut(key).unwrap();
            body.set_body_type(rigid.kind, true);
            body.set_linvel(rigid.velocity, true);
        }
        if rigid.kind == RigidBodyType::KinematicPositionBased {
            physics
                .set_kinematic_target(key, transform.0, step.end_time)
                .unwrap();
        }
        let is_same = |collider: &Collider| {
            Arc::ptr_eq(&collider.shared_shape().0, &hull.shape.0)
                && collider.is_sensor() == hull.is_sensor
        };
        if !is_same(&physics.rapier().colliders[collider]) {
            let collider = physics.collider_mut(collider).unwrap();
            collider.set_shape(hull.shape.clone());
            collider.set_sensor(hull.is_sensor);
        }
    }
    let mut applied = Vec::new();
    for (entity, body, impulse) in world.query_mut::<(Entity, &Body, &Impulse)>() {
        physics.apply_impulse(body.key(), impulse.0).unwrap();
        applied.push(entity);
    }
    for entity in applied {
        world.remove_one::<Impulse>(entity).unwrap();
    }
}

fn read(world: &mut World, physics: &Physics) {
    for (body, transform, rigid) in world.query_mut::<(&Body, &mut Transform, &mut Rigid)>() {
        let body = physics.body(body.key()).unwrap();
        rigid.velocity = body.linvel();
        if matches!(
            rigid.kind,
            RigidBodyType::Dynamic | RigidBodyType::KinematicVelocityBased
        ) {
            transform.0 = *body.position();
        }
    }
}

fn list_touching(world: &mut World, entities: &Entities, physics: &Physics) {
    for (body, hull) in world.query_mut::<(&Body, &mut Hull)>() {
        let touching = physics.touching(body.key()).into_iter();
        hull.touching = touching
            .filter_map(|touch| entities.entity(touch.body?))
            .collect();
    }
}
