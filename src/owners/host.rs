//! What has the bodies of entities, and what displays them.

use crate::key::BodyKey;
use crate::physics::Physics;
use crate::pose::Screen;
use crate::simulation::Simulation;
use rapier::math::Pose;

use super::spawned::Spawned;

/// What has the bodies of entities: a [`Physics`], in the hook of a step; a [`Simulation`] or a
/// [`Runner`](crate::threads::Runner), outside of hooks.
///
/// It cannot be implemented for other types.
pub trait Bodies: BodyStore {}

/// What also displays the bodies: a [`Simulation`] or a [`Runner`](crate::threads::Runner).
///
/// It cannot be implemented for other types.
pub trait Host: Bodies + Picture {}

impl Bodies for Physics {}
impl Bodies for Simulation {}
impl Host for Simulation {}

/// Where bodies are. Nobody outside of the crate can name it.
pub trait Poses {
    /// Where a body is: in the picture, if there is one. `None` of a body that was removed.
    fn pose(&self, key: BodyKey) -> Option<Pose>;
}

/// What [`Owners`](super::Owners) does with bodies. Nobody outside of the crate can name it.
pub trait BodyStore: Poses {
    /// Removes a body at once. Returns `false` if bodies are only removed together.
    fn remove(&mut self, key: BodyKey) -> bool;

    /// Removes bodies. Returns those that cannot be removed now.
    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey>;
}

/// What [`Owners`](super::Owners) asks of the picture. Nobody outside of the crate can name it.
pub trait Picture: Poses {
    /// Which simulation is displayed; `None` if it may be one after another.
    fn run(&self) -> Option<u64>;

    /// What frames display; `None` while it says nothing of the bodies.
    fn screen(&self) -> Option<&Screen>;

    /// Whether a body that was sent has come, and is gone if it has no pose.
    fn is_after(&self, spawned: &Spawned) -> bool;
}

impl Poses for Physics {
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.body(key).map(|body| *body.position())
    }
}

impl BodyStore for Physics {
    fn remove(&mut self, key: BodyKey) -> bool {
        self.remove(key);
        true
    }

    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey> {
        for key in keys {
            self.remove(key);
        }
        Vec::new()
    }
}

impl Poses for Simulation {
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        // A removed body stays in the picture until the next one, but nothing can be attached to it.
        self.physics.handle(key)?;
        self.pose(key)
    }
}

impl BodyStore for Simulation {
    fn remove(&mut self, key: BodyKey) -> bool {
        BodyStore::remove(&mut self.physics, key)
    }

    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey> {
        BodyStore::remove_all(&mut self.physics, keys)
    }
}

impl Picture for Simulation {
    fn run(&self) -> Option<u64> {
        Some(self.id())
    }

    fn screen(&self) -> Option<&Screen> {
        // The picture is of another state while steps are resimulated, and after an assignment.
        let is_of_physics = self.steps_to_resimulate() == 0 && self.knows_physics();
        self.screen().filter(|_| is_of_physics)
    }

    fn is_after(&self, spawned: &Spawned) -> bool {
        spawned.key().is_some()
    }
}
