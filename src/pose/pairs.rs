//! The last two states of every body, by key.

// The game's changes between two steps.
mod edits;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use slotmap::SecondaryMap;

use crate::key::BodyKey;
#[cfg(feature = "serde")]
use crate::key::Keys;
use crate::step::World;
use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::math::{Pose, Real, Vector};

use super::changes::{Change, Changes};
use super::correction::difference;
use super::motion::{Pair, Smoothing, SmoothingSettings};
use super::moved::StepPaths;
use super::movers::{Movers, can_sleep};
use super::paths::Weights;

/// Pairs of poses by key: a part of the state.
///
/// Bodies at rest cost nothing: they have one pose each, which no step reads. Bodies that move, or may have moved, are
/// listed with the pair that a frame interpolates. A body is listed when it is inserted, when it is found awake, and
/// when the game may have changed it. It is removed at the end of a frame in which it is no longer awake and has not
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
    /// Shared with threads that display them. An edit of a shared list makes a copy.
    movers: Arc<Movers>,
    /// Bodies that were teleported since the last step.
    #[cfg_attr(feature = "serde", serde(with = "crate::slots::map_as_list"))]
    edited: BTreeMap<BodyKey, Edited>,
    /// Bodies at rest that were awake in the last step, or inserted awake since: the next step reports their sleep.
    unreported_sleep: BTreeSet<BodyKey>,
    /// The number of steps when the pairs were taken: they are the states before and after the last of these steps.
    tick: u64,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Edited {
    /// The path in the last step, before the edit, for those who ask for earlier poses.
    path: Pair,
    /// The position after the last step, at which Rapier has computed the contacts.
    position: Pose,
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
    pub fn insert(&mut self, key: BodyKey, handle: RigidBodyHandle, pose: Pose, is_awake: bool) {
        let index = Arc::make_mut(&mut self.movers).push(key, handle, pose, is_awake);
        self.places.insert(key, Place::Moving(index));
    }

    /// Returns a copy that shares no list, so that the next step of this state writes to the same memory as the last
    /// one.
    pub fn unshared(&self) -> Self {
        let mut copy = self.clone();
        Arc::make_mut(&mut copy.movers);
        copy
    }

    /// Forgets a body that was removed.
    pub fn remove(&mut self, key: BodyKey) {
        self.edited.remove(&key);
        self.unreported_sleep.remove(&key);
        if let Some(Place::Moving(index)) = self.places.remove(key) {
            self.remove_mover(index);
        }
    }

    /// Returns the last two poses of a body, as they are displayed.
    pub fn get(&self, key: BodyKey) -> Option<Pair> {
        Some(match *self.places.get(key)? {
            Place::Resting { pose, .. } => Pair::at_rest(pose),
            Place::Moving(index) => self.movers.pair(index),
        })
    }

    /// Returns the last two poses of a body as the last step left them, before the game's edits.
    pub fn of_step(&self, key: BodyKey) -> Option<Pair> {
        let before_edit = self.edited.get(&key).map(|it| it.path);
        before_edit.or_else(|| self.get(key))
    }

    pub fn movers(&self) -> &Arc<Movers> {
        &self.movers
    }

    /// Returns the paths of the last step, of all bodies that may have moved in it or since.
    pub fn step_paths(&self) -> StepPaths {
        StepPaths::new(
            Arc::clone(&self.movers),
            self.paths_before_edits().collect(),
        )
    }

    /// Returns the bodies that were edited since the last step, each with its path in that step.
    pub fn paths_before_edits(&self) -> impl Iterator<Item = (BodyKey, Pair)> {
        self.edited.iter().map(|(key, it)| (*key, it.path))
    }

    /// Replaces the paths of edited bodies, which are kept as the last step computed them, with the paths after the
    /// edits. A state from another simulation needs this: the edits came with it, and count as part of its last step.
    pub fn forget_paths_before_edits(&mut self) {
        let mut edited = std::mem::take(&mut self.edited);
        for (key, it) in &mut edited {
            it.path = self.get(*key).unwrap_or(it.path);
        }
        self.edited = edited;
    }

    /// Returns the bodies that were edited since the last step, each with its position after that step.
    pub fn positions_before_edits(&self) -> impl Iterator<Item = (BodyKey, Pose)> {
        self.edited.iter().map(|(key, it)| (*key, it.position))
    }

    /// Returns the index in [`Movers`] of a body that may move, or `None` for one at rest.
    pub fn moving_index(&self, key: BodyKey) -> Option<usize> {
        match *self.places.get(key)? {
            Place::Moving(index) => Some(index),
            Place::Resting { .. } => None,
        }
    }

    /// Returns the pose of a body at rest, and the tick since when it has been at rest.
    pub fn resting_since(&self, key: BodyKey) -> Option<(Pose, u64)> {
        match *self.places.get(key)? {
            Place::Resting { pose, since } => Some((pose, since)),
            Place::Moving(_) => None,
        }
    }

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

    /// Returns the smoothing with which a moving body is displayed, or `None` if it has not moved.
    fn smoothing(&self, key: BodyKey) -> Option<Smoothing> {
        let pair = self.movers.pair(self.moving_index(key)?);
        (pair.previous != pair.current).then(|| pair.smoothing())
    }

    /// Compares bodies with the same bodies in `old`, the state of the same step that this one has replaced. Returns
    /// the changes with which the next picture displays each body at first where it was in `old`: the offsets between
    /// the displayed poses, and the old smoothing if it displays another moment than the new one. The alpha of that
    /// picture lies between the two `alphas`, at each of which there is an offset. `shift` is the vector from the
    /// origin of `old` to this one. `displayed_smoothing` is the last displayed one of bodies whose smoothing was changed
    /// since.
    pub fn differences(
        &self,
        old: &Self,
        displayed_smoothing: &BTreeMap<BodyKey, Smoothing>,
        alphas: [f32; 2],
        shift: Vector,
    ) -> impl Iterator<Item = (BodyKey, impl Iterator<Item = Change>)> {
        // How far a view extrapolates is not known here, so these extrapolate to `alpha`.
        let weights = alphas.map(|alpha| Weights::new(alpha, None));
        let is_one_moment = alphas[0].to_bits() == alphas[1].to_bits();
        self.places.iter().filter_map(move |(key, place)| {
            let old_place = old.places.get(key)?;
            if let (Place::Resting { pose: old, .. }, Place::Resting { pose: new, .. }) =
                (old_place, place)
                && old == new
                && shift == Vector::ZERO
            {
                return None;
            }
            let (old_pair, new_pair) = (old.get(key)?, self.get(key)?);
            // The smoothing that was displayed last, or the new one if no picture has displayed a motion of the body.
            let smoothing = displayed_smoothing.get(&key).copied();
            let smoothing = smoothing.or_else(|| old.smoothing(key));
            let smoothing = smoothing.unwrap_or_else(|| new_pair.smoothing());
            let is_retimed = new_pair.is_displaced_by(smoothing);
            let retimed = is_retimed.then_some(Change::Retimed(key, smoothing));
            // Both poses have the old smoothing, because the screen adds a separate error for `Retimed`. A change
            // between `Interpolate` and `Hermite` is displayed only with the next step.
            let pose_of = |pair: &Pair, weights: &Weights| {
                if pair.is_displaced_by(smoothing) {
                    pair.displayed_as(smoothing, weights)
                } else {
                    pair.displayed(weights)
                }
            };
            let offset_at = |weights: &Weights| {
                let old_pose = pose_of(&old_pair, weights).append_translation(-shift);
                let new_pose = pose_of(&new_pair, weights);
                (old_pose != new_pose).then(|| difference(&old_pose, &new_pose))
            };
            let [start, end] = &weights;
            // With equal alphas, the second offset need not be computed.
            let first = offset_at(start);
            let offsets = [first, if is_one_moment { first } else { offset_at(end) }];
            let differs = offsets.iter().any(Option::is_some);
            let offset = differs.then(|| {
                let offsets = offsets.map(|it| it.unwrap_or(Pose::IDENTITY));
                Change::Offset(key, offsets, self.tick)
            });
            Some((key, offset.into_iter().chain(retimed)))
        })
    }
}

#[cfg(feature = "serde")]
impl Pairs {
    /// Returns whether pairs that were read from bytes are valid: they have exactly the bodies with a key, and the
    /// indices lead to them.
    pub fn is_consistent(&self, keys: &Keys) -> bool {
        let is_placed = |(key, handle)| match self.places.get(key) {
            Some(Place::Resting { pose, .. }) => pose.is_finite(),
            Some(Place::Moving(index)) => {
                self.movers.keys().get(*index) == Some(&key)
                    && self.movers.handles().get(*index) == Some(&handle)
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
    /// Adds a body to the movers, whose poses each step reads, unless it is one of them. Returns its index there.
    pub fn add_mover(&mut self, key: BodyKey, handle: RigidBodyHandle) -> usize {
        let place = &mut self.places[key];
        match *place {
            Place::Moving(index) => index,
            Place::Resting { pose, .. } => {
                // If no step has reported its sleep yet, it still counts as awake.
                let was_awake = self.unreported_sleep.remove(&key);
                let index = Arc::make_mut(&mut self.movers).push(key, handle, pose, was_awake);
                *place = Place::Moving(index);
                index
            }
        }
    }

    /// Removes the body at this index from the movers, so that steps do not read its pose. At most two other bodies
    /// change their indices.
    fn remove_mover(&mut self, mut index: usize) {
        // The awake bodies stay at the front, without a gap.
        if index < self.movers.awake_count() {
            let movers = Arc::make_mut(&mut self.movers);
            let last_awake = movers.awake_count() - 1;
            movers.set_awake_count(last_awake);
            movers.swap(index, last_awake);
            self.update_place(index);
            index = last_awake;
        }
        Arc::make_mut(&mut self.movers).swap_remove(index);
        self.update_place(index);
    }

    fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            Arc::make_mut(&mut self.movers).swap(one, other);
            self.update_place(one);
            self.update_place(other);
        }
    }

    /// Stores in `places` which body is now at this index of the movers, if there is one.
    fn update_place(&mut self, index: usize) {
        if let Some(key) = self.movers.keys().get(index)
            && let Some(place) = self.places.get_mut(*key)
        {
            *place = Place::Moving(index);
        }
    }
}

impl Pairs {
    /// Reads the poses of all bodies that are about to move, right before a step, when `tick` steps have run. All
    /// bodies that were awake after the last step are where it left them, except those that were
    /// [detected](Self::record_if_teleported) in another position.
    pub fn begin_step(&mut self, world: &World, tick: u64, dt: Real, settings: &SmoothingSettings) {
        let uses_velocity = |key| settings.of(key) != Smoothing::Interpolate;
        Arc::make_mut(&mut self.movers).begin_step(world, uses_velocity, dt, tick);
    }

    /// Reads the poses after a step, before which the game may have changed the `edited` bodies. Returns the bodies
    /// that fell asleep in it or woke up, each with whether it is asleep now.
    pub fn end_step(
        &mut self,
        world: &World,
        tick: u64,
        dt: Real,
        settings: &SmoothingSettings,
        edited: &[BodyKey],
    ) -> Vec<(BodyKey, bool)> {
        self.align_awake(world);
        let movers = Arc::make_mut(&mut self.movers);
        movers.end_step(world, |key| settings.of(key), dt);
        self.tick = tick;
        self.edited.clear();
        let mut changes = movers.take_sleep_changes(world);
        for key in edited {
            // It may have been disabled or put to sleep without a change in Rapier's list of awake bodies, which is all
            // that `take_sleep_changes` looks at.
            if let Some(Place::Moving(index)) = self.places.get(*key) {
                changes.extend(movers.take_sleep_change(*index, world));
            }
        }
        let unreported_sleep = std::mem::take(&mut self.unreported_sleep).into_iter();
        let is_asleep = |body: &RigidBody| can_sleep(body) && body.is_sleeping();
        // These left the movers before a step reported their sleep, and this step has not woken them.
        let asleep = unreported_sleep.filter(|key| world.get(*key).is_some_and(is_asleep));
        changes.extend(asleep.map(|key| (key, true)));
        // The order of the events must not depend on that of the lists.
        changes.sort_unstable();
        changes
    }

    /// Moves all awake bodies to the front of the lists, in Rapier's order, so that their poses are read without
    /// look-ups.
    fn align_awake(&mut self, world: &World) {
        let active = || world.rapier.islands.active_bodies();
        let old_awake_count = self.movers.awake_count();
        // In most steps all bodies are in Rapier's order already, which the iterator finds out faster than the loop.
        let mut handles = self.movers.handles()[..old_awake_count].iter();
        let in_order = active().take_while(|handle| handles.next() == Some(handle));
        let mut index = in_order.count();
        for handle in active().skip(index) {
            let mut previous_index = index;
            if self.movers.handles().get(index) != Some(&handle) {
                // The body has another index, has just woken, or has no key.
                let Some(key) = world.keys.key(handle) else {
                    // A body without a key is only in Rapier's world, so no list here has it.
                    continue;
                };
                previous_index = self.add_mover(key, handle);
                if previous_index < index {
                    // Only a forged state lists a body as awake twice.
                    continue;
                }
                self.swap(index, previous_index);
            }
            if previous_index >= old_awake_count {
                // It may have just woken, and then moves the disabled links of its multibody.
                self.add_disabled_links(world, handle);
            }
            index += 1;
        }
        Arc::make_mut(&mut self.movers).set_awake_count(index);
    }

    /// Adds the disabled links of the multibody whose `link` has woken to the movers. They move with it, although
    /// Rapier does not list them as awake.
    #[inline(never)]
    fn add_disabled_links(&mut self, world: &World, link: RigidBodyHandle) {
        for handle in world.disabled_links(link) {
            if let Some(key) = world.keys.key(handle) {
                self.add_mover(key, handle);
            }
        }
    }

    /// Removes the bodies at rest from the movers, so that steps do not read them, and adds them to `changes`.
    pub fn remove_resting_movers(&mut self, world: &World, changes: &mut Changes) {
        // The loop runs backwards, so that the body swapped into the gap never has to be removed.
        for index in (self.movers.awake_count()..self.movers.len()).rev() {
            if self.movers.is_at_rest(index, world) {
                let (key, pose) = (self.movers.keys()[index], self.movers.current(index));
                // A body that was moved since the last step rests there from the next tick on.
                let was_edited = self.edited.contains_key(&key);
                let since = self.tick.saturating_add(was_edited.into());
                self.places[key] = Place::Resting { pose, since };
                changes.resting.push((key, pose));
                // It was awake in the last step, or inserted awake since, and may be asleep now. The next step reports
                // that.
                if self.movers.was_awake(index) {
                    self.unreported_sleep.insert(key);
                }
                self.remove_mover(index);
            }
        }
    }

    /// Gives the present another tick. Earlier ticks are forgotten, so bodies at rest have rested since this one, or
    /// will from the next one on.
    pub fn set_tick(&mut self, tick: u64) {
        let old = std::mem::replace(&mut self.tick, tick);
        Arc::make_mut(&mut self.movers).set_tick(old, tick);
        for place in self.places.values_mut() {
            if let Place::Resting { since, .. } = place {
                // It is later than the present if the game has moved the body since the last step.
                *since = tick.saturating_add((*since > old).into());
            }
        }
    }
}
