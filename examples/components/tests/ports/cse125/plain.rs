//! On plain Rapier.

use super::{Engine, Game, Played, inputs};
use evenstep::rapier::prelude::*;
use slotmap::{DefaultKey as Entity, Key, KeyData, SecondaryMap, SlotMap};
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Played {
    let (mut server, mut client) = (Server::default(), Client::default());
    server.rapier.gravity = Vector::ZERO;
    let mut game = Game::new(&mut server);
    let (mut now, mut started) = (Duration::ZERO, Duration::ZERO);
    let mut waiting = vec![];
    for time in frames {
        waiting.extend(inputs(now, now + *time));
        now += *time;
        // The server sleeps for the rest of 16 ms, and then until the host wakes it.
        if now - started >= Duration::from_millis(16) {
            started = now;
            for (_, input) in waiting.drain(..) {
                game.input(input);
            }
            game.rules(&mut server);
            client.receive(server.tick());
        }
        game.draw(|entity| client.drawn(entity));
    }
    game.end(&server, |entity| client.newest[entity])
}

struct Handles {
    body: RigidBodyHandle,
    collider: ColliderHandle,
}

#[derive(Default)]
struct Server {
    entities: SlotMap<Entity, ()>,
    handles: SecondaryMap<Entity, Handles>,
    poses: SecondaryMap<Entity, Pose>,
    rapier: PhysicsWorld,
}

impl Server {
    /// Copies the poses and steps, in this order.
    fn tick(&mut self) -> SecondaryMap<Entity, Pose> {
        for (entity, handles) in &self.handles {
            let pose = *self.rapier.bodies[handles.body].position();
            self.poses.insert(entity, pose);
        }
        self.rapier.step();
        self.poses.clone()
    }
}

impl Engine<Entity> for Server {
    fn spawn(&mut self, body: RigidBodyBuilder, collider: ColliderBuilder) -> Entity {
        let entity = self.entities.insert(());
        let data = u128::from(entity.data().as_ffi());
        let (body, collider) = self.rapier.insert(body, collider.user_data(data));
        self.handles.insert(entity, Handles { body, collider });
        entity
    }

    fn despawn(&mut self, entity: Entity) {
        if let Some(handles) = self.handles.remove(entity) {
            self.rapier.remove_body(handles.body);
        }
        self.poses.remove(entity);
        self.entities.remove(entity);
    }

    fn push(&mut self, entity: Entity, impulse: Vector) {
        let handle = self.handles[entity].body;
        self.rapier.bodies[handle].apply_impulse(impulse, true);
    }

    fn position(&self, entity: Entity) -> Option<Vector> {
        let handle = self.handles.get(entity)?.body;
        Some(self.rapier.bodies[handle].translation())
    }

    fn shoot(&self, entity: Entity, direction: Vector) -> Option<Entity> {
        let ray = Ray::new(self.position(entity)?, direction);
        let filter = QueryFilter::default().exclude_collider(self.handles[entity].collider);
        let (hit, _) = self.rapier.cast_ray(&ray, f32::MAX, true, filter)?;
        let data = self.rapier.colliders[hit].user_data as u64;
        Some(KeyData::from_ffi(data).into())
    }
}

/// Draws the newest poses.
#[derive(Default)]
struct Client {
    newest: SecondaryMap<Entity, Pose>,
}

impl Client {
    fn receive(&mut self, poses: SecondaryMap<Entity, Pose>) {
        self.newest = poses;
    }

    fn drawn(&self, entity: Entity) -> Option<Pose> {
        self.newest.get(entity).copied()
    }
}
