//! On plain Rapier.

use super::{Engine, Game, Transform};
use even2d::hecs::{Entity, World};
use even2d::rapier::prelude::*;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Vec<f32> {
    let (mut world, mut engine) = (World::new(), Plain::new());
    let mut game = Game::new(&mut world, &mut engine);
    for time in frames {
        game.rules(&mut world, &mut engine, time.as_secs_f32());
        engine.write(&mut world);
        engine.rapier.integration_parameters.dt = time.as_secs_f32();
        engine.rapier.step_with_events(&(), &engine.collector);
        engine.read(&mut world);
        engine.receive();
    }
    game.end(&world)
}

struct Plain {
    rapier: PhysicsWorld,
    body_of: BTreeMap<Entity, RigidBodyHandle>,
    collider_of: BTreeMap<Entity, ColliderHandle>,
    entity_of: BTreeMap<(u32, u32), Entity>,
    touching: BTreeMap<Entity, Vec<Entity>>,
    collector: ChannelEventCollector,
    collisions: Receiver<CollisionEvent>,
}

impl Engine for Plain {
    fn spawn(
        &mut self,
        world: &mut World,
        body: RigidBodyBuilder,
        collider: ColliderBuilder,
        transform: Transform,
    ) -> Entity {
        let entity = world.spawn((transform,));
        let body = body.translation(Vector::new(transform.x, transform.y));
        let (body, collider) = self.rapier.insert(body, collider);
        self.body_of.insert(entity, body);
        self.collider_of.insert(entity, collider);
        self.entity_of.insert(collider.into_raw_parts(), entity);
        entity
    }

    fn despawn(&mut self, world: &mut World, entity: Entity) {
        world.despawn(entity).unwrap();
        if let Some(body) = self.body_of.remove(&entity) {
            self.rapier.remove_body(body);
        }
        if let Some(collider) = self.collider_of.remove(&entity) {
            self.entity_of.remove(&collider.into_raw_parts());
        }
        self.touching.remove(&entity);
    }

    fn touching(&self, entity: Entity, _: &World) -> usize {
        self.touching.get(&entity).map_or(0, Vec::len)
    }
}

impl Plain {
    fn new() -> Self {
        let (sender, collisions) = channel();
        Self {
            rapier: PhysicsWorld::default(),
            body_of: BTreeMap::new(),
            collider_of: BTreeMap::new(),
            entity_of: BTreeMap::new(),
            touching: BTreeMap::new(),
            collector: ChannelEventCollector::new(sender, channel().0, channel().0),
            collisions,
        }
    }

    fn write(&mut self, world: &mut World) {
        for (entity, transform) in world.query_mut::<(Entity, &Transform)>() {
            let Some(body) = self.body_of.get(&entity) else {
                continue;
            };
            let body = &mut self.rapier.bodies[*body];
            let translation = Vector::new(transform.x, transform.y);
            if body.is_kinematic() {
                body.set_next_kinematic_translation(translation);
            } else {
                body.set_translation(translation, true);
            }
        }
    }

    fn read(&self, world: &mut World) {
        for (entity, transform) in world.query_mut::<(Entity, &mut Transform)>() {
            let Some(body) = self.body_of.get(&entity) else {
                continue;
            };
            let translation = self.rapier.bodies[*body].translation();
            *transform = Transform {
                x: translation.x,
                y: translation.y,
            };
        }
    }

    fn receive(&mut self) {
        while let Ok(event) = self.collisions.try_recv() {
            let pair = [event.collider1(), event.collider2()];
            let [Some(one), Some(two)] =
                pair.map(|it| self.entity_of.get(&it.into_raw_parts()).copied())
            else {
                continue;
            };
            for (own, other) in [(one, two), (two, one)] {
                let list = self.touching.entry(own).or_default();
                if event.started() {
                    list.push(other);
                } else {
                    list.retain(|entity| *entity != other);
                }
            }
        }
    }
}
