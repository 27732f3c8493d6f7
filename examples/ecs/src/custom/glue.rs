//! evenstep in a hand-written ECS. The simulation is a field, and a despawn adds the body to a list.

use std::time::Duration;

use evenstep::rapier::prelude::{Collider, Pose, RigidBody};
use evenstep::{BodyKey, Simulation, Step, ecs::EntityMap};

use super::ecs::{Column, Entities, Entity};

#[derive(Default)]
pub struct Stage {
    pub entities: Entities,
    pub bodies: Column<BodyKey>,
    /// The displayed poses, written at the end of each frame.
    pub render_poses: Column<Pose>,
    /// The simulation, its map of entities, and the bodies of despawned entities. They are always replaced together.
    pub simulation: Simulation,
    pub map: EntityMap<Entity>,
    despawned: Vec<(BodyKey, Entity)>,
}

/// Your game's systems, which may have more columns in `G`.
pub type Systems<G> = fn(&mut Stage, &mut G, Step);

impl Stage {
    pub fn frame<G>(&mut self, game: &mut G, time: Duration, [before, after]: [Systems<G>; 2]) {
        self.simulation.begin_frame(time);
        while let Some(step) = self.simulation.next_step() {
            before(self, game, step);
            self.release();
            if self.simulation.run_step() {
                after(self, game, step);
                self.release();
            }
        }
        self.simulation.end_frame();
        self.sync();
    }

    pub fn spawn(&mut self, body: RigidBody, collider: Collider) -> Entity {
        let pose = *body.position();
        let key = self.simulation.physics.insert(body, collider);
        let entity = self.entities.spawn();
        self.bodies.insert(entity, key);
        self.render_poses.insert(entity, pose);
        self.map.insert(key, entity);
        entity
    }

    /// Despawns the entity. `release` removes its body.
    pub fn despawn(&mut self, entity: Entity) {
        self.entities.despawn(entity);
        let body = self.bodies.remove(entity);
        self.despawned.extend(body.map(|key| (key, entity)));
        self.render_poses.remove(entity);
    }

    /// Call it in each step, so that bodies are removed at the same tick at every frame rate.
    fn release(&mut self) {
        let physics = &mut self.simulation.physics;
        for (key, entity) in self.despawned.drain(..) {
            self.map.remove_body(physics, key, entity);
        }
    }

    fn sync(&mut self) {
        for entity in self.map.take_removed(&self.simulation) {
            self.bodies.remove(entity);
            self.render_poses.remove(entity);
        }
        for (entity, pose) in self.map.moved(&self.simulation) {
            self.render_poses.insert(entity, pose);
        }
    }
}
