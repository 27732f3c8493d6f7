//! A body that was sent to another thread.

use std::sync::{Arc, OnceLock};

use crate::key::BodyKey;
use crate::simulation::Simulation;

/// A body that was sent to the thread of the physics. Returned by [`Runner::spawn`](crate::threads::Runner::spawn).
///
/// Its key is known once the body is inserted, between two steps. The key is the same as without a thread. A
/// [`call`](crate::threads::Runner::call) that is sent after the spawn finds it:
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::threads::{Runner, RunnerSettings};
/// # use evenstep::{Hooks, Simulation};
/// # struct Game;
/// # impl Hooks for Game {
/// #     type Error = std::convert::Infallible;
/// # }
/// # let runner = Runner::new(Simulation::default(), Game, RunnerSettings::default())?;
/// let rocket = runner.spawn(RigidBodyBuilder::dynamic(), [ColliderBuilder::ball(0.5)])?;
/// let launched = rocket.clone();
/// runner.call(move |simulation, _| {
///     let key = launched.key().unwrap();
///     simulation.physics.apply_impulse(key, Vector::Y * 10.0).unwrap();
/// })?;
/// let (simulation, _) = runner.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Spawned(Arc<OnceLock<Option<Inserted>>>);

/// The moment at which a body was inserted.
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

    /// Returns whether the body was inserted before a frame of a simulation. An assignment of its physics gives a
    /// simulation a later `run`.
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

    /// Records that the body has just been inserted.
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
