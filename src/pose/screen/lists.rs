//! The lists of moving bodies. Each body knows its index.

#[cfg(feature = "serde")]
use rapier::math::Pose;

use crate::key::BodyKey;

use super::{Displayed, Marks, Screen};

impl Screen {
    /// Lists a body as moving, if it is not listed. Returns its index.
    pub(super) fn list(&mut self, key: BodyKey) -> usize {
        let (shown, moved_at) = match self.bodies.get(key) {
            Some(Displayed::Moving(place)) => return *place,
            Some(Displayed::Resting { moved_at, .. }) => (self.pose(key), *moved_at),
            None => (None, 0),
        };
        if shown.is_none() {
            self.note_jump(key);
        }
        let place = self.shown.len();
        self.shown.push((key, shown.unwrap_or_default()));
        self.marks.push(Marks {
            is_unreported: shown.is_none(),
            has_error: self.errors.contains_key(&key),
            ..Marks::reported_at(moved_at)
        });
        self.bodies.insert(key, Displayed::Moving(place));
        self.rested.grow(self.bodies.len());
        place
    }

    pub(super) fn unlist(&mut self, place: usize) {
        self.shown.swap_remove(place);
        self.marks.swap_remove(place);
        self.repair(place);
    }

    pub(super) fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.shown.swap(one, other);
            self.marks.swap(one, other);
            self.repair(one);
            self.repair(other);
        }
    }

    /// Updates the index of the body at `place`.
    fn repair(&mut self, place: usize) {
        if let Some((key, _)) = self.shown.get(place) {
            self.bodies[*key] = Displayed::Moving(place);
        }
    }

    /// Returns whether the lists match the bodies, with finite poses.
    #[cfg(feature = "serde")]
    pub fn is_consistent(&self) -> bool {
        let is_listed = |(place, (key, _)): (usize, &(BodyKey, Pose))| matches!(self.bodies.get(*key), Some(Displayed::Moving(at)) if *at == place);
        let resting = self.bodies.values().filter_map(|shown| match shown {
            Displayed::Resting { pose, .. } => Some(pose),
            Displayed::Moving(_) => None,
        });
        let errors = self.errors.values().flat_map(|it| [&it.error, &it.shown]);
        let len = self.shown.len();
        self.marks.len() == len
            && self.shown.iter().enumerate().all(is_listed)
            && self.unseen.values().all(Pose::is_finite)
            && self.bodies.len() - resting.clone().count() == len
            && resting
                .chain(self.shown.iter().map(|(_, pose)| pose))
                .chain(errors)
                .all(Pose::is_finite)
    }
}
