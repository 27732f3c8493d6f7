//! The last two states of every body, by key.

// The game's changes between two steps.
mod edits;

use std::collections::BTreeMap;

use slotmap::SecondaryMap;

use crate::key::BodyKey;
#[cfg(feature = "serde")]
use crate::key::Keys;
use crate::step::World;
use rapier::dynamics::RigidBodyHandle;
use rapier::math::{Pose, Real, Vector};

use super::correction::difference;
use super::log::{PoseLog, SmoothingChange};
use super::motion::{Pair, Smoothing, SmoothingSettings};
use super::movers::Movers;

/// Pairs of poses by key: a part of the state.
///
/// Bodies at rest cost nothing: they have one pose each, which no code reads. Bodies that move, or may have moved, are
/// listed with the pair that a frame interpolates. A body is listed when it is inserted, when it is found awake, and
/// when the game may have changed it. It is unlisted at the end of a frame in which it is no longer awake and has not
/// moved.
///
/// ```text
///   insert ───────> Moving (a pair in Movers) ──at rest──> Resting { pose }
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
    #[cfg_attr(feature = "serde", serde(with = "crate::slots::map_as_list"))]
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
        let index = self.movers.push(key, handle, pose);
        self.places.insert(key, Place::Moving(index));
    }

    pub fn remove(&mut self, key: BodyKey) {
        self.teleported.remove(&key);
        if let Some(Place::Moving(index)) = self.places.remove(key) {
            self.unlist(index);
        }
    }

    pub fn get(&self, key: BodyKey) -> Option<Pair> {
        Some(match *self.places.get(key)? {
            Place::Resting { pose, .. } => Pair::at_rest(pose),
            Place::Moving(index) => self.movers.pair(index),
        })
    }

    pub fn of_step(&self, key: BodyKey) -> Option<Pair> {
        self.teleported.get(&key).copied().or_else(|| self.get(key))
    }

    pub fn movers(&self) -> &Movers {
        &self.movers
    }

    /// Returns the states before and after the last step, for all bodies that may have moved in it or since.
    pub fn moved(&self) -> impl Iterator<Item = (BodyKey, Pair)> {
        let movers = self.movers.keys().iter().enumerate();
        let movers = movers.map(|(index, key)| {
            let teleported = self.teleported.get(key).copied();
            (*key, teleported.unwrap_or_else(|| self.movers.pair(index)))
        });
        movers.chain(
            self.teleported()
                .filter(|(key, _)| self.rest(*key).is_some()),
        )
    }

    pub fn teleported(&self) -> impl Iterator<Item = (BodyKey, Pair)> {
        self.teleported.iter().map(|(key, pair)| (*key, *pair))
    }

    pub fn mover(&self, key: BodyKey) -> Option<usize> {
        match *self.places.get(key)? {
            Place::Moving(index) => Some(index),
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

    pub fn tick(&self) -> u64 {
        self.tick
    }

    pub fn resting(&self) -> impl Iterator<Item = (BodyKey, Pose)> {
        self.places.iter().filter_map(|(key, index)| match *index {
            Place::Resting { pose, .. } => Some((key, pose)),
            Place::Moving(_) => None,
        })
    }

    fn with_smoothing(
        &self,
        key: BodyKey,
        smoothing: Smoothing,
        world: &World,
        dt: Real,
    ) -> Option<Pair> {
        let pair = self.movers.pair(self.mover(key)?);
        Some(pair.with_smoothing(smoothing, world.get(key)?, dt))
    }

    /// Returns the smoothing with which a moving body is displayed, or `None` if it has not moved since it was set to
    /// `setting`.
    pub fn smoothing(&self, key: BodyKey, setting: Smoothing) -> Option<Smoothing> {
        let pair = self.movers.pair(self.mover(key)?);
        let smoothing = pair.smoothing();
        let is_known = pair.previous != pair.current || !smoothing.has_other_time(setting);
        is_known.then_some(smoothing)
    }

    /// Returns the bodies that another state of the same step displays with a smoothing of another time, and their
    /// paths in this state with that smoothing. `log` has the changes that no picture has displayed.
    pub fn smoothings_before(
        &self,
        before: &Self,
        log: &PoseLog,
        world: &World,
        dt: Real,
    ) -> BTreeMap<BodyKey, SmoothingChange> {
        let changes = self.movers.keys().iter().filter_map(|key| {
            let now = self.get(*key)?.smoothing();
            let before = match log.smoothings.get(key).filter(|it| it.path.is_some()) {
                Some(change) => change.before,
                None => before.movers.pair(before.mover(*key)?).smoothing(),
            };
            let path = self.with_smoothing(*key, before, world, dt)?.trajectory;
            let is_change = before.has_other_time(now) && path.is_some();
            is_change.then_some((*key, SmoothingChange { before, path }))
        });
        changes.collect()
    }

    /// Returns the bodies whose pose at `alpha` differs from their pose in another state of the same step, with the
    /// difference as the other state's smoothing displays it. This origin is `shift` away from the other state's. The
    /// last step had the length `dt`.
    pub fn differences(
        &self,
        before: &Self,
        alpha: f32,
        shift: Vector,
        world: &World,
        dt: Real,
    ) -> impl Iterator<Item = (BodyKey, Pose)> {
        self.places.iter().filter_map(move |(key, index)| {
            let was = before.places.get(key)?;
            if let (Place::Resting { pose, .. }, Place::Resting { pose: was, .. }) = (index, was)
                && pose == was
                && shift == Vector::ZERO
            {
                return None;
            }
            let is = match before.mover(key) {
                Some(mover) => {
                    let smoothing = before.movers.pair(mover).smoothing();
                    self.with_smoothing(key, smoothing, world, dt)
                }
                None => None,
            };
            let is = is.or_else(|| self.get(key))?.at(alpha);
            let was = before.get(key)?.at(alpha).append_translation(-shift);
            (was != is).then(|| (key, difference(&was, &is)))
        })
    }
}

#[cfg(feature = "serde")]
impl Pairs {
    pub fn is_consistent(&self, keys: &Keys) -> bool {
        let is_placed = |(key, handle)| match self.places.get(key) {
            Some(Place::Resting { pose, .. }) => pose.is_finite(),
            Some(Place::Moving(index)) => {
                self.movers.keys().get(*index) == Some(&key)
                    && self.movers.handles().get(*index) == Some(&handle)
            }
            None => false,
        };
        let is_moving = |index: &&Place| matches!(index, Place::Moving(_));
        keys.iter().all(is_placed)
            && self.places.len() == keys.iter().count()
            && self.places.values().filter(is_moving).count() == self.movers.len()
            && self.movers.is_consistent()
    }
}

/// # Indices in the lists
impl Pairs {
    fn list(&mut self, key: BodyKey, handle: RigidBodyHandle) -> usize {
        let index = &mut self.places[key];
        match *index {
            Place::Moving(index) => index,
            Place::Resting { pose, .. } => {
                let listed = self.movers.push(key, handle, pose);
                *index = Place::Moving(listed);
                listed
            }
        }
    }

    /// Unlists a body. At most two other bodies change their indices.
    fn unlist(&mut self, mut index: usize) {
        if index < self.movers.awake() {
            let last_awake = self.movers.awake() - 1;
            self.movers.set_awake(last_awake);
            self.movers.swap(index, last_awake);
            self.repair(index);
            index = last_awake;
        }
        self.movers.swap_remove(index);
        self.repair(index);
    }

    fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.movers.swap(one, other);
            self.repair(one);
            self.repair(other);
        }
    }

    fn repair(&mut self, index: usize) {
        if let Some(key) = self.movers.keys().get(index)
            && let Some(body) = self.places.get_mut(*key)
        {
            *body = Place::Moving(index);
        }
    }
}

impl Pairs {
    /// Reads the poses of all bodies that are about to move, right before a step, when `tick` steps have run. All bodies
    /// that were awake after the last step are where it left them, except those that were
    /// [detected](Self::detect_edit) in another position.
    pub fn begin_step(
        &mut self,
        world: &World,
        tick: u64,
        dt: Real,
        settings: &SmoothingSettings,
        log: &PoseLog,
    ) {
        self.recheck_changed(&log.smoothings);
        let is_curved =
            |key| settings.of(key) != Smoothing::Interpolate || log.smoothings.contains_key(&key);
        self.movers.begin_step(world, is_curved, dt, tick);
    }

    pub fn end_step(
        &mut self,
        world: &World,
        tick: u64,
        dt: Real,
        settings: &SmoothingSettings,
        log: &mut PoseLog,
    ) {
        self.align_awake(world);
        let changes = &mut log.smoothings;
        changes.retain(|key, change| change.before.has_other_time(settings.of(*key)));
        (self.movers).end_step(world, |key| settings.of(key), changes, dt);
        // For all other bodies, which rest, nothing changes.
        changes.retain(|_, change| change.path.is_some());
        self.tick = tick;
        self.teleported.clear();
    }

    /// Moves all awake bodies to the front of the lists, in Rapier's order.
    fn align_awake(&mut self, world: &World) {
        let active = || world.rapier.islands.active_bodies();
        // In most steps all bodies are in line, which the iterator finds out faster than the loop.
        let mut handles = self.movers.handles().iter();
        let in_line = active().take_while(|handle| handles.next() == Some(handle));
        let mut index = in_line.count();
        for handle in active().skip(index) {
            if self.movers.handles().get(index) != Some(&handle) {
                // The body is out of line, just woken, or without a key.
                let Some(key) = world.keys.key(handle) else {
                    continue;
                };
                let listed = self.list(key, handle);
                self.swap(index, listed);
            }
            index += 1;
        }
        self.movers.set_awake(index);
    }

    pub fn unlist_resting(&mut self, world: &World, log: &mut PoseLog) {
        // The loop runs backwards, so that the body swapped into the gap never has to be unlisted.
        for index in (self.movers.awake()..self.movers.len()).rev() {
            if self.movers.is_at_rest(index, world) {
                let (key, pose) = (self.movers.keys()[index], self.movers.current(index));
                // A body that was teleported since the last step rests there from the next tick on.
                let was_teleported = self.teleported.contains_key(&key);
                let since = self.tick.saturating_add(was_teleported.into());
                self.places[key] = Place::Resting { pose, since };
                log.rest.push((key, pose));
                self.unlist(index);
            }
        }
    }

    pub fn set_tick(&mut self, tick: u64) {
        let old = std::mem::replace(&mut self.tick, tick);
        self.movers.set_tick(old, tick);
        for index in self.places.values_mut() {
            if let Place::Resting { since, .. } = index {
                *since = tick.saturating_add((*since > old).into());
            }
        }
    }
}
