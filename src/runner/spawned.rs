//! A body on its way to another thread.

use std::sync::{Arc, OnceLock};

use crate::key::BodyKey;

/// A body that was sent to the physics' thread: from [`Runner::spawn`](super::Runner::spawn).
///
/// Its key is known once the body was inserted, between two steps. It is the key that the body would have got in one
/// thread. A [`call`](super::Runner::call) that is sent after the spawn finds it:
///
/// ```
/// # use evenstep::rapier3d::prelude::*;
/// # use evenstep::{Hooks, Runner, RunnerSettings, Simulation};
/// # struct Game;
/// # impl Hooks for Game {
/// #     type Error = std::convert::Infallible;
/// # }
/// # let runner = Runner::new(Simulation::default(), Game, RunnerSettings::default());
/// let rocket = runner.spawn(RigidBodyBuilder::dynamic(), [ColliderBuilder::ball(0.5)])?;
/// let launched = rocket.clone();
/// runner.call(move |simulation, _| {
///     let key = launched.key().expect("it was inserted before this");
///     simulation.apply_impulse(key, Vector::Y * 10.0).expect("it is there");
/// })?;
/// let (simulation, _) = runner.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Spawned(Arc<OnceLock<BodyKey>>);

impl Spawned {
    /// The key of the body; `None` as long as the body is not inserted, and for ever if the thread ends before that.
    #[must_use]
    pub fn key(&self) -> Option<BodyKey> {
        self.0.get().copied()
    }

    pub(super) fn set(&self, key: BodyKey) {
        // A call runs once.
        let _ = self.0.set(key);
    }
}
