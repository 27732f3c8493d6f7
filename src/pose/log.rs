//! What the next picture needs besides the motion of moving bodies: changes of other bodies, and events.

use std::collections::BTreeSet;

use rapier::math::{Pose, Rotation};

use crate::events::EventQueue;
use crate::key::BodyKey;

/// Changes that a screen reads together with the [`Movers`](super::Movers). All code that changes a
/// body writes to the log. One reader takes it: the frame that displays the changes, or the publisher that sends them
/// to another thread.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct PoseLog {
    /// The epoch of the state that the log was taken from. A screen compares all bodies if the log belongs to another
    /// state. Then `rest` lists every body at rest.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub epoch: Option<u64>,
    /// Bodies that came to rest, with their poses.
    pub rest: Vec<(BodyKey, Pose)>,
    /// Bodies that were removed, by any means.
    pub removed: Vec<BodyKey>,
    pub errors: Vec<ErrorChange>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub events: EventQueue,
}

/// A change of the visual error of a body.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum ErrorChange {
    /// A correction moved the body: the error grows by the old pose relative to the new one.
    Add(BodyKey, Pose),
    /// The body was turned together with its motion.
    Turn(BodyKey, Rotation),
    /// The body was teleported, so it has no error any more.
    Clear(BodyKey),
    /// The key now belongs to another body, which does not continue the motion of the first one.
    Renew(BodyKey),
    /// No body has an error any more.
    ClearAll,
}

impl PoseLog {
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
            && self.removed.is_empty()
            && self.errors.is_empty()
            && self.events.is_empty()
    }

    #[cfg(feature = "serde")]
    pub fn is_finite(&self) -> bool {
        self.errors.iter().all(|change| match change {
            ErrorChange::Add(_, by) => by.is_finite(),
            ErrorChange::Turn(_, by) => by.is_finite(),
            ErrorChange::Clear(_) | ErrorChange::Renew(_) | ErrorChange::ClearAll => true,
        })
    }

    /// Takes the log, and leaves an empty one of the same state.
    pub fn take(&mut self) -> Self {
        let empty = Self {
            epoch: self.epoch,
            ..Self::default()
        };
        std::mem::replace(self, empty)
    }

    /// Adds a later log.
    pub fn append(&mut self, mut later: Self) {
        if later.epoch == self.epoch {
            self.drop_rest_of(&later.removed);
        } else {
            self.rest.clear();
            self.epoch = later.epoch;
        }
        self.rest.append(&mut later.rest);
        self.removed.append(&mut later.removed);
        self.errors.append(&mut later.errors);
        self.events.append(later.events);
    }

    /// Drops bodies that came to rest and were removed later.
    pub fn drop_rest_of(&mut self, removed: &[BodyKey]) {
        if !self.rest.is_empty() && !removed.is_empty() {
            let removed: BTreeSet<BodyKey> = removed.iter().copied().collect();
            self.rest.retain(|(key, _)| !removed.contains(key));
        }
    }
}
