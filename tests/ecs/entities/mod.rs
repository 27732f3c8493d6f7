//! Entities and bodies stay in sync.

mod lifetimes;
mod missing;
mod random;
mod restored;
mod taken;
mod worlds;

use evenstep::ecs::hecs::{Body, Entities, EntityError, RenderPose};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation};
use hecs::{Entity, World};
use proptest::prelude::*;
use scenes::testing::{translation, vector};
use std::collections::BTreeSet;
use std::time::Duration;

const MS: fn(u64) -> Duration = Duration::from_millis;

#[derive(Default)]
struct Game {
    world: World,
    simulation: Option<Simulation>,
    entities: Entities,
}

struct Name(#[expect(dead_code, reason = "a component that the game defines")] usize);

fn spawn(
    entities: &mut Entities,
    world: &mut World,
    simulation: &mut Simulation,
    body: RigidBodyBuilder,
) -> Entity {
    entities
        .spawn(
            world,
            &mut simulation.physics,
            body,
            ColliderBuilder::ball(0.5),
            (Name(1),),
        )
        .0
}

fn key(world: &World, entity: Entity) -> BodyKey {
    world.get::<&Body>(entity).unwrap().key()
}

fn pose(world: &World, entity: Entity) -> Pose {
    world.get::<&RenderPose>(entity).unwrap().0
}

impl Game {
    fn new() -> Self {
        let simulation = Simulation::new(Rate::hz(100));
        Self {
            simulation: Some(simulation),
            ..Self::default()
        }
    }

    fn simulation(&mut self) -> &mut Simulation {
        self.simulation.as_mut().unwrap()
    }

    fn spawn(&mut self, body: RigidBodyBuilder) -> Entity {
        let simulation = self.simulation.as_mut().unwrap();
        spawn(&mut self.entities, &mut self.world, simulation, body)
    }

    fn despawn(&mut self, entity: Entity) {
        let simulation = self.simulation.as_mut().unwrap();
        self.entities
            .despawn(&mut self.world, simulation, entity)
            .unwrap();
    }

    fn frame(&mut self, ms: u64) {
        let simulation = self.simulation.as_mut().unwrap();
        simulation.advance(MS(ms), |_, _| ());
        self.entities.sync(&mut self.world, simulation);
    }

    fn pose(&self, entity: Entity) -> Pose {
        self.world.get::<&RenderPose>(entity).unwrap().0
    }

    /// Checks, after a sync, that each body has its entity, each entity has its body, and each pose is right.
    #[track_caller]
    fn check(&self) {
        let simulation = self.simulation.as_ref().unwrap();
        let mut bodies = 0;
        for (entity, body, pose) in &mut self.world.query::<(Entity, &Body, &RenderPose)>() {
            assert_eq!(self.entities.entity(body.key()), Some(entity));
            assert_eq!(simulation.pose(body.key()), Some(pose.0));
            bodies += 1;
        }
        assert_eq!(simulation.physics.rapier().bodies.len(), bodies);
        assert_eq!(self.world.query::<&RenderPose>().iter().count(), bodies);
    }
}
