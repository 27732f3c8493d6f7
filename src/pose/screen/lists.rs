//! The lists of bodies that move, in which each knows its place.

#[cfg(feature = "serde")]
use rapier::math::Pose;

use crate::key::BodyKey;

use super::{Marks, Screen, Shown};

impl Screen {
    /// Puts a body onto the list of those that move, if it is not there.
    pub(super) fn list(&mut self, key: BodyKey) -> usize {
        let (shown, moved_at) = match self.bodies.get(key) {
            Some(Shown::Moving(place)) => return *place,
            Some(Shown::Resting { pose, moved_at }) => {
                (Some(self.with_error(key, *pose)), *moved_at)
            }
            None => (None, 0),
        };
        let place = self.keys.len();
        self.keys.push(key);
        self.shown.push(shown.unwrap_or_default());
        self.marks.push(Marks {
            is_unreported: shown.is_none(),
            has_error: self.errors.contains_key(&key),
            ..Marks::reported_at(moved_at)
        });
        self.bodies.insert(key, Shown::Moving(place));
        self.rested.grow(self.bodies.len());
        place
    }

    pub(super) fn unlist(&mut self, place: usize) {
        self.keys.swap_remove(place);
        self.shown.swap_remove(place);
        self.marks.swap_remove(place);
        self.repair(place);
    }

    pub(super) fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.keys.swap(one, other);
            self.shown.swap(one, other);
            self.marks.swap(one, other);
            self.repair(one);
            self.repair(other);
        }
    }

    /// Writes to the key of the body at `place` that it is there.
    fn repair(&mut self, place: usize) {
        if let Some(key) = self.keys.get(place) {
            self.bodies[*key] = Shown::Moving(place);
        }
    }

    /// The bodies that were shown.
    #[cfg(feature = "serde")]
    pub fn bodies(&self) -> impl Iterator<Item = BodyKey> {
        self.bodies.keys()
    }

    /// Whether the lists are those of the bodies, with finite poses.
    #[cfg(feature = "serde")]
    pub fn is_consistent(&self) -> bool {
        let len = self.keys.len();
        let is_listed = |(place, key): (usize, &BodyKey)| matches!(self.bodies.get(*key), Some(Shown::Moving(at)) if *at == place);
        let resting = self.bodies.values().filter_map(|shown| match shown {
            Shown::Resting { pose, .. } => Some(pose),
            Shown::Moving(_) => None,
        });
        let errors = self.errors.values().flat_map(|it| [&it.error, &it.shown]);
        (self.shown.len(), self.marks.len()) == (len, len)
            && self.keys.iter().enumerate().all(is_listed)
            && self.unseen.values().all(Pose::is_finite)
            && self.bodies.len() - resting.clone().count() == len
            && resting
                .chain(&self.shown)
                .chain(errors)
                .all(Pose::is_finite)
    }
}
