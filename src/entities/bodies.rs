//! Where the bodies of entities are.

use crate::key::BodyKey;
use crate::simulation::Simulation;
use rapier::math::Pose;

use crate::runner::{Command, Runner, SendError};
use crate::simulation::Hooks;

/// The owner of the entities' bodies: a [`Simulation`] or a [`Runner`](crate::Runner).
///
/// It cannot be implemented for other types.
pub trait Bodies: Source {}

impl Bodies for Simulation {}

/// What [`Entities`](super::Entities) asks of the bodies. Nobody outside can name it.
pub trait Source {
    /// Where a body is shown; `None` of one that is gone.
    fn pose(&self, key: BodyKey) -> Option<Pose>;

    /// The number of the frame that is shown: higher than that of every one before.
    fn number(&self) -> u64;

    /// What the frame shows otherwise than the one before.
    fn moved(&self) -> &[(BodyKey, Pose)];

    /// What it shows no longer.
    fn removed(&self) -> &[BodyKey];

    /// Of all frames after this one; `None` if that is not known.
    fn moved_since(&self, frame: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>>;

    /// Of all frames after this one; `None` if that is not known.
    fn removed_since(&self, frame: u64) -> Option<impl Iterator<Item = BodyKey>>;

    /// Removes a body at once. Gives `false` if bodies are only removed together.
    fn remove(&mut self, key: BodyKey) -> bool;

    /// Removes bodies. Gives back those of which that cannot be done now.
    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey>;

    /// Whether [`moved`](Self::moved) and [`removed`](Self::removed) list all that changed since the frame of
    /// this number: it is the last one, or the one before.
    fn lists_all_since(&self, frame: u64) -> bool {
        let frames = self.number().checked_sub(frame);
        frames.is_some_and(|frames| frames <= 1)
    }
}

impl Source for Simulation {
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.pose(key)
    }

    fn number(&self) -> u64 {
        self.frame().number
    }

    fn moved(&self) -> &[(BodyKey, Pose)] {
        self.moved()
    }

    fn removed(&self) -> &[BodyKey] {
        self.removed()
    }

    fn moved_since(&self, frame: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>> {
        self.moved_since(frame)
    }

    fn removed_since(&self, frame: u64) -> Option<impl Iterator<Item = BodyKey>> {
        self.removed_since(frame)
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

impl<H> Bodies for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
}

impl<H> Source for Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.view().pose_or_start(key)
    }

    fn number(&self) -> u64 {
        self.view().number()
    }

    fn moved(&self) -> &[(BodyKey, Pose)] {
        self.view().moved()
    }

    fn removed(&self) -> &[BodyKey] {
        self.view().removed()
    }

    // Only the last frame is known. Whoever missed one looks at every body.

    fn moved_since(&self, _: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>> {
        None::<std::iter::Empty<_>>
    }

    fn removed_since(&self, _: u64) -> Option<impl Iterator<Item = BodyKey>> {
        None::<std::iter::Empty<_>>
    }

    fn remove(&mut self, _: BodyKey) -> bool {
        // A level that is cleared would fill the queue.
        false
    }

    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey> {
        match self.send(Command::RemoveAll(keys)) {
            Err(SendError::Full(Command::RemoveAll(keys))) => keys,
            // Of one whose thread has ended nothing is left to remove.
            _ => Vec::new(),
        }
    }
}
