//! evenstep in hecs, with its module `entities`. A renderer reads [`RenderPose`].

use std::time::Duration;

use evenstep::ecs::hecs::{self as components, Entities, RenderPose};
use evenstep::rapier::math::{Pose, Vector};
use evenstep::rapier::prelude::RigidBody;
use evenstep::{Rate, Simulation};
use hecs::{Entity, World};

use crate::peer::{Peer, STEPS_PER_SECOND};
use crate::scene::Scene;

struct InHecs {
    world: World,
    simulation: Simulation,
    entities: Entities,
    of_body: Vec<Entity>,
}

pub fn build(scene: Scene) -> Box<dyn Peer> {
    let mut world = World::new();
    let mut simulation = simulation();
    let mut entities = Entities::default();
    let of_body = scene
        .bodies()
        .map(|body| {
            let (body, collider) = body.for_rapier();
            let (entity, _) =
                entities.spawn(&mut world, &mut simulation.physics, body, collider, ());
            entity
        })
        .collect();
    Box::new(InHecs {
        world,
        simulation,
        entities,
        of_body,
    })
}

/// Returns an empty simulation without gravity, at the step rate of all peers.
pub fn simulation() -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(STEPS_PER_SECOND));
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    simulation
}

impl InHecs {
    fn body(&self, body: usize) -> &RigidBody {
        let component = self.world.get::<&components::Body>(self.of_body[body]);
        let key = component.expect("every entity has a body").key();
        self.simulation
            .physics
            .body(key)
            .expect("no body is removed")
    }
}

impl Peer for InHecs {
    fn frame(&mut self, time: Duration) {
        self.simulation.advance(time, |_, _| ());
        self.entities.sync(&mut self.world, &mut self.simulation);
    }

    fn steps(&self) -> u64 {
        self.simulation.frame().steps
    }

    fn engine_time(&self) -> Option<Duration> {
        None
    }

    fn shown(&self, body: usize) -> Pose {
        let pose = self.world.get::<&RenderPose>(self.of_body[body]);
        pose.expect("every entity has a pose").0
    }

    fn state(&self, body: usize) -> Pose {
        *self.body(body).position()
    }

    fn is_asleep(&self, body: usize) -> bool {
        self.body(body).is_sleeping()
    }
}
