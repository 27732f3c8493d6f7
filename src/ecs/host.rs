//! Types that have the bodies of entities, and types that display them.

use crate::key::BodyKey;
use crate::physics::Physics;
use crate::screen::Screen;
use crate::simulation::Simulation;
use rapier::math::Pose;

use super::spawned::Spawned;

/// A type that has the bodies of entities: a [`Physics`] in hooks, or a [`Simulation`] or
/// [`Runner`](crate::threads::Runner) outside of them.
///
/// It cannot be implemented for other types.
pub trait Bodies: BodyStore {}

/// A type that displays the bodies: a [`Simulation`], a [`Runner`](crate::threads::Runner) or an
/// [`Overlap`](crate::threads::Overlap).
///
/// It cannot be implemented for other types.
pub trait Host: Picture {}

impl Bodies for Physics {}
impl Bodies for Simulation {}
impl Host for Simulation {}

/// The poses of bodies. This trait cannot be named outside of the crate.
pub trait Poses {
    /// Returns the pose of a body, or `None` if it was removed. The pose is the displayed one if there is a picture.
    fn pose(&self, key: BodyKey) -> Option<Pose>;
}

/// Removes bodies, for [`EntityMap`](super::EntityMap). This trait cannot be named outside of the crate.
pub trait BodyStore: Poses {
    /// Removes a body at once, or in the next frame.
    fn remove(&mut self, key: BodyKey);
}

/// The picture, as [`EntityMap`](super::EntityMap) needs it. This trait cannot be named outside of the crate.
pub trait Picture: Poses {
    /// Returns the identity of the displayed simulation, or `None` if another one may replace it.
    fn run(&self) -> Option<u64>;

    /// Returns the displayed poses, or `None` while they do not belong to the present bodies.
    fn screen(&self) -> Option<&Screen>;

    /// Returns whether a body that was sent has arrived. Without a pose, it has been removed since.
    fn is_after(&self, spawned: &Spawned) -> bool;

    /// Returns the bodies, or `None` if only hooks have them.
    fn bodies(&mut self) -> Option<&mut dyn BodyStore>;
}

impl Poses for Physics {
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.body(key).map(|body| *body.position())
    }
}

impl BodyStore for Physics {
    fn remove(&mut self, key: BodyKey) {
        self.remove(key);
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
    fn remove(&mut self, key: BodyKey) {
        self.physics.remove(key);
    }
}

impl Picture for Simulation {
    fn run(&self) -> Option<u64> {
        Some(self.timeline())
    }

    fn screen(&self) -> Option<&Screen> {
        // While steps are resimulated, and after an assignment, the picture is of another state.
        let is_of_physics = self.steps_to_resimulate() == 0 && self.knows_physics();
        // On a thread, where a view displays the simulation, it has no picture.
        Some(self.screen()).filter(|screen| is_of_physics && screen.epoch().is_some())
    }

    fn is_after(&self, spawned: &Spawned) -> bool {
        spawned.key().is_some()
    }

    fn bodies(&mut self) -> Option<&mut dyn BodyStore> {
        Some(self)
    }
}
