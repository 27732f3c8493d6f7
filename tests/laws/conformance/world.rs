//! A script's view of a run, in either host: Rapier's sets, and the events of a step.

use std::sync::mpsc::channel;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};
use serde::Serialize;
use twox_hash::XxHash3_64;

use scenes::hash;

/// Rapier's sets. A simulation gives access to each through the method that its documentation recommends.
pub trait World {
    fn physics(&self) -> &PhysicsWorld;

    /// Gives access to everything.
    fn all(&mut self) -> &mut PhysicsWorld;

    /// Gives access to joints, gravity and parameters.
    fn except_bodies(&mut self) -> &mut PhysicsWorld {
        self.all()
    }

    fn body(&mut self, handle: RigidBodyHandle) -> &mut RigidBody {
        &mut self.all().bodies[handle]
    }

    fn insert(&mut self, body: RigidBodyBuilder, collider: ColliderBuilder) -> RigidBodyHandle {
        self.all().insert(body, collider).0
    }

    fn remove(&mut self, handle: RigidBodyHandle) {
        self.all().remove_body(handle);
    }

    fn queries<'a>(&'a mut self, filter: QueryFilter<'a>) -> QueryPipelineMut<'a> {
        let PhysicsWorld {
            broad_phase,
            narrow_phase,
            bodies,
            colliders,
            ..
        } = self.all();
        let dispatcher = narrow_phase.query_dispatcher();
        broad_phase.as_query_pipeline_mut(dispatcher, bodies, colliders, filter)
    }
}

impl World for PhysicsWorld {
    fn physics(&self) -> &PhysicsWorld {
        self
    }

    fn all(&mut self) -> &mut PhysicsWorld {
        self
    }
}

impl World for Physics {
    fn physics(&self) -> &PhysicsWorld {
        self.rapier()
    }

    fn all(&mut self) -> &mut PhysicsWorld {
        self.rapier_mut()
    }

    fn except_bodies(&mut self) -> &mut PhysicsWorld {
        self.rapier_mut_except_bodies()
    }

    fn body(&mut self, handle: RigidBodyHandle) -> &mut RigidBody {
        let key = key(self, handle);
        self.body_mut(key).expect("the body exists")
    }

    fn insert(&mut self, body: RigidBodyBuilder, collider: ColliderBuilder) -> RigidBodyHandle {
        let key = Physics::insert(self, body, collider);
        self.handle(key).expect("just inserted")
    }

    fn remove(&mut self, handle: RigidBodyHandle) {
        let key = key(self, handle);
        Physics::remove(self, key);
    }

    fn queries<'a>(&'a mut self, filter: QueryFilter<'a>) -> QueryPipelineMut<'a> {
        self.query_pipeline_mut(filter)
    }
}

fn key(physics: &Physics, handle: RigidBodyHandle) -> BodyKey {
    physics.key(handle).expect("the body exists and has a key")
}

pub type Pair = [ColliderHandle; 2];

/// The events of a step, in a simulation's order: sorted by their colliders, the lower one first.
#[derive(Debug, Serialize)]
pub struct Events {
    /// The colliders that began or stopped touching, whether they began, and whether one is a sensor.
    pub touches: Vec<(Pair, bool, bool)>,
    pub forces: Vec<(Pair, Vector)>,
    /// The pieces of each soft body that came apart.
    pub tears: Vec<Vec<SoftBodyHandle>>,
}

impl Events {
    /// Runs Rapier's step, and returns its events.
    pub fn of_step(world: &mut PhysicsWorld, filters: &dyn PhysicsHooks) -> Self {
        let ((to_touches, touches), (to_forces, forces)) = (channel(), channel());
        let (to_tears, tears) = channel();
        let collector = ChannelEventCollector::new(to_touches, to_forces, to_tears);
        world.step_with_events(filters, &collector);
        let touches = touches.try_iter().map(|event: CollisionEvent| {
            let pair = [event.collider1(), event.collider2()];
            (pair, event.started(), event.sensor())
        });
        let mut events = Self::new(touches, forces.try_iter(), tears.try_iter());
        let order = |pair: Pair| {
            let mut pair = pair.map(ColliderHandle::into_raw_parts);
            pair.sort_unstable();
            pair
        };
        events.touches.sort_by_key(|(pair, ..)| order(*pair));
        events.forces.sort_by_key(|(pair, _)| order(*pair));
        events
    }

    /// Returns the events of a step of a simulation.
    pub fn of_tick(physics: &Physics, tick: u64) -> Self {
        let events = physics.events().in_step(tick);
        let touches = events.collisions();
        let touches = touches.map(|event| (event.colliders, event.started, event.sensor));
        let forces = events.contact_forces().map(|event| event.force);
        let tears = events.soft_body_tears().map(|event| (*event.event).clone());
        Self::new(touches, forces, tears)
    }

    fn new(
        touches: impl Iterator<Item = (Pair, bool, bool)>,
        forces: impl Iterator<Item = ContactForceEvent>,
        tears: impl Iterator<Item = SoftBodyTearEvent>,
    ) -> Self {
        let force = |it: ContactForceEvent| ([it.collider1, it.collider2], it.total_force);
        Self {
            touches: touches.collect(),
            forces: forces.map(force).collect(),
            tears: tears.map(|it| it.bodies().collect()).collect(),
        }
    }
}

/// Returns a hash of every bit of a step's result: bodies, particles, the script's own state and events.
pub fn bits(physics: &PhysicsWorld, scene: &impl Serialize, events: &Events) -> u64 {
    let soft_bodies = physics.soft_bodies.iter();
    let particles = soft_bodies.flat_map(|(_, soft)| soft.particles());
    let particles: Vec<_> = particles
        .map(|particle| (particle.position(), particle.velocity()))
        .collect();
    let all = (hash(physics), particles, scene, events);
    XxHash3_64::oneshot(&postcard::to_stdvec(&all).expect("plain data"))
}
