//! Bodies of removed entities, which a recovery must not bring back.

use crate::key::BodyKey;
use crate::physics::Physics;

#[derive(Default)]
pub(super) struct RemovedBodies {
    /// The bodies removed since the newest kept state, which still has them, with the ticks of the removals.
    removed: Vec<(u64, BodyKey)>,
    /// The bodies to be removed once physics has recovered from a panic, or ends.
    waiting: Vec<BodyKey>,
}

impl RemovedBodies {
    /// Removes bodies from the present state. Forgets those that the newest kept state lacks.
    pub fn remove(&mut self, keys: Vec<BodyKey>, physics: &mut Physics, newest_kept: Option<u64>) {
        let is_kept = |removed: &u64| newest_kept.is_some_and(|kept| kept <= *removed);
        self.removed.retain(|(removed, _)| is_kept(removed));
        for key in keys {
            self.removed.push((physics.tick(), key));
            physics.remove(key);
        }
    }

    /// Lets bodies wait for a recovery or the end, because physics has panicked.
    pub fn remove_later(&mut self, keys: Vec<BodyKey>) {
        self.waiting.extend(keys);
    }

    /// Removes the bodies from a state that was recovered after a panic, if it still has them. These stay recorded,
    /// because another recovery may go back to the same state. The others are forgotten, because a later body may get
    /// their key.
    pub fn remove_from_recovered(&mut self, physics: &mut Physics) {
        let recovered = physics.tick();
        // In a state after the removal, the key may already be that of another body.
        self.removed.retain(|(tick, _)| *tick >= recovered);
        let keys = self.removed.drain(..).map(|(_, key)| key);
        let mut keys: Vec<_> = keys.chain(self.waiting.drain(..)).collect();
        keys.retain(|key| physics.remove(*key).is_some());
        // The bodies are now removed at this tick.
        self.removed = keys.into_iter().map(|key| (recovered, key)).collect();
    }

    /// Forgets bodies that the present state has again, after the game has gone back or resimulated steps. A key may
    /// also be that of another body.
    pub fn forget_alive(&mut self, physics: &Physics) {
        self.removed.retain(|(_, key)| physics.body(*key).is_none());
    }

    pub fn clear(&mut self) {
        self.removed.clear();
    }

    /// Removes the bodies that wait for a recovery, because none follows.
    pub fn remove_waiting(self, physics: &mut Physics) {
        for key in self.waiting {
            physics.remove(key);
        }
    }
}
