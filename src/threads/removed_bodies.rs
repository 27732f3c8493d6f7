//! Bodies of removed entities, which a recovery must not bring back.

use crate::key::BodyKey;
use crate::physics::Physics;

/// Bodies of entities removed since the newest kept state, which still has them, with the ticks of the removals.
#[derive(Default)]
pub(super) struct RemovedBodies(Vec<(u64, BodyKey)>);

impl RemovedBodies {
    /// Lists bodies that are removed at this tick. Forgets those that the newest kept state lacks.
    pub fn add(&mut self, keys: &[BodyKey], tick: u64, newest_kept: Option<u64>) {
        let is_kept = |removed: &u64| newest_kept.is_some_and(|kept| kept <= *removed);
        self.0.retain(|(removed, _)| is_kept(removed));
        self.0.extend(keys.iter().map(|key| (tick, *key)));
    }

    /// Removes the recorded bodies from a state that was recovered after a panic, if it still has them. These stay
    /// recorded, because another recovery may go back to the same state. The others are forgotten, because a later body
    /// may get their key.
    pub fn remove_from_recovered(&mut self, physics: &mut Physics) {
        let recovered = physics.tick();
        self.0.retain_mut(|(tick, key)| {
            // In a state after the removal, the key may already be that of another body.
            let stays = *tick >= recovered && physics.remove(*key).is_some();
            // The body is now removed at this tick.
            *tick = recovered;
            stays
        });
    }

    /// Forgets removals from states that are later than the present one.
    pub fn forget_after(&mut self, present: u64) {
        self.0.retain(|(tick, _)| *tick <= present);
    }

    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn remove_from(self, physics: &mut Physics) {
        for (_, key) in self.0 {
            physics.remove(key);
        }
    }
}
