//! Rapier's sets, the keys of the bodies in them, and the only call of Rapier's step.

use rapier3d::dynamics::{RigidBody, RigidBodyHandle};
use rapier3d::math::Pose;
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

    pub fn position(&self, handle: RigidBodyHandle) -> Option<Pose> {
        self.physics.bodies.get(handle).map(|body| *body.position())
    }
}
