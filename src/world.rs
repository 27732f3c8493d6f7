//! Rapier's sets, the keys of the bodies in them, and the only call of Rapier's step.

use rapier3d::dynamics::{RigidBody, RigidBodyHandle};
use rapier3d::math::{Pose, Vector};
use rapier3d::pipeline::{PhysicsHooks, PhysicsWorld};

use crate::clock::Step;
use crate::events::EventLog;
use crate::key::{BodyKey, Keys};

pub(crate) struct World {
    pub physics: PhysicsWorld,
    pub keys: Keys,
}

impl World {
    pub fn new(physics: PhysicsWorld) -> Self {
        Self {
            physics,
            keys: Keys::default(),
        }
    }

    /// Makes one step, and logs its events.
    pub fn step(&mut self, step: &Step, hooks: &dyn PhysicsHooks, log: &mut EventLog) {
        self.physics.integration_parameters.dt = step.dt;
        let events = log.handler(step.tick, &self.keys);
        self.physics.step_with_events(hooks, &events);
    }

    /// The handle of a body that lives.
    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        let handle = self.keys.handle(key)?;
        self.physics.bodies.contains(handle).then_some(handle)
    }

    /// The key of a body that lives and has one.
    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        let key = self.keys.key(handle)?;
        self.physics.bodies.contains(handle).then_some(key)
    }

    pub fn get(&self, key: BodyKey) -> Option<&RigidBody> {
        self.physics.bodies.get(self.keys.handle(key)?)
    }

    pub fn get_mut(&mut self, key: BodyKey) -> Option<&mut RigidBody> {
        self.physics.bodies.get_mut(self.keys.handle(key)?)
    }

    pub fn position(&self, handle: RigidBodyHandle) -> Option<Pose> {
        self.physics.bodies.get(handle).map(|body| *body.position())
    }

    /// Moves everything by the same way: bodies, what their colliders and the queries know of it, and
    /// what is there without a body. Nothing is woken.
    ///
    /// Joints are fixed to their bodies and go with them, multibodies with their root.
    pub fn translate(&mut self, by: Vector) {
        let PhysicsWorld {
            bodies,
            colliders,
            soft_bodies,
            broad_phase,
            integration_parameters,
            ..
        } = &mut self.physics;
        for (_, body) in bodies.iter_mut() {
            let next = translated(body.next_position(), by);
            body.set_position(translated(body.position(), by), false);
            // On its way to where it shall be after the next step, if it is kinematic.
            if next != *body.position() {
                body.set_next_kinematic_position(next);
            }
        }
        for (_, soft_body) in soft_bodies.iter_mut() {
            for i in 0..soft_body.num_particles() {
                let position = soft_body.particle_position(i) + by;
                soft_body.set_particle_position(i, position);
            }
        }
        bodies.propagate_modified_body_positions_to_colliders(colliders);
        for (handle, collider) in colliders.iter_mut() {
            if collider.parent().is_none() {
                collider.set_position(translated(collider.position(), by));
            }
            // Queries before the next step find everything in its new place.
            broad_phase.set_aabb(integration_parameters, handle, collider.compute_aabb());
        }
    }
}

fn translated(pose: &Pose, by: Vector) -> Pose {
    Pose::from_parts(pose.translation + by, pose.rotation)
}
