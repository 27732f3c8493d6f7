//! What a script sees of a run, whoever steps it: Rapier's sets, and what happened in a step.

use std::sync::Mutex;

use evenstep::rapier3d::prelude::*;
use evenstep::{BodyKey, Simulation};
use serde::Serialize;
use twox_hash::XxHash3_64;

use crate::scenes::hash;

/// Rapier's sets. A simulation gives each by the access that its documentation names for it.
pub trait World {
    fn physics(&self) -> &PhysicsWorld;

    /// For anything.
    fn all(&mut self) -> &mut PhysicsWorld;

    /// For joints, gravity and parameters.
    fn except_bodies(&mut self) -> &mut PhysicsWorld {
        self.all()
    }

    /// For these bodies.
    fn only(&mut self, _: &[RigidBodyHandle]) -> &mut PhysicsWorld {
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

    fn remove_collider(&mut self, handle: ColliderHandle) {
        self.all().remove_collider(handle);
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

fn key(simulation: &Simulation, handle: RigidBodyHandle) -> BodyKey {
    simulation.key(handle).expect("it lives, and has a key")
}

impl World for Simulation {
    fn physics(&self) -> &PhysicsWorld {
        self.physics()
    }

    fn all(&mut self) -> &mut PhysicsWorld {
        self.physics_mut()
    }

    fn except_bodies(&mut self) -> &mut PhysicsWorld {
        self.physics_mut_except_bodies()
    }

    fn only(&mut self, handles: &[RigidBodyHandle]) -> &mut PhysicsWorld {
        let keys: Vec<_> = handles.iter().map(|handle| key(self, *handle)).collect();
        self.physics_mut_for(&keys)
    }

    fn body(&mut self, handle: RigidBodyHandle) -> &mut RigidBody {
        let key = key(self, handle);
        self.body_mut(key).expect("it lives")
    }

    fn insert(&mut self, body: RigidBodyBuilder, collider: ColliderBuilder) -> RigidBodyHandle {
        let key = Simulation::insert(self, body, collider);
        self.handle(key).expect("just inserted")
    }

    fn remove(&mut self, handle: RigidBodyHandle) {
        let key = key(self, handle);
        Simulation::remove(self, key);
    }

    fn remove_collider(&mut self, handle: ColliderHandle) {
        Simulation::remove_collider(self, handle);
    }

    fn queries<'a>(&'a mut self, filter: QueryFilter<'a>) -> QueryPipelineMut<'a> {
        self.query_pipeline_mut(filter)
    }
}

/// Two colliders, the lower handle first.
type Pair = [ColliderHandle; 2];

fn in_order(mut pair: Pair) -> Pair {
    pair.sort_by_key(|handle| handle.into_raw_parts());
    pair
}

/// Two colliders began to touch, or ended.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Touch {
    pub pair: Pair,
    pub started: bool,
    pub sensor: bool,
}

/// What happened in a step, in the order of the colliders.
#[derive(Debug, Default, Serialize)]
pub struct Events {
    pub touches: Vec<Touch>,
    /// By which force each pair was pressed together.
    pub forces: Vec<(Pair, f32)>,
    /// The new soft bodies of each that tore.
    pub tears: Vec<Vec<SoftBodyHandle>>,
}

impl Events {
    /// Those of a step that a simulation has made.
    pub fn of(simulation: &Simulation, tick: u64) -> Self {
        let events = simulation.events().in_tick(tick);
        let touches = events.collisions().map(|collision| Touch {
            pair: in_order(collision.colliders),
            started: collision.started,
            sensor: collision.sensor,
        });
        let forces = events.contact_forces().map(|contact| {
            let force = contact.force;
            let pair = in_order([force.collider1, force.collider2]);
            (pair, force.total_force_magnitude)
        });
        let tears = events.soft_body_tears();
        Self {
            touches: touches.collect(),
            forces: forces.collect(),
            tears: tears.map(|tear| tear.event.bodies().collect()).collect(),
        }
    }
}

/// Rapier's events of one step.
#[derive(Default)]
pub struct Log(Mutex<Events>);

impl Log {
    pub fn events(self) -> Events {
        let mut events = self.0.into_inner().expect("no handler panicked");
        let raw = |pair: Pair| pair.map(ColliderHandle::into_raw_parts);
        events.touches.sort_by_key(|touch| raw(touch.pair));
        events.forces.sort_by_key(|(pair, _)| raw(*pair));
        events
    }
}

impl EventHandler for Log {
    fn handle_collision_event(
        &self,
        _: &RigidBodySet,
        _: &ColliderSet,
        event: CollisionEvent,
        _: Option<&ContactPair>,
    ) {
        self.0.lock().unwrap().touches.push(Touch {
            pair: in_order([event.collider1(), event.collider2()]),
            started: event.started(),
            sensor: event.sensor(),
        });
    }

    fn handle_contact_force_event(
        &self,
        _: f32,
        _: &RigidBodySet,
        _: &ColliderSet,
        pair: &ContactPair,
        force: f32,
    ) {
        let pair = in_order([pair.collider1, pair.collider2]);
        self.0.lock().unwrap().forces.push((pair, force));
    }

    fn handle_soft_body_tear_event(&self, _: &SoftBodySet, event: &SoftBodyTearEvent) {
        let pieces = event.bodies().collect();
        self.0.lock().unwrap().tears.push(pieces);
    }
}

/// Every bit of a step's outcome, in one number: bodies, particles, the script's own state, events.
pub fn bits(physics: &PhysicsWorld, scene: &impl Serialize, events: &Events) -> u64 {
    let soft_bodies = physics.soft_bodies.iter();
    let particles = soft_bodies.flat_map(|(_, soft)| soft.particles());
    let particles: Vec<_> = particles
        .map(|particle| (particle.position(), particle.velocity()))
        .collect();
    let all = (hash(physics), particles, scene, events);
    XxHash3_64::oneshot(&postcard::to_stdvec(&all).expect("plain data"))
}
