//! On evenstep.

use super::{Engine, Game, Transform};
use even2d::ecs::hecs::{Body, Entities};
use even2d::hecs::{Entity, World};
use even2d::rapier::prelude::*;
use even2d::{Simulation, Step};
use std::time::Duration;

pub fn run(frames: &[Duration]) -> Vec<f32> {
    let (mut world, mut engine) = (World::new(), Even::default());
    let mut game = Game::new(&mut world, &mut engine);
    for time in frames {
        engine.simulation.begin_frame(*time);
        while let Some(step) = engine.simulation.next_step() {
            game.rules(&mut world, &mut engine, step.dt);
            engine.write(&mut world, step);
            engine.simulation.run_step();
            engine.read(&mut world);
        }
        engine.simulation.end_frame();
        engine.entities.sync(&mut world, &mut engine.simulation);
    }
    game.end(&world)
}

#[derive(Default)]
struct Even {
    simulation: Simulation,
    entities: Entities,
}

impl Engine for Even {
    fn spawn(
        &mut self,
        world: &mut World,
        body: RigidBodyBuilder,
        collider: ColliderBuilder,
        transform: Transform,
    ) -> Entity {
        let body = body.translation(Vector::new(transform.x, transform.y));
        let physics = &mut self.simulation.physics;
        self.entities
            .spawn(world, physics, body, collider, (transform,))
            .0
    }

    fn despawn(&mut self, world: &mut World, entity: Entity) {
        self.entities
            .despawn(world, &mut self.simulation, entity)
            .unwrap();
    }

    fn touching(&self, entity: Entity, world: &World) -> usize {
        let body = world.get::<&Body>(entity).unwrap();
        self.simulation.physics.touching(body.key()).len()
    }
}

impl Even {
    fn write(&mut self, world: &mut World, step: Step) {
        let physics = &mut self.simulation.physics;
        for (body, transform) in world.query_mut::<(&Body, &Transform)>() {
            let (key, body) = (body.key(), physics.body(body.key()).unwrap());
            let (is_kinematic, mut pose) = (body.is_kinematic(), *body.position());
            pose.translation = Vector::new(transform.x, transform.y);
            if is_kinematic {
                physics
                    .set_kinematic_target(key, pose, step.end_time)
                    .unwrap();
            } else if pose != *body.position() {
                physics.teleport(key, pose).unwrap();
            }
        }
    }

    fn read(&self, world: &mut World) {
        for (body, transform) in world.query_mut::<(&Body, &mut Transform)>() {
            let translation = self
                .simulation
                .physics
                .body(body.key())
                .unwrap()
                .translation();
            *transform = Transform {
                x: translation.x,
                y: translation.y,
            };
        }
    }
}
