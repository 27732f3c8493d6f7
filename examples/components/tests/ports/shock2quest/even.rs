//! On evenstep.

use super::{Engine, Game, Id, level};
use evenstep::ecs::EntityMap;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use std::collections::BTreeMap;
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Vec<f32> {
    let (mut engine, mut game) = (Even::new(), Game::default());
    game.start(&mut engine);
    for time in frames {
        engine.simulation.begin_frame(*time);
        while let Some(step) = engine.simulation.next_step() {
            game.rules(&mut engine, step.dt);
            engine.simulation.run_step();
        }
        engine.simulation.end_frame();
    }
    game.end(&engine)
}

struct Even {
    simulation: Simulation,
    keys: BTreeMap<Id, BodyKey>,
    ids: EntityMap<Id>,
}

impl Even {
    fn new() -> Self {
        let mut simulation = Simulation::default();
        let (corners, triangles) = level();
        let mesh = ColliderBuilder::trimesh(corners, triangles).unwrap();
        simulation.physics.insert(RigidBodyBuilder::fixed(), mesh);
        Self {
            simulation,
            keys: BTreeMap::new(),
            ids: EntityMap::default(),
        }
    }
}

impl Engine for Even {
    fn insert(&mut self, id: Id, body: RigidBodyBuilder, collider: ColliderBuilder) {
        let key = self.simulation.physics.insert(body, collider);
        self.keys.insert(id, key);
        self.ids.insert(key, id);
    }

    fn remove(&mut self, id: Id) {
        if let Some(key) = self.keys.remove(&id) {
            self.ids.remove_body(&mut self.simulation.physics, key, id);
        }
    }

    fn add_force(&mut self, id: Id, force: Vector) {
        let key = self.keys[&id];
        self.simulation.physics.add_force(key, force).unwrap();
    }

    fn walk_to(&mut self, id: Id, position: Vector) {
        let body = self.simulation.physics.body_mut(self.keys[&id]).unwrap();
        body.set_next_kinematic_translation(position);
    }

    fn position(&self, id: Id) -> Option<Vector> {
        let body = self.simulation.physics.body(*self.keys.get(&id)?)?;
        Some(body.translation())
    }

    fn crossed(&mut self, id: Id) -> Vec<(Id, bool)> {
        let own = Some(self.keys[&id]);
        let events = self.simulation.physics.events();
        let events = events
            .collisions()
            .filter(|it| it.sensor && it.bodies.contains(&own));
        let crossed = events.filter_map(|it| {
            let other = it.bodies.into_iter().find(|body| *body != own)?;
            Some((self.ids.entity(other?)?, it.started))
        });
        crossed.collect()
    }
}
