//! Where the bodies of entities are.

use crate::key::BodyKey;
use crate::pose::Screen;
use crate::simulation::Simulation;
use rapier::math::Pose;

use super::Spawned;

/// What has the bodies of entities: a [`Simulation`] or a [`Runner`](crate::threads::Runner).
///
/// It cannot be implemented for other types.
pub trait Bodies: Source {}

impl Bodies for Simulation {}

/// What [`Owners`](super::Owners) asks of the bodies. Nobody outside can name it.
pub trait Source {
    /// Where a body is shown; `None` of one that is gone.
    fn pose(&self, key: BodyKey) -> Option<Pose>;

    /// Whether a body that was sent has come, and is gone if it has no pose.
    fn is_after(&self, spawned: &Spawned) -> bool;

    /// Which simulation it is; `None` if it may be one after another.
    fn run(&self) -> Option<u64>;

    /// What frames show; `None` inside of a thread, where none are shown, and while it says nothing of the bodies: steps
    /// are resimulated.
    fn screen(&self) -> Option<&Screen>;

    /// Removes a body at once. Gives `false` if bodies are only removed together.
    fn remove(&mut self, key: BodyKey) -> bool;

    /// Removes bodies. Gives back those of which that cannot be done now.
    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey>;
}

impl Source for Simulation {
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        // A removed body stays in the picture until the next one, but nothing can be attached to it.
        self.handle(key)?;
        self.pose(key)
    }

    fn is_after(&self, spawned: &Spawned) -> bool {
        spawned.key().is_some()
    }

    fn run(&self) -> Option<u64> {
        Some(self.id())
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
