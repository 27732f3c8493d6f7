//! The motion of each body in the last steps, for a look back at what a frame showed.

use std::collections::VecDeque;

use rapier::math::Pose;
use slotmap::SecondaryMap;

use crate::key::BodyKey;

use super::motion::Pair;
use super::pairs::Pairs;

/// Pairs by key and tick. A body at rest adds none: it is where its next pair begins.
///
/// No part of the state: what a rollback takes back is overwritten by the steps that are resimulated.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct History {
    /// How many pairs are kept of a body, the last one included.
    len: u64,
    bodies: SecondaryMap<BodyKey, Track>,
    /// The tick of the newest pairs.
    newest: u64,
    /// By what bodies were moved together with their motion, oldest first; all earlier pairs are, when they are read.
    transforms: VecDeque<Transform>,
    /// Bodies that were removed, and when. A rollback may bring them back.
    removed: VecDeque<(u64, BodyKey)>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Track {
    /// The number of steps that had been made when it was begun.
    since: u64,
    /// Oldest first.
    pairs: VecDeque<Kept>,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Kept {
    /// The number of steps that had been made at its end.
    tick: u64,
    /// The number of transforms that it has seen.
    transforms: u64,
    pair: Pair,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Transform {
    /// The how many-th it is: what a state counts.
    number: u64,
    tick: u64,
    /// `None`: all bodies.
    key: Option<BodyKey>,
    by: Pose,
}

impl History {
    /// Whether more is kept than the last pair, which the state has anyway.
    pub fn is_kept(&self) -> bool {
        self.len > 1
    }

    /// How many states are kept of a body: two at least.
    pub fn states(&self) -> usize {
        usize::try_from(self.len.max(1).saturating_add(1)).unwrap_or(usize::MAX)
    }

    /// Steps have other numbers from now on: what was kept by the old ones is forgotten.
    pub fn renumber(&mut self, pairs: &Pairs, tick: u64) {
        let states = self.states();
        *self = Self::default();
        self.set_states(states, pairs, tick);
    }

    /// Keeps so many states from now on; `tick` steps have been made.
    pub fn set_states(&mut self, states: usize, pairs: &Pairs, tick: u64) {
        // What was let go is not known again.
        let since = (tick.saturating_add(1)).saturating_sub(self.len);
        self.len = (states as u64).saturating_sub(1);
        if !self.is_kept() {
            self.bodies.clear();
            return;
        }
        for key in pairs.keys() {
            if !self.bodies.contains_key(key) {
                self.insert(key, tick);
            }
        }
        for track in self.bodies.values_mut() {
            track.since = track.since.max(since);
            track.cut(self.len);
        }
        self.keep_displaced(pairs);
        if pairs.tick() == tick {
            self.keep(pairs);
        }
    }

    /// A body is first shown when so many steps have been made.
    pub fn insert(&mut self, key: BodyKey, since: u64) {
        if self.is_kept() {
            let pairs = VecDeque::new();
            self.bodies.insert(key, Track { since, pairs });
        }
    }

    /// The body is removed after `tick` steps.
    pub fn remove(&mut self, key: BodyKey, tick: u64) {
        if self.is_kept() {
            self.removed.push_back((tick, key));
        }
    }

    /// Before a step, with the pairs of the last one.
    pub fn begin_step(&mut self, pairs: &Pairs) {
        let tick = pairs.tick();
        if tick < self.newest {
            // The simulation went back, and later steps are another run's.
            for track in self.bodies.values_mut() {
                track.pairs.retain(|kept| kept.tick <= tick);
            }
        }
        self.keep_displaced(pairs);
    }

    /// Where bodies were before they were teleported.
    pub fn keep_displaced(&mut self, pairs: &Pairs) {
        for (key, pair) in pairs.displaced() {
            self.push(pairs, key, pair);
        }
    }

    /// Before a body gets another previous pose: where it was until then.
    pub fn keep_body(&mut self, pairs: &Pairs, key: BodyKey) {
        if let Some(pair) = pairs.of_step(key) {
            self.push(pairs, key, pair);
        }
    }

    /// After a step.
    pub fn keep(&mut self, pairs: &Pairs) {
        if !self.is_kept() {
            return;
        }
        let tick = pairs.tick();
        self.newest = tick;
        let movers = pairs.movers();
        for (place, key) in movers.keys().iter().enumerate() {
            self.push(pairs, *key, movers.pair(place));
        }
        let len = self.len;
        let is_old = |at: u64| at.saturating_add(len) <= tick;
        while let Some((_, key)) = self.removed.front().filter(|(at, _)| is_old(*at)) {
            if !pairs.contains(*key) {
                self.bodies.remove(*key);
            }
            self.removed.pop_front();
        }
        while self.transforms.front().is_some_and(|it| is_old(it.tick)) {
            self.transforms.pop_front();
        }
    }

    /// The motion of a body in the step of these pairs.
    fn push(&mut self, pairs: &Pairs, key: BodyKey, pair: Pair) {
        let (tick, transforms) = (pairs.tick(), pairs.transforms());
        if let Some(track) = self.bodies.get_mut(key)
            && track.pairs.back().is_none_or(|last| last.tick < tick)
        {
            track.pairs.push_back(Kept {
                tick,
                transforms,
                pair,
            });
            track.cut(self.len);
        }
    }

    /// The motion of a body, or of all, is moved by an isometry after `tick` steps.
    pub fn transform(&mut self, pairs: &Pairs, tick: u64, key: Option<BodyKey>, by: Pose) {
        if self.is_kept() {
            let number = pairs.transforms();
            self.transforms.push_back(Transform {
                number,
                tick,
                key,
                by,
            });
        }
    }

    /// The pairs are of an earlier state now: bodies that were moved after it are not moved any more.
    pub fn go_back(&mut self, pairs: &Pairs) {
        let number = pairs.transforms();
        self.transforms.retain(|it| it.number <= number);
    }

    /// The motion of a body in the step that was the `tick`-th.
    pub fn at(&self, pairs: &Pairs, key: BodyKey, tick: u64) -> Option<Pair> {
        let (last, now) = (pairs.of_step(key)?, pairs.tick());
        if tick == now {
            return Some(last).filter(Pair::is_finite);
        }
        let track = self.bodies.get(key)?;
        if tick < track.since || tick > now || tick.saturating_add(self.len) <= now {
            return None;
        }
        let place = track.pairs.partition_point(|kept| kept.tick < tick);
        // At rest until it moved again, or to this day.
        let Some(kept) = track.pairs.get(place).filter(|kept| kept.tick <= now) else {
            return Some(Pair::at_rest(last.previous));
        };
        let mut pair = if kept.tick == tick {
            kept.pair
        } else {
            Pair::at_rest(kept.pair.previous)
        };
        let is_of_this =
            |it: &&Transform| it.number > kept.transforms && it.key.is_none_or(|of| of == key);
        for transform in self.transforms.iter().filter(is_of_this) {
            pair.transform(&transform.by);
        }
        Some(pair).filter(Pair::is_finite)
    }
}

impl Track {
    fn cut(&mut self, len: u64) {
        while self.pairs.len() as u64 > len {
            self.pairs.pop_front();
        }
    }
}
