//! Types that have the bodies of entities, and types that display them. A body that was sent to a thread.

use std::sync::{Arc, OnceLock};

use crate::key::BodyKey;
use crate::physics::Physics;
use crate::screen::Screen;
use crate::simulation::Simulation;
use rapier::math::Pose;

/// Has the bodies of entities: a [`Physics`] in hooks, or a [`Simulation`] or [`Runner`](crate::threads::Runner). It
/// cannot be implemented for other types.
pub trait Bodies: BodyStore {}

/// Displays the bodies: a [`Simulation`], a [`Runner`](crate::threads::Runner) or an
/// [`Overlap`](crate::threads::Overlap). It cannot be implemented for other types.
pub trait Host: Picture {}

impl Bodies for Physics {}
impl Bodies for Simulation {}
impl Host for Simulation {}

/// Has the poses of bodies.
pub trait Poses {
    /// Returns the pose of a body, the displayed one if there is a picture, or `None` if it was removed.
    fn pose(&self, key: BodyKey) -> Option<Pose>;
}

/// Removes bodies, for [`EntityMap`](super::EntityMap).
pub trait BodyStore: Poses {
    /// Removes a body at once, or in the next frame.
    fn remove(&mut self, key: BodyKey);
}

/// Has the picture that [`EntityMap`](super::EntityMap) needs.
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

/// Identifies a body that was sent to the thread of the physics with [`Runner::spawn`](crate::threads::Runner::spawn).
///
/// Its key is known once the body is inserted, between two steps, so in every later
/// [`call`](crate::threads::Runner::call).
#[derive(Clone, Debug, Default)]
pub struct Spawned(Arc<OnceLock<Option<Inserted>>>);

#[derive(Clone, Copy, Debug)]
struct Inserted {
    key: BodyKey,
    run: u64,
    /// The number of the last frame before the insertion.
    frame: u64,
}

impl Spawned {
    /// Returns the key of the body, or `None` if it is not inserted yet or is [lost](Self::is_lost).
    #[must_use]
    pub fn key(&self) -> Option<BodyKey> {
        self.inserted().map(|inserted| inserted.key)
    }

    /// Returns whether the body will never be inserted, because the thread ended or panicked first.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self.0.get(), Some(None))
    }

    fn inserted(&self) -> Option<&Inserted> {
        self.0.get()?.as_ref()
    }

    /// Returns whether the body was inserted before a frame of a simulation, whose `run` is later after an assignment.
    pub(crate) fn has_come(&self, run: u64, frame: u64) -> bool {
        (self.inserted()).is_some_and(|inserted| (inserted.run, inserted.frame) < (run, frame))
    }
}

/// The other end of a [`Spawned`]. If it is dropped unset, the body is lost.
pub(crate) struct Inserter(Spawned);

impl Inserter {
    pub fn new(spawned: Spawned) -> Self {
        Self(spawned)
    }

    pub fn set(&self, key: BodyKey, simulation: &Simulation) {
        let (run, frame) = (simulation.timeline(), simulation.frame().number);
        // A call runs once.
        let _ = self.0.0.set(Some(Inserted { key, run, frame }));
    }
}

impl Drop for Inserter {
    fn drop(&mut self) {
        let _ = self.0.0.set(None);
    }
}
