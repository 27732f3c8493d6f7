//! Changes for the next picture besides the motion of moving bodies: those of other bodies, and events.

use std::collections::{BTreeMap, BTreeSet};

use rapier::math::Pose;

use crate::events::EventQueue;
use crate::key::BodyKey;

use super::correction::VisualError;
use super::motion::{Smoothing, Trajectory};
use super::origin::Origin;

/// Changes that a screen reads together with the [`Movers`](super::Movers). All code that changes a body writes here.
/// One reader takes it: the frame that displays the changes, or the publisher that sends them to another thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct PoseLog {
    /// The epoch of the state that the log was taken from. If it belongs to another state, a screen compares all
    /// bodies, and `rest` lists every body at rest.
    pub epoch: Option<u64>,
    pub rest: Vec<(BodyKey, Pose)>,
    pub removed: Vec<BodyKey>,
    pub errors: Vec<ErrorChange>,
    pub smoothings: BTreeMap<BodyKey, SmoothingChange>,
    pub events: EventQueue,
}

#[derive(Clone, Debug)]
pub(crate) enum ErrorChange {
    /// A correction moved the body: the error grows by the old pose relative to the new one.
    Add(BodyKey, Pose),
    /// Another screen has displayed the body with this error.
    Set(BodyKey, VisualError),
    /// The next picture begins at this pose, in the coordinates of this origin.
    ShowFrom(BodyKey, Pose, Origin),
    /// The body got another smoothing. With the old one, it would have moved along this path in the last step.
    Smooth(BodyKey, Box<Trajectory>),
    /// The body was moved by an isometry of the world with its motion, in the coordinates of this origin.
    Turn(BodyKey, Pose, Origin),
    /// The body was teleported, so it has no error any more.
    Clear(BodyKey),
    /// The key now belongs to another body, which does not continue the motion of the first one.
    Renew(BodyKey),
    ClearAll,
}

#[derive(Clone, Debug)]
pub(crate) struct SmoothingChange {
    pub before: Smoothing,
    /// The path in the last captured step with the smoothing before, or `None` until a step applies the change.
    pub path: Option<Trajectory>,
}

impl PoseLog {
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
            && self.removed.is_empty()
            && self.errors.is_empty()
            && self.events.is_empty()
    }

    pub fn take(&mut self) -> Self {
        let empty = Self {
            epoch: self.epoch,
            ..Self::default()
        };
        std::mem::replace(self, empty)
    }

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

    pub fn drop_rest_of(&mut self, removed: &[BodyKey]) {
        if !self.rest.is_empty() && !removed.is_empty() {
            let removed: BTreeSet<BodyKey> = removed.iter().copied().collect();
            self.rest.retain(|(key, _)| !removed.contains(key));
        }
    }

    pub fn into_beginnings(self) -> impl Iterator<Item = ErrorChange> {
        let errors = self.errors.into_iter();
        errors.filter(|change| matches!(change, ErrorChange::ShowFrom(..)))
    }
}

/// # Changes of the smoothing
impl PoseLog {
    pub fn change_smoothing(&mut self, key: BodyKey, before: Smoothing) {
        let change = SmoothingChange { before, path: None };
        self.smoothings.entry(key).or_insert(change);
    }

    /// Drops the changes that a step has applied to a body, because the body jumps.
    pub fn drop_path(&mut self, key: BodyKey) {
        if self
            .smoothings
            .get(&key)
            .is_some_and(|it| it.path.is_some())
        {
            self.smoothings.remove(&key);
        }
    }
}
