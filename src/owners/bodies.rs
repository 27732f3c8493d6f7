//! Where the bodies of entities are.

use crate::key::BodyKey;
use crate::pose::Screen;
use crate::runner::Runner;
use crate::runner::Spawned;
use crate::simulation::{Hooks, Simulation};
use rapier::math::Pose;

/// What has the bodies of entities: a [`Simulation`] or a [`Runner`].
///
/// It cannot be implemented for other types.
pub trait Bodies: Source {}

impl Bodies for Simulation {}

impl<H> Bodies for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
}

/// What [`Owners`](super::Owners) asks of the bodies. Nobody outside can name it.
pub trait Source {
    /// Where a body is shown; `None` of one that is gone.
    fn pose(&self, key: BodyKey) -> Option<Pose>;

    /// Whether a body that was sent has come, and is gone if it has no pose.
    fn is_after(&self, spawned: &Spawned) -> bool;

    /// What frames show; `None` inside of a thread, where none are shown, and while it says nothing of the bodies: steps
    /// are made again.
    fn screen(&self) -> Option<&Screen>;

    /// Removes a body at once. Gives `false` if bodies are only removed together.
    fn remove(&mut self, key: BodyKey) -> bool;

    /// Removes bodies. Gives back those of which that cannot be done now.
    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey>;
}

impl Source for Simulation {
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.pose(key)
    }

    fn is_after(&self, spawned: &Spawned) -> bool {
        spawned.key().is_some()
    }

    fn screen(&self) -> Option<&Screen> {
        self.screen().filter(|_| self.steps_to_resimulate() == 0)
    }

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

impl<H> Source for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.view().pose(key)
    }

    fn is_after(&self, spawned: &Spawned) -> bool {
        self.view().is_after(spawned)
    }

    fn screen(&self) -> Option<&Screen> {
        Some(self.view().screen())
    }

    fn remove(&mut self, _: BodyKey) -> bool {
        // A level that is cleared would fill the queue.
        false
    }

    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey> {
        Self::remove_all(self, keys)
    }
}
