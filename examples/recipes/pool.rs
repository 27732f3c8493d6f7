//! The end of a shot in a game of pool: all balls sleep.

use std::collections::BTreeSet;

use evenstep::{BodyKey, Physics};

/// Follows the rolling balls. Call it after each step. The shot is over once the set is empty.
pub fn follow(physics: &Physics, rolling: &mut BTreeSet<BodyKey>) {
    for change in physics.events().sleep_changes() {
        if change.is_asleep {
            rolling.remove(&change.body);
        } else {
            rolling.insert(change.body);
        }
    }
    rolling.retain(|key| physics.body(*key).is_some_and(|ball| ball.is_enabled())); // not pocketed
}
