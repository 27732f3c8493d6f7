//! The ways of the last steps, for a look back at what a frame showed.

use std::collections::VecDeque;

use rapier3d::math::Pose;
use slotmap::SecondaryMap;

use crate::key::BodyKey;
use crate::motion::Pair;

/// Pairs by key and tick. A body at rest adds none: it is where its next pair begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// How many pairs are kept of a body, the last one included.
    len: u64,
    bodies: SecondaryMap<BodyKey, Track>,
}

#[derive(Clone, Debug)]
struct Track {
    /// The number of steps that had been made when it was begun.
    since: u64,
    /// Each with the number of steps that had been made at its end, oldest first.
    pairs: VecDeque<(u64, Pair)>,
}

impl History {
    /// Whether more is kept than the last pair, which the store of poses has anyway.
    pub fn is_kept(&self) -> bool {
        self.len > 1
    }

    /// Keeps so many states from now on; `tick` steps have been made.
    pub fn set_len(&mut self, states: usize, keys: impl Iterator<Item = BodyKey>, tick: u64) {
        // What was let go is not known again.
        let since = (tick + 1).saturating_sub(self.len);
        self.len = (states as u64).saturating_sub(1);
        if !self.is_kept() {
            self.bodies.clear();
            return;
        }
        for key in keys {
            if !self.bodies.contains_key(key) {
                self.insert(key, tick);
            }
        }
        for track in self.bodies.values_mut() {
            track.since = track.since.max(since);
            track.cut(self.len);
        }
    }

    pub fn insert(&mut self, key: BodyKey, tick: u64) {
        if self.is_kept() {
            let track = Track {
                since: tick,
                pairs: VecDeque::new(),
            };
            self.bodies.insert(key, track);
        }
    }

    pub fn remove(&mut self, key: BodyKey) {
        self.bodies.remove(key);
    }

    /// The way that a body went in the step that was the `tick`-th.
    pub fn push(&mut self, key: BodyKey, tick: u64, pair: Pair) {
        if let Some(track) = self.bodies.get_mut(key)
            && track.pairs.back().is_none_or(|(last, _)| *last < tick)
        {
            track.pairs.push_back((tick, pair));
            track.cut(self.len);
        }
    }

    pub fn transform(&mut self, key: BodyKey, by: &Pose) {
        if let Some(track) = self.bodies.get_mut(key) {
            for (_, pair) in &mut track.pairs {
                pair.transform(by);
            }
        }
    }

    /// The way of a body in an earlier step than the last, which was the `now`-th; `rest` is where it
    /// is if it never moved since.
    pub fn at(&self, key: BodyKey, tick: u64, now: u64, rest: Pose) -> Option<Pair> {
        let track = self.bodies.get(key)?;
        if tick < track.since || tick > now || tick + self.len <= now {
            return None;
        }
        let place = track.pairs.partition_point(|(at, _)| *at < tick);
        Some(match track.pairs.get(place) {
            Some((at, pair)) if *at == tick => *pair,
            // At rest until it moved again, or to this day.
            Some((_, pair)) => Pair::at_rest(pair.previous),
            None => Pair::at_rest(rest),
        })
    }
}

impl Track {
    fn cut(&mut self, len: u64) {
        while self.pairs.len() as u64 > len {
            self.pairs.pop_front();
        }
    }
}
