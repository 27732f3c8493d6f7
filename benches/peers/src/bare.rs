//! Rapier's step in a loop: the engine's share of a frame, without interpolation.

use std::time::Duration;

use evenstep::rapier::dynamics::RigidBodyHandle;
use evenstep::rapier::math::{Pose, Vector};
use evenstep::rapier::pipeline::PhysicsWorld;
use evenstep::rapier::prelude::RigidBody;

use crate::peer::{FRAME, FRAMES_PER_STEP, Peer, STEPS_PER_SECOND};
use crate::scene::Scene;

struct Bare {
    world: PhysicsWorld,
    of_body: Vec<RigidBodyHandle>,
    /// The time that no step has covered yet.
    left: Duration,
    steps: u64,
}

pub fn build(scene: Scene) -> Box<dyn Peer> {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    world.integration_parameters.dt = 1.0 / STEPS_PER_SECOND as f32;
    let of_body = scene
        .bodies()
        .map(|body| {
            let (body, collider) = body.for_rapier();
            world.insert(body, collider).0
        })
        .collect();
    Box::new(Bare {
        world,
        of_body,
        left: Duration::ZERO,
        steps: 0,
    })
}

impl Bare {
    fn body(&self, body: usize) -> &RigidBody {
        &self.world.bodies[self.of_body[body]]
    }
}

impl Peer for Bare {
    fn frame(&mut self, time: Duration) {
        self.left += time;
        self.steps = 0;
        while let Some(left) = self.left.checked_sub(FRAME * FRAMES_PER_STEP) {
            self.left = left;
            self.steps += 1;
            self.world.step();
        }
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn engine_time(&self) -> Option<Duration> {
        None
    }

    fn shown(&self, body: usize) -> Pose {
        self.state(body)
    }

    fn state(&self, body: usize) -> Pose {
        *self.body(body).position()
    }

    fn is_asleep(&self, body: usize) -> bool {
        self.body(body).is_sleeping()
    }
}
