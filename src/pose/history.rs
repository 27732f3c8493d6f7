//! The motion of each body in the last steps, for a look back at what a frame showed.

use std::collections::{BTreeMap, VecDeque};

use slotmap::SecondaryMap;

use crate::key::BodyKey;
use rapier::math::Pose;

use super::motion::Pair;

/// Pairs by key and tick. A body at rest adds none: it is where its next pair begins.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct History {
    /// How many pairs are kept of a body, the last one included.
    len: u64,
    bodies: SecondaryMap<BodyKey, Track>,
    /// The last step's pairs of bodies that were put elsewhere since.
    displaced: BTreeMap<BodyKey, Pair>,
}

#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
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

    /// How many states are kept of a body: two at least.
    pub fn states(&self) -> usize {
        usize::try_from(self.len.max(1).saturating_add(1)).unwrap_or(usize::MAX)
    }

    /// Steps have other numbers from now on: what was kept by the old ones is forgotten.
    pub fn forget_ticks(&mut self) {
        self.len = 0;
        self.bodies.clear();
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
        for (key, pair) in std::mem::take(&mut self.displaced) {
            self.displace(key, tick, pair);
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
        self.displaced.remove(&key);
    }

    /// The body is about to be put elsewhere: `pair` was its motion in the last step, the `tick`-th.
    pub fn displace(&mut self, key: BodyKey, tick: u64, pair: Pair) {
        self.push(key, tick, pair);
        self.displaced.entry(key).or_insert(pair);
    }

    /// Another step has been made.
    pub fn end_step(&mut self) {
        self.displaced.clear();
    }

    /// The motion of a body in the last step, if it was put elsewhere since.
    pub fn displaced(&self, key: BodyKey) -> Option<Pair> {
        self.displaced.get(&key).copied()
    }

    /// The motion of a body in the step that was the `tick`-th.
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
        if let Some(pair) = self.displaced.get_mut(&key) {
            pair.transform(by);
        }
    }

    /// The motion of a body in an earlier step than the last, which was the `now`-th; `rest` is where it
    /// is if it never moved since.
    pub fn at(&self, key: BodyKey, tick: u64, now: u64, rest: Pose) -> Option<Pair> {
        let track = self.bodies.get(key)?;
        if tick < track.since || tick > now || tick.saturating_add(self.len) <= now {
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

#[cfg(test)]
mod tests {
    use super::*;
    use slotmap::SlotMap;

    #[test]
    fn a_body_that_is_removed_leaves_nothing() {
        let key = SlotMap::<BodyKey, ()>::with_key().insert(());
        let mut history = History::default();
        history.set_len(5, std::iter::once(key), 0);
        history.push(key, 1, Pair::at_rest(Pose::IDENTITY));
        assert!(history.at(key, 1, 2, Pose::IDENTITY).is_some());
        history.remove(key);
        assert_eq!(history.bodies.len(), 0);
        assert!(history.at(key, 1, 2, Pose::IDENTITY).is_none());
    }
}
