//! How the time of a frame becomes steps, and how many of them it may make.

use std::time::Duration;

use crate::time::stepping::Stepping;

use super::Dropped;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct StepSettings {
    pub strategy: Stepping,
    pub max_frame_time: Duration,
    pub max_steps_per_frame: Option<u32>,
    pub budget: Option<Budget>,
}

/// The wall time that physics may take of a frame: for [`Clock::set_budget`](crate::Clock::set_budget).
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

impl StepSettings {
    /// All steps that are due, of one length.
    pub const UNLIMITED: Self = Self {
        strategy: Stepping::Fixed,
        max_frame_time: super::LONGEST_FRAME,
        max_steps_per_frame: None,
        budget: None,
    };

    /// How many of `whole` steps may be made, beside others.
    pub fn limit(self, whole: u64, others: u64, dropped: &mut Dropped) -> u64 {
        let at_most = |most: u64| whole.min(most.saturating_sub(others));
        let by_count = self
            .max_steps_per_frame
            .map_or(whole, |most| at_most(most.into()));
        let by_budget = self.budget.map_or(whole, |budget| at_most(budget.steps()));
        dropped.steps = whole - by_count;
        dropped.over_budget = by_count.saturating_sub(by_budget);
        by_count.min(by_budget)
    }

    /// The most steps that a frame may make.
    pub fn most_steps(self) -> u64 {
        let by_count = self.max_steps_per_frame.map_or(u64::MAX, u64::from);
        by_count.min(self.budget.map_or(u64::MAX, Budget::steps))
    }
}

impl Default for StepSettings {
    fn default() -> Self {
        Self {
            strategy: Stepping::default(),
            max_frame_time: Duration::from_millis(250),
            max_steps_per_frame: None,
            budget: None,
        }
    }
}
