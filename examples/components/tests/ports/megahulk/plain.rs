//! On plain Rapier.

use super::{Engine, Game, Played};
use evenstep::hecs::{Entity, World};
use evenstep::rapier::prelude::*;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Played {
    let (mut world, mut layer) = (World::new(), Plain::new());
    let mut game = Game::new(&mut world, &mut layer);
    let (mut time, mut ticks) = (Duration::ZERO, 0);
    for frame in frames {
        time += *frame;
        // A tick of 1/60 s has 1,000,000,000 parts.
        let parts = time.as_nanos() * 60;
        let due = parts / 1_000_000_000 - ticks;
        ticks += due;
        // Ticks beyond the tenth are lost.
        for _ in 0..due.min(10) {
            snapshot(&mut world);
            game.rules(&mut world, &mut layer);
            layer.rapier.step_with_events(&(), &layer.collector);
            layer.reset_forces();
            layer.read(&mut world);
            game.react(&mut world, &mut layer);
        }
        let alpha = (parts % 1_000_000_000) as f32 / 1e9;
        game.draw(|entity| world.get::<&Position>(entity).unwrap().drawn(alpha));
    }
    game.end(&world, &layer)
}

/// The body of an entity.
struct Handle(RigidBodyHandle);

/// The pose of an entity after the last tick, and after the one before.
struct Position {
    now: Pose,
    old: Pose,
}

impl Position {
    /// Extrapolates the translation, and interpolates the rotation.
    fn drawn(&self, alpha: f32) -> Pose {
        let moved = self.now.translation - self.old.translation;
        let rotation = self.old.rotation.slerp(self.now.rotation, alpha);
        Pose::from_parts(self.now.translation + moved * alpha, rotation)
    }
}

fn snapshot(world: &mut World) {
    for position in world.query_mut::<&mut Position>() {
        position.old = position.now;
    }
}

struct Plain {
    rapier: PhysicsWorld,
    collector: ChannelEventCollector,
    collisions: Receiver<CollisionEvent>,
}

impl Plain {
    fn new() -> Self {
        let (sender, collisions) = channel();
        Self {
            rapier: PhysicsWorld {
                gravity: Vector::ZERO,
                ..PhysicsWorld::default()
            },
            collector: ChannelEventCollector::new(sender, channel().0, channel().0),
            collisions,
        }
    }

    fn reset_forces(&mut self) {
        for (_, body) in self.rapier.bodies.iter_mut() {
            body.reset_forces(true);
            body.reset_torques(true);
        }
    }

    fn read(&self, world: &mut World) {
        for (handle, position) in world.query_mut::<(&Handle, &mut Position)>() {
            position.now = *self.rapier.bodies[handle.0].position();
        }
    }
}

impl Engine for Plain {
    fn spawn(
        &mut self,
        world: &mut World,
        body: RigidBodyBuilder,
        collider: ColliderBuilder,
    ) -> Entity {
        let now = body.position;
        let entity = world.spawn((Position { now, old: now },));
        let data = u128::from(entity.to_bits().get());
        let (body, _) = self.rapier.insert(body, collider.user_data(data));
        world.insert_one(entity, Handle(body)).unwrap();
        entity
    }

    fn despawn(&mut self, world: &mut World, entity: Entity) {
        let handle = world.get::<&Handle>(entity).unwrap().0;
        self.rapier.remove_body(handle);
        world.despawn(entity).unwrap();
    }

    fn push(&mut self, world: &World, entity: Entity, force: Vector, torque: Vector) {
        let handle = world.get::<&Handle>(entity).unwrap().0;
        self.rapier.bodies[handle].add_force(force, true);
        self.rapier.bodies[handle].add_torque(torque, true);
    }

    fn teleport(&mut self, world: &World, entity: Entity, pose: Pose) {
        let (handle, position) = (
            world.get::<&Handle>(entity).unwrap().0,
            world.get::<&mut Position>(entity).unwrap(),
        );
        self.rapier.bodies[handle].set_position(pose, true);
        { position }.now = pose;
    }

    fn pose(&self, world: &World, entity: Entity) -> Pose {
        world.get::<&Position>(entity).unwrap().now
    }

    fn hits(&mut self) -> Vec<[Entity; 2]> {
        let entity = |it| {
            let collider = self.rapier.colliders.get(it)?;
            Entity::from_bits(collider.user_data as u64)
        };
        let events = self.collisions.try_iter().filter(|it| it.started());
        let hits = events.filter_map(|it| Some([entity(it.collider1())?, entity(it.collider2())?]));
        hits.collect()
    }
}
