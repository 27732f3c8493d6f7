//! The last two states of every body, by key.

// Before and after a step.
mod steps;
// Bodies that are teleported.
mod placing;

use std::collections::BTreeMap;

use rapier::dynamics::RigidBodyHandle;
use rapier::math::{Pose, Vector};
use slotmap::SecondaryMap;

use crate::key::BodyKey;
#[cfg(feature = "serde")]
use crate::key::Keys;

use super::correction::difference;
use super::motion::Pair;
use super::movers::Movers;

/// Pairs of poses by key: a part of the state.
///
/// Bodies at rest cost nothing. They have one pose each, which no code reads. Bodies that move, or may have moved, are
/// listed with the pair that a frame interpolates. A body is listed when it is inserted, when it is found awake, and
/// when the game may have changed it. It is unlisted at the end of a frame in which it is no longer awake and has not
/// moved.
///
/// ```text
///   insert ───────> Moving { previous, current } ──settled──> Resting { pose }
///                           ^                                      │
///                           └─────────── wake, edit ───────────────┘
/// ```
///
/// A position that is not finite is ignored, and the last finite one is kept.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Pairs {
    places: SecondaryMap<BodyKey, Place>,
    movers: Movers,
    /// The pairs of the last step for bodies that were teleported since.
    #[cfg_attr(feature = "serde", serde(with = "crate::map_as_list"))]
    teleported: BTreeMap<BodyKey, Pair>,
    /// The number of steps when the pairs were taken: they are the states before and after the last of these steps.
    tick: u64,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Place {
    Resting {
        pose: Pose,
        /// The first tick with this pose before and after its step.
        since: u64,
    },
    /// The index in the lists of [`Movers`].
    Moving(usize),
}

/// # Bodies
impl Pairs {
    pub fn insert(&mut self, key: BodyKey, handle: RigidBodyHandle, pose: Pose) {
        let place = self.movers.push(key, handle, pose);
        self.places.insert(key, Place::Moving(place));
    }

    pub fn remove(&mut self, key: BodyKey) {
        self.teleported.remove(&key);
        if let Some(Place::Moving(place)) = self.places.remove(key) {
            self.unlist(place);
        }
    }

    /// Returns the last two states.
    pub fn get(&self, key: BodyKey) -> Option<Pair> {
        Some(match *self.places.get(key)? {
            Place::Resting { pose, .. } => Pair::at_rest(pose),
            Place::Moving(place) => self.movers.pair(place),
        })
    }

    /// Returns the states before and after the last step, even if the body was teleported since.
    pub fn of_step(&self, key: BodyKey) -> Option<Pair> {
        self.teleported.get(&key).copied().or_else(|| self.get(key))
    }

    pub fn movers(&self) -> &Movers {
        &self.movers
    }

    /// Returns the states before and after the last step, for all bodies that may have moved in it or since.
    pub fn moved(&self) -> impl Iterator<Item = (BodyKey, Pair)> {
        let movers = self.movers.keys().iter().enumerate();
        let movers = movers.map(|(place, key)| {
            let teleported = self.teleported.get(key).copied();
            (*key, teleported.unwrap_or_else(|| self.movers.pair(place)))
        });
        movers.chain(
            self.teleported()
                .filter(|(key, _)| self.rest(*key).is_some()),
        )
    }

    /// Returns the bodies that were teleported since the last step, with its pairs.
    pub fn teleported(&self) -> impl Iterator<Item = (BodyKey, Pair)> {
        self.teleported.iter().map(|(key, pair)| (*key, *pair))
    }

    /// Returns the index of a body in the lists of [`Movers`].
    pub fn mover(&self, key: BodyKey) -> Option<usize> {
        match *self.places.get(key)? {
            Place::Moving(place) => Some(place),
            Place::Resting { .. } => None,
        }
    }

    /// Returns the pose of a body at rest, and the tick since when it has been at rest.
    pub fn rest(&self, key: BodyKey) -> Option<(Pose, u64)> {
        match *self.places.get(key)? {
            Place::Resting { pose, since } => Some((pose, since)),
            Place::Moving(_) => None,
        }
    }

    /// Returns the number of steps when the pairs were taken.
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Returns all bodies at rest, with their poses.
    pub fn resting(&self) -> impl Iterator<Item = (BodyKey, Pose)> {
        self.places.iter().filter_map(|(key, place)| match *place {
            Place::Resting { pose, .. } => Some((key, pose)),
            Place::Moving(_) => None,
        })
    }

    /// Returns the bodies whose pose at `alpha` differs from their pose in another state of the same step, with the
    /// difference. This origin is `shift` away from that of the other state.
    pub fn differences(
        &self,
        before: &Self,
        alpha: f32,
        shift: Vector,
    ) -> impl Iterator<Item = (BodyKey, Pose)> {
        self.places.iter().filter_map(move |(key, place)| {
            let was = before.places.get(key)?;
            if let (Place::Resting { pose, .. }, Place::Resting { pose: was, .. }) = (place, was)
                && pose == was
                && shift == Vector::ZERO
            {
                return None;
            }
            let was = before.get(key)?.at(alpha).append_translation(-shift);
            let is = self.get(key)?.at(alpha);
            (was != is).then(|| (key, difference(&was, &is)))
        })
    }
}

#[cfg(feature = "serde")]
impl Pairs {
    /// Returns whether all entries belong to bodies with these keys.
    pub fn is_consistent(&self, keys: &Keys) -> bool {
        let is_placed = |(key, handle)| match self.places.get(key) {
            Some(Place::Resting { pose, .. }) => pose.is_finite(),
            Some(Place::Moving(place)) => {
                self.movers.keys().get(*place) == Some(&key)
                    && self.movers.handle(*place) == Some(handle)
            }
            None => false,
        };
        let is_moving = |place: &&Place| matches!(place, Place::Moving(_));
        keys.iter().all(is_placed)
            && self.places.len() == keys.iter().count()
            && self.places.values().filter(is_moving).count() == self.movers.len()
            && self.movers.is_consistent()
    }
}

/// # Indices in the lists
impl Pairs {
    /// Lists a body as moving, if it is not listed. Returns its index.
    fn list(&mut self, key: BodyKey, handle: RigidBodyHandle) -> usize {
        let place = &mut self.places[key];
        match *place {
            Place::Moving(place) => place,
            Place::Resting { pose, .. } => {
                let listed = self.movers.push(key, handle, pose);
                *place = Place::Moving(listed);
                listed
            }
        }
    }

    /// Unlists a body. At most two other bodies change their indices.
    fn unlist(&mut self, mut place: usize) {
        if place < self.movers.awake() {
            let last_awake = self.movers.awake() - 1;
            self.movers.set_awake(last_awake);
            self.movers.swap(place, last_awake);
            self.repair(place);
            place = last_awake;
        }
        self.movers.swap_remove(place);
        self.repair(place);
    }

    fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.movers.swap(one, other);
            self.repair(one);
            self.repair(other);
        }
    }

    /// Updates the index of the body at `place`, unless the body was removed.
    fn repair(&mut self, place: usize) {
        if let Some(key) = self.movers.keys().get(place)
            && let Some(body) = self.places.get_mut(*key)
        {
            *body = Place::Moving(place);
        }
    }
}
