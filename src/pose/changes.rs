//! What happened to bodies since they were last shown, beside the motion of those that move.

use std::collections::BTreeSet;

use rapier::math::{Pose, Rotation};

use crate::key::BodyKey;

use super::counts::PoseCounts;

/// What a screen has to know beside the [`Movers`](super::Movers).
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Changes {
    /// Whether another state was put in place of the one there was: `rest` is then of all bodies at rest, and what
    /// is neither there nor among the movers is gone.
    pub is_whole: bool,
    /// Bodies that came to rest, and where.
    pub rest: Vec<(BodyKey, Pose)>,
    /// Bodies that were removed, in whatever way.
    pub removed: Vec<BodyKey>,
    pub errors: Vec<ErrorChange>,
    pub counts: PoseCounts,
}

/// What happens to the visual error of a body.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum ErrorChange {
    /// The body is elsewhere than it was, by so much.
    Add(BodyKey, Pose),
    /// The body was turned.
    Turn(BodyKey, Rotation),
    /// The body was teleported, to be shown there.
    Clear(BodyKey),
    /// All bodies were.
    ClearAll,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        let nothing = self.rest.is_empty() && self.removed.is_empty() && self.errors.is_empty();
        nothing && !self.is_whole
    }

    /// Adds what has happened since.
    pub fn append(&mut self, mut later: Self) {
        if later.is_whole {
            self.rest.clear();
            self.is_whole = true;
        } else {
            self.drop_rest_of(&later.removed);
        }
        self.rest.append(&mut later.rest);
        self.removed.append(&mut later.removed);
        self.errors.append(&mut later.errors);
    }

    /// Bodies that came to rest, and were removed after that.
    pub fn drop_rest_of(&mut self, removed: &[BodyKey]) {
        if !self.rest.is_empty() && !removed.is_empty() {
            let removed: BTreeSet<BodyKey> = removed.iter().copied().collect();
            self.rest.retain(|(key, _)| !removed.contains(key));
        }
    }
}
