//! Rapier's sets, the keys of the bodies in them, and the only call of Rapier's step.

use rapier3d::dynamics::{RigidBody, RigidBodyHandle};
use rapier3d::math::{Pose, Vector};
use rapier3d::pipeline::{EventHandler, PhysicsHooks, PhysicsWorld};

use crate::clock::Step;
use crate::events::EventLog;
use crate::key::{BodyKey, Keys};

pub(crate) struct World {
    pub physics: PhysicsWorld,
    pub keys: Keys,
    /// Whether all has been translated since the last step.
    is_translated: bool,
}

impl World {
    pub fn new(physics: PhysicsWorld) -> Self {
        Self {
            physics,
            keys: Keys::default(),
            is_translated: false,
        }
    }

    /// Makes one step, and logs its events.
    pub fn step(&mut self, step: &Step, hooks: &dyn PhysicsHooks, log: &mut EventLog) {
        self.physics.integration_parameters.dt = step.dt;
        let events = log.handler(step.tick, &self.keys);
        if std::mem::take(&mut self.is_translated) {
            step_translated(&mut self.physics, hooks, &events);
        } else {
            self.physics.step_with_events(hooks, &events);
        }
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
    /// what is there without a body.
    ///
    /// Joints are fixed to their bodies and go with them, multibodies with their root.
    pub fn translate(&mut self, by: Vector) {
        self.is_translated = true;
        let PhysicsWorld {
            bodies,
            colliders,
            soft_bodies,
            broad_phase,
            integration_parameters,
            ..
        } = &mut self.physics;
        for (_, body) in bodies.iter_mut() {
            let next = body.next_position().append_translation(by);
            body.set_position(body.position().append_translation(by), false);
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
                collider.set_position(collider.position().append_translation(by));
            }
            // Queries before the next step find everything in its new place. What is disabled or not
            // finite Rapier keeps out of the tree.
            let aabb = collider.compute_aabb();
            if collider.is_enabled() && aabb.mins.is_finite() && aabb.maxs.is_finite() {
                broad_phase.set_aabb(integration_parameters, handle, aabb);
            }
        }
    }
}

/// The first step after everything has been translated.
///
/// Rapier keeps the contact points of pairs whose bodies stay as they were to each other, those with
/// a fixed body in world space: in this step it has to find all of them anew. And it wakes what
/// touches a collider that was moved: what slept before sleeps again, unless something has happened
/// to it.
fn step_translated(world: &mut PhysicsWorld, hooks: &dyn PhysicsHooks, events: &dyn EventHandler) {
    let sleepers: Vec<RigidBodyHandle> = world
        .bodies
        .iter()
        .filter(|(_, body)| body.is_sleeping())
        .map(|(handle, _)| handle)
        .collect();
    let recycling = std::mem::take(&mut world.integration_parameters.contact_recycling);
    world.step_with_events(hooks, events);
    world.integration_parameters.contact_recycling = recycling;
    let length_unit = world.integration_parameters.length_unit;
    for handle in sleepers {
        if let Some(body) = world.bodies.get_mut(handle)
            && is_slow(body, length_unit)
        {
            body.sleep();
        }
    }
}

/// As slow as Rapier lets a body fall asleep.
fn is_slow(body: &RigidBody, length_unit: f32) -> bool {
    let activation = body.activation();
    body.linvel().length() < activation.normalized_linear_threshold * length_unit
        && body.angvel().length() < activation.angular_threshold
}
