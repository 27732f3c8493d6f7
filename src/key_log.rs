//! What happened to keys, frame by frame, for hosts that missed some frames.

use std::collections::VecDeque;

use crate::key::BodyKey;

/// Keys, each with the number of the frame in which something happened to it, oldest first.
///
/// Of bounded length: what is too long ago is forgotten.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct KeyLog {
    entries: VecDeque<(u64, BodyKey)>,
    /// Of this frame, and of those before, not everything is known.
    forgotten: u64,
    /// The most entries.
    bound: usize,
}

impl KeyLog {
    /// Keeps as many entries as there are bodies, if that is more than before.
    pub fn grow(&mut self, bodies: usize) {
        if bodies > self.bound {
            self.bound = bodies;
            self.entries
                .reserve(bodies.saturating_sub(self.entries.len()));
        }
    }

    pub fn push(&mut self, frame: u64, key: BodyKey) {
        if self.entries.len() >= self.bound
            && let Some((oldest, _)) = self.entries.pop_front()
        {
            self.forgotten = oldest;
        }
        self.entries.push_back((frame, key));
    }

    fn start_after(&self, frame: u64) -> usize {
        self.entries.partition_point(|(at, _)| *at <= frame)
    }

    /// The keys of all frames after this one; `None` if some of them are forgotten.
    pub fn since(&self, frame: u64) -> Option<impl Iterator<Item = BodyKey>> {
        if frame < self.forgotten {
            return None;
        }
        Some(
            self.entries
                .range(self.start_after(frame)..)
                .map(|(_, key)| *key),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotmap::SlotMap;

    #[test]
    fn what_is_too_long_ago_is_forgotten_and_said_to_be() {
        let mut keys = SlotMap::<BodyKey, ()>::with_key();
        let keys: Vec<BodyKey> = (0..6).map(|_| keys.insert(())).collect();
        let mut log = KeyLog::default();
        log.grow(3);
        for (frame, key) in [1, 1, 3, 4].into_iter().zip(&keys) {
            log.push(frame, *key);
        }
        let since = |log: &KeyLog, frame| Some(log.since(frame)?.collect::<Vec<_>>());
        assert_eq!(since(&log, 0), None, "the first of frame 1 is gone");
        assert_eq!(since(&log, 1).unwrap(), keys[2..4]);
        assert_eq!(since(&log, 3).unwrap(), keys[3..4]);
        assert_eq!(since(&log, 9).unwrap(), []);
    }
}
