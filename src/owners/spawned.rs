//! A body on its way to another thread.

use std::sync::{Arc, OnceLock};

use crate::key::BodyKey;
use crate::simulation::Simulation;

/// A body that was sent to the physics' thread: from [`Runner::spawn`](crate::threads::Runner::spawn).
///
/// Its key is known once the body was inserted, between two steps. It is the key that the body would have got in one
/// thread. A [`call`](crate::threads::Runner::call) that is sent after the spawn finds it:
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
///     let key = launched.key().expect("it was inserted before this");
///     simulation.physics.apply_impulse(key, Vector::Y * 10.0).expect("it is there");
/// })?;
/// let (simulation, _) = runner.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Spawned(Arc<OnceLock<Inserted>>);

/// When it was inserted.
#[derive(Clone, Copy, Debug)]
struct Inserted {
    key: BodyKey,
    run: u64,
    /// The number of the last frame before that.
    frame: u64,
}

impl Spawned {
    /// The key of the body; `None` as long as the body is not inserted, and for ever if the thread ends before that.
    #[must_use]
    pub fn key(&self) -> Option<BodyKey> {
        self.0.get().map(|inserted| inserted.key)
    }

    /// The body has just been inserted.
    pub(crate) fn set(&self, key: BodyKey, simulation: &Simulation) {
        let (run, frame) = (simulation.id(), simulation.frame().number);
        // A call runs once.
        let _ = self.0.set(Inserted { key, run, frame });
    }

    /// Whether the body was there in a frame of a simulation, unless it was removed by then. After an assignment of its
    /// physics a simulation is a later run.
    pub(crate) fn has_come(&self, run: u64, frame: u64) -> bool {
        (self.0.get()).is_some_and(|inserted| (inserted.run, inserted.frame) < (run, frame))
    }
}
