//! A log of changes to keys, frame by frame, for hosts that skipped frames.

use std::collections::VecDeque;

use crate::key::BodyKey;

/// Keys with the number of the frame in which something happened to them, oldest first. The log has a bounded length
/// and forgets its oldest entries.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyLog {
    entries: VecDeque<(u64, BodyKey)>,
    /// The last frame whose entries are incomplete. Earlier frames are incomplete too.
    last_incomplete: u64,
    max_len: usize,
}

impl KeyLog {
    /// Raises the limit to the number of bodies, so that one change of each body fits. The limit never falls.
    pub fn grow(&mut self, bodies: usize) {
        if bodies > self.max_len {
            self.max_len = bodies;
            self.entries
                .reserve(bodies.saturating_sub(self.entries.len()));
        }
    }

    /// Adds a key in this frame. A full log forgets its oldest entry, so that entry's frame is incomplete from now on.
    pub fn push(&mut self, frame: u64, key: BodyKey) {
        if self.entries.len() >= self.max_len
            && let Some((oldest, _)) = self.entries.pop_front()
        {
            self.last_incomplete = oldest;
        }
        self.entries.push_back((frame, key));
    }

    fn start_after(&self, frame: u64) -> usize {
        self.entries.partition_point(|(at, _)| *at <= frame)
    }

    /// Returns the keys of all frames after this one, or `None` if some of them are forgotten.
    pub fn since(&self, frame: u64) -> Option<impl Iterator<Item = BodyKey>> {
        if frame < self.last_incomplete {
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
    fn since_returns_none_if_some_of_the_keys_are_forgotten() {
        let mut keys = SlotMap::<BodyKey, ()>::with_key();
        let keys: Vec<BodyKey> = (0..6).map(|_| keys.insert(())).collect();
        let mut log = KeyLog::default();
        log.grow(3);
        for (frame, key) in [1, 1, 3, 4].into_iter().zip(&keys) {
            log.push(frame, *key);
        }
        let since = |log: &KeyLog, frame| Some(log.since(frame)?.collect::<Vec<_>>());
        assert_eq!(
            since(&log, 0),
            None,
            "the first key of frame 1 is forgotten"
        );
        assert_eq!(since(&log, 1).unwrap(), keys[2..4]);
        assert_eq!(since(&log, 3).unwrap(), keys[3..4]);
        assert_eq!(since(&log, 9).unwrap(), []);
    }
}
