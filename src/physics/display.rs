//! Poses and the log of their changes, for the display of a state.

use crate::pose::{ErrorChange, Pairs, PoseCounts, PoseLog};

use super::Physics;

/// # For the display
impl Physics {
    /// Takes the log for a reader whose last displayed state is `displayed`. The counts remain, because they belong to
    /// the frame.
    pub(crate) fn take_log(&mut self, displayed: Option<u64>) -> PoseLog {
        let counts = self.log.counts;
        let fresh = PoseLog {
            counts,
            ..PoseLog::default()
        };
        let mut log = std::mem::replace(&mut self.log, fresh);
        log.epoch = Some(self.epoch.number());
        if log.epoch == displayed {
            // A body may have come to rest in a frame that displayed nothing, and have been removed after it.
            let removed = std::mem::take(&mut log.removed);
            log.drop_rest_of(&removed);
            log.removed = removed;
        } else {
            log.rest = self.pairs.resting().collect();
        }
        log
    }

    /// Returns the poses before and after the last step, if it was captured.
    pub(crate) fn pairs_of_step(&self) -> Option<&Pairs> {
        Some(&self.pairs).filter(|pairs| pairs.tick() == self.tick)
    }

    /// Sets both poses of each body to the current one if the last step was not captured. Returns whether it did so.
    pub(crate) fn resync_if_outdated(&mut self) -> bool {
        (self.pairs).resync_if_outdated(&self.world, self.tick)
    }

    /// Ends a frame: takes bodies that came to rest off the movers. Returns the counts of the frame.
    pub(crate) fn settle(&mut self) -> PoseCounts {
        self.pairs.settle(&self.world, &mut self.log);
        std::mem::take(&mut self.log.counts)
    }

    /// Begins the log of a state that replaces `left`. Of the old log, only the visual errors and removals are kept.
    pub(crate) fn continue_log(
        &mut self,
        left: PoseLog,
        errors: impl IntoIterator<Item = ErrorChange>,
    ) {
        self.log = PoseLog {
            rest: Vec::new(),
            ..left
        };
        self.log.errors.extend(errors);
    }
}
