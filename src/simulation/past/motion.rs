//! The motion of one step.

use crate::key::BodyKey;
use crate::pose::{Pair, Pairs};

/// The motion of bodies before and in a step.
///
/// A body at rest is in no list: its pose is the start of its next motion.
#[derive(Clone, Default)]
pub(super) struct Motion {
    /// The motion in the previous step, of all bodies that may have moved in it, or `None` if unknown.
    pub moved: Option<Vec<(BodyKey, Pair)>>,
    /// Poses that were replaced in this step or after it without a motion. Earlier ticks lead to these poses.
    pub replaced: Option<Box<Pairs>>,
}

impl Motion {
    /// Creates the motion that led to these pairs.
    pub fn new(pairs: Option<&Pairs>) -> Self {
        Self {
            moved: pairs.map(|pairs| pairs.moved().collect()),
            ..Self::default()
        }
    }

    /// Returns the list of moved bodies, unless this tick leads to poses that were replaced.
    pub fn unreplaced(&mut self) -> Option<&mut Vec<(BodyKey, Pair)>> {
        let is_replaced = self.replaced.is_some();
        self.moved.as_mut().filter(|_| !is_replaced)
    }
}
