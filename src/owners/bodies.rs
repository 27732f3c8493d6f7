//! Where the bodies of entities are.

use crate::key::BodyKey;
use crate::runner::{Command, Runner, SendError};
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

    /// The number of the frame that is shown: higher than that of every one before.
    fn number(&self) -> u64;

    /// What may be shown otherwise than in an earlier frame; `None` if that is not known.
    fn moved_since(&self, frame: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>>;

    /// What is shown no longer; `None` if that is not known.
    fn removed_since(&self, frame: u64) -> Option<impl Iterator<Item = BodyKey>>;

    /// Removes a body at once. Gives `false` if bodies are only removed together.
    fn remove(&mut self, key: BodyKey) -> bool;

    /// Removes bodies. Gives back those of which that cannot be done now.
    fn remove_all(&mut self, keys: Vec<BodyKey>) -> Vec<BodyKey>;

    /// Whether the lists of the last frame are of all that changed since the frame of this number: it is the
    /// last one, or the one before.
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

    fn moved_since(&self, frame: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>> {
        let listed = self.lists_all_since(frame).then(|| self.moved());
        listed_or(listed, move || self.moved_since(frame))
    }

    fn removed_since(&self, frame: u64) -> Option<impl Iterator<Item = BodyKey>> {
        let listed = self.lists_all_since(frame).then(|| self.removed());
        listed_or(listed, move || self.removed_since(frame))
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

/// What the last frame lists, or else what is known of the frames before it.
fn listed_or<T: Copy, I: Iterator<Item = T>>(
    listed: Option<&[T]>,
    missed: impl FnOnce() -> Option<I>,
) -> Option<impl Iterator<Item = T>> {
    let missed = match listed {
        Some(_) => None,
        None => Some(missed()?),
    };
    let listed = listed.unwrap_or_default().iter().copied();
    Some(listed.chain(missed.into_iter().flatten()))
}

/// Only its last frame is known: whoever missed one looks at every body.
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

    fn moved_since(&self, frame: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>> {
        let is_listed = self.lists_all_since(frame);
        is_listed.then(|| self.view().moved().iter().copied())
    }

    fn removed_since(&self, frame: u64) -> Option<impl Iterator<Item = BodyKey>> {
        let is_listed = self.lists_all_since(frame);
        is_listed.then(|| self.view().removed().iter().copied())
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
