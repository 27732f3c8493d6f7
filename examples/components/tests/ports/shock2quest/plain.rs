//! On plain Rapier.

use super::{Engine, Game, Id, level};
use evenstep::rapier::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Vec<f32> {
    let (mut engine, mut game) = (Plain::new(), Game::default());
    game.start(&mut engine);
    for time in frames {
        game.rules(&mut engine, time.as_secs_f32());
        engine.rapier.step();
        engine.clear_forces();
    }
    game.end(&engine)
}

struct Plain {
    rapier: PhysicsWorld,
    forced: Vec<RigidBodyHandle>,
    inside: BTreeSet<Id>,
}

impl Plain {
    fn new() -> Self {
        let mut rapier = PhysicsWorld::default();
        let (corners, triangles) = level();
        let mesh = ColliderBuilder::trimesh(corners, triangles).unwrap();
        rapier.insert_collider(mesh, None);
        Self {
            rapier,
            forced: vec![],
            inside: BTreeSet::new(),
        }
    }

    /// Returns the body of an entity.
    fn find(&self, id: Id) -> Option<RigidBodyHandle> {
        let mut bodies = self.rapier.rigid_bodies();
        let found = bodies.find(|(_, body)| body.user_data == u128::from(id));
        found.map(|(handle, _)| handle)
    }

    fn clear_forces(&mut self) {
        for handle in self.forced.drain(..) {
            if let Some(body) = self.rapier.bodies.get_mut(handle) {
                body.reset_forces(true);
            }
        }
    }
}

impl Engine for Plain {
    fn insert(&mut self, id: Id, body: RigidBodyBuilder, collider: ColliderBuilder) {
        let data = u128::from(id);
        self.rapier
            .insert(body.user_data(data), collider.user_data(data));
    }

    fn remove(&mut self, id: Id) {
        if let Some(handle) = self.find(id) {
            self.rapier.remove_body(handle);
        }
    }

    fn add_force(&mut self, id: Id, force: Vector) {
        if let Some(handle) = self.find(id) {
            self.rapier.bodies[handle].add_force(force, true);
            self.forced.push(handle);
        }
    }

    fn walk_to(&mut self, id: Id, position: Vector) {
        if let Some(handle) = self.find(id) {
            let body = &mut self.rapier.bodies[handle];
            body.set_next_kinematic_translation(position);
        }
    }

    fn position(&self, id: Id) -> Option<Vector> {
        let handle = self.find(id)?;
        Some(self.rapier.bodies[handle].translation())
    }

    fn crossed(&mut self, id: Id) -> Vec<(Id, bool)> {
        let Some(handle) = self.find(id) else {
            return vec![];
        };
        let own = self.rapier.bodies[handle].colliders()[0];
        let pairs = self.rapier.narrow_phase.intersection_pairs_with(own);
        let pairs = pairs.filter(|(.., is_inside)| *is_inside);
        let others = pairs.map(|(one, two, _)| if one == own { two } else { one });
        let now: BTreeSet<Id> = others
            .map(|it| self.rapier.colliders[it].user_data as Id)
            .collect();
        let entered = now.difference(&self.inside).map(|id| (*id, true));
        let left = self.inside.difference(&now).map(|id| (*id, false));
        let crossed = entered.chain(left).collect();
        self.inside = now;
        crossed
    }
}
