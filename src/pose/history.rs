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
    /// Of the bodies that live.
    bodies: SecondaryMap<BodyKey, Track>,
    /// The tick of the newest pairs.
    newest: u64,
    /// By what bodies were moved together with their motion, oldest first; all earlier pairs are, when they are read.
    transforms: VecDeque<Transform>,
    /// Of bodies that are not there, which a rollback may bring back.
    gone: VecDeque<Gone>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Track {
    /// The number of steps that had been made when it was begun.
    since: u64,
    /// Oldest first.
    pairs: VecDeque<Kept>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Gone {
    /// The number of steps that had been made when the body was there last.
    tick: u64,
    key: BodyKey,
    track: Track,
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

    /// The oldest tick of which all is kept. What was let go is not known again, also after a way back to `now`.
    fn first_kept(&self, now: u64) -> u64 {
        let newest = self.newest.max(now);
        newest.saturating_add(1).saturating_sub(self.len)
    }

    /// Steps have other numbers from now on: what was kept by the old ones is forgotten.
    pub fn renumber(&mut self, pairs: &Pairs, tick: u64) {
        self.forget();
        self.set_states(self.states(), pairs, tick);
    }

    /// All but its length.
    fn forget(&mut self) {
        let len = self.len;
        *self = Self {
            len,
            ..Self::default()
        };
    }

    /// Keeps so many states from now on; `tick` steps have been made.
    pub fn set_states(&mut self, states: usize, pairs: &Pairs, tick: u64) {
        let since = self.first_kept(tick);
        self.len = (states as u64).saturating_sub(1);
        if !self.is_kept() {
            return self.forget();
        }
        self.insert_missing(pairs, tick);
        for track in self.tracks_mut() {
            track.since = track.since.max(since);
        }
        for track in self.bodies.values_mut() {
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

    /// The same for all bodies that have no track yet.
    fn insert_missing(&mut self, pairs: &Pairs, since: u64) {
        for key in pairs.keys() {
            if !self.bodies.contains_key(key) {
                self.insert(key, since);
            }
        }
    }

    /// The body is removed after `tick` steps.
    pub fn remove(&mut self, key: BodyKey, tick: u64) {
        if let Some(track) = self.bodies.remove(key) {
            self.gone.push_back(Gone { tick, key, track });
        }
    }

    fn tracks_mut(&mut self) -> impl Iterator<Item = &mut Track> {
        let gone = self.gone.iter_mut().map(|gone| &mut gone.track);
        self.bodies.values_mut().chain(gone)
    }

    /// Before a step, with the pairs of the last one.
    pub fn begin_step(&mut self, pairs: &Pairs) {
        let tick = pairs.tick();
        if tick < self.newest {
            // The simulation went back, and later steps are another run's.
            let since = self.first_kept(tick);
            self.newest = tick;
            self.gone.retain(|gone| gone.track.since <= tick);
            for track in self.tracks_mut() {
                track.pairs.retain(|kept| kept.tick <= tick);
                track.since = track.since.max(since).min(tick);
            }
            let number = pairs.transforms();
            self.transforms.retain(|it| it.number <= number);
            self.keep_displaced(pairs);
            self.keep_movers(pairs);
        } else {
            self.keep_displaced(pairs);
        }
    }

    /// Where bodies were before they were teleported.
    pub fn keep_displaced(&mut self, pairs: &Pairs) {
        for (key, pair) in pairs.displaced() {
            self.push(pairs, key, pair);
        }
    }

    /// Before a body is moved together with its motion, or gets another previous pose: where it was until then.
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
        self.newest = self.newest.max(tick);
        self.keep_movers(pairs);
        let len = self.len;
        let is_old = |at: u64| at.saturating_add(len) <= tick;
        while self.gone.front().is_some_and(|it| is_old(it.tick)) {
            self.gone.pop_front();
        }
        while self.transforms.front().is_some_and(|it| is_old(it.tick)) {
            self.transforms.pop_front();
        }
    }

    /// The same of all that move.
    fn keep_movers(&mut self, pairs: &Pairs) {
        let movers = pairs.movers();
        for (place, key) in movers.keys().iter().enumerate() {
            self.push(pairs, *key, movers.pair(place));
        }
    }

    /// The motion of a body in the step of these pairs.
    fn push(&mut self, pairs: &Pairs, key: BodyKey, pair: Pair) {
        let (tick, transforms) = (pairs.tick(), pairs.transforms());
        let Some(track) = self.bodies.get_mut(key) else {
            return;
        };
        // Later ones are of a run that was left, and may be gone back to.
        let place = track.pairs.partition_point(|kept| kept.tick < tick);
        if track.pairs.get(place).is_some_and(|kept| kept.tick == tick) {
            return;
        }
        let kept = Kept {
            tick,
            transforms,
            pair,
        };
        track.pairs.insert(place, kept);
        if place + 1 == track.pairs.len() {
            track.cut(self.len);
        }
    }

    /// The motion of a body, or of all, is moved by an isometry after `tick` steps.
    pub fn transform(&mut self, pairs: &Pairs, tick: u64, key: Option<BodyKey>, by: Pose) {
        if self.is_kept() {
            let number = pairs.transforms();
            self.transforms.retain(|it| it.number < number);
            self.transforms.push_back(Transform {
                number,
                tick,
                key,
                by,
            });
        }
    }

    /// The pairs are of another state now: bodies that were removed after it live again, and those that came after it are not
    /// there.
    pub fn go_to(&mut self, pairs: &Pairs) {
        if pairs.tick() > self.newest {
            // No step that led there was kept.
            return self.renumber(pairs, pairs.tick());
        }
        let came_later = self.bodies.keys().filter(|key| !pairs.contains(*key));
        for key in came_later.collect::<Vec<_>>() {
            self.remove(key, self.newest);
        }
        for gone in std::mem::take(&mut self.gone).into_iter().rev() {
            if pairs.contains(gone.key) && !self.bodies.contains_key(gone.key) {
                self.bodies.insert(gone.key, gone.track);
            } else {
                self.gone.push_front(gone);
            }
        }
        // Of bodies that only the other state has, or whose track was too old, the next step is the first that is known.
        self.insert_missing(pairs, self.newest.saturating_add(1));
    }

    /// The motion of a body in the step that was the `tick`-th.
    pub fn at(&self, pairs: &Pairs, key: BodyKey, tick: u64) -> Option<Pair> {
        let (last, now) = (pairs.of_step(key)?, pairs.tick());
        if tick == now {
            return Some(last).filter(Pair::is_finite);
        }
        let track = self.bodies.get(key)?;
        if tick < track.since.max(self.first_kept(now)) || tick > now {
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
        // Those after the pair, up to the state.
        let numbers = kept.transforms + 1..=pairs.transforms();
        let is_of_this =
            |it: &&Transform| numbers.contains(&it.number) && it.key.is_none_or(|of| of == key);
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
