//! On evenstep.

use super::{Engine, Game, Played};
use evenstep::Simulation;
use evenstep::ecs::hecs::{Body, Entities, RenderPose};
use evenstep::hecs::{Entity, World};
use evenstep::rapier::prelude::*;
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Played {
    let (mut world, mut layer) = (World::new(), Even::new());
    let mut game = Game::new(&mut world, &mut layer);
    for time in frames {
        layer.simulation.begin_frame(*time);
        while layer.simulation.next_step().is_some() {
            game.rules(&mut world, &mut layer);
            layer.simulation.run_step();
            game.react(&mut world, &mut layer);
        }
        layer.simulation.end_frame();
        layer.entities.sync(&mut world, &mut layer.simulation);
        game.draw(|entity| world.get::<&RenderPose>(entity).unwrap().0);
    }
    game.end(&world, &layer)
}

struct Even {
    simulation: Simulation,
    entities: Entities,
}

impl Even {
    fn new() -> Self {
        let mut simulation = Simulation::default();
        simulation.physics.set_gravity(Vector::ZERO).unwrap();
        Self {
            simulation,
            entities: Entities::default(),
        }
    }
}

impl Engine for Even {
    fn spawn(
        &mut self,
        world: &mut World,
        body: RigidBodyBuilder,
        collider: ColliderBuilder,
    ) -> Entity {
        let physics = &mut self.simulation.physics;
        self.entities.spawn(world, physics, body, collider, ()).0
    }

    fn despawn(&mut self, world: &mut World, entity: Entity) {
        self.entities
            .despawn(world, &mut self.simulation, entity)
            .unwrap();
    }

    fn push(&mut self, world: &World, entity: Entity, force: Vector, torque: Vector) {
        let key = world.get::<&Body>(entity).unwrap().key();
        self.simulation.physics.add_force(key, force).unwrap();
        self.simulation.physics.add_torque(key, torque).unwrap();
    }

    fn teleport(&mut self, world: &World, entity: Entity, pose: Pose) {
        let key = world.get::<&Body>(entity).unwrap().key();
        self.simulation.physics.teleport(key, pose).unwrap();
    }

    fn pose(&self, world: &World, entity: Entity) -> Pose {
        let key = world.get::<&Body>(entity).unwrap().key();
        *self.simulation.physics.body(key).unwrap().position()
    }

    fn hits(&mut self) -> Vec<[Entity; 2]> {
        let events = self.simulation.physics.events();
        let events = events.collisions().filter(|it| it.started);
        let entity = |key| self.entities.entity(key);
        let hits = events.filter_map(|it| Some([entity(it.bodies[0]?)?, entity(it.bodies[1]?)?]));
        hits.collect()
    }
}
