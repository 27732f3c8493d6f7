//! How the time of a frame becomes steps, and how many of them it may make.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::time::stepping::Stepping;

use super::Dropped;

/// The longest frame that the 128-bit accumulator is made for: 136 years.
pub(super) const LONGEST_FRAME: Duration = Duration::from_secs(u32::MAX as u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Limits {
    pub stepping: Stepping,
    /// At most [`LONGEST_FRAME`].
    #[cfg_attr(feature = "serde", serde(deserialize_with = "frame_time"))]
    pub max_frame_time: Duration,
    pub max_steps_per_frame: Option<NonZeroU32>,
    pub budget: Option<Budget>,
}

/// The wall time that physics may take of a frame: for
/// [`ClockSettings::set_budget`](crate::ClockSettings::set_budget).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Budget {
    /// What all steps of a frame may take together.
    pub frame: Duration,
    /// What a step takes, as the host has measured it: for example the average of the last few.
    pub step: Duration,
}

impl Budget {
    /// How many steps fit. One always does: time must not stand still.
    fn steps(self) -> u64 {
        let fit = self.frame.as_nanos().checked_div(self.step.as_nanos());
        fit.map_or(u64::MAX, |fit| {
            u64::try_from(fit).unwrap_or(u64::MAX).max(1)
        })
    }
}

impl Limits {
    /// All steps that are due, of one length.
    pub const NONE: Self = Self {
        stepping: Stepping::Fixed,
        max_frame_time: LONGEST_FRAME,
        max_steps_per_frame: None,
        budget: None,
    };

    /// How many of `whole` steps may be made, beside others.
    pub fn limit(self, whole: u64, others: u64, dropped: &mut Dropped) -> u64 {
        let at_most = |most: u64| whole.min(most.saturating_sub(others));
        let by_count = at_most(self.most_by_count());
        let by_budget = at_most(self.most_by_budget());
        dropped.steps = whole - by_count;
        dropped.over_budget = by_count.saturating_sub(by_budget);
        by_count.min(by_budget)
    }

    /// The most steps that a frame may make.
    pub fn most_steps(self) -> u64 {
        self.most_by_count().min(self.most_by_budget())
    }

    fn most_by_count(self) -> u64 {
        self.max_steps_per_frame
            .map_or(u64::MAX, |most| most.get().into())
    }

    fn most_by_budget(self) -> u64 {
        self.budget.map_or(u64::MAX, Budget::steps)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_frame_time: Duration::from_millis(250),
            ..Self::NONE
        }
    }
}

/// Fails for a limit that cannot be set.
#[cfg(feature = "serde")]
fn frame_time<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    use serde::Deserialize;
    use serde::de::Error;

    let time = Duration::deserialize(from)?;
    let is_possible = time <= LONGEST_FRAME;
    (is_possible.then_some(time)).ok_or_else(|| D::Error::custom("a frame of more than 136 years"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::clock::tests::{MS, clock};

    #[test]
    fn long_frames_are_cut_and_what_was_cut_is_said() {
        let mut clock = clock(100);
        let dropped = clock.begin_frame(MS(1_255));
        assert_eq!((clock.due(), dropped.frame_time), (25, MS(1_005)));
        assert_eq!(clock.real_time(), MS(1_255));
        while clock.next_step().is_some() {}

        clock.settings_mut().set_max_steps_per_frame(Some(2));
        let dropped = clock.begin_frame(MS(57));
        assert_eq!((clock.due(), dropped.steps), (2, 3));
        assert_eq!(clock.overstep(), MS(7));
        let total = Dropped {
            frame_time: MS(1_005),
            steps: 3,
            ..Dropped::default()
        };
        assert_eq!(clock.dropped(), total);
    }
}
