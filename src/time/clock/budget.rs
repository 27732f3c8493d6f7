//! The wall time that the steps of a frame may take.

use std::time::Duration;

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
    pub(super) fn steps(self) -> u64 {
        let fit = self.frame.as_nanos().checked_div(self.step.as_nanos());
        fit.map_or(u64::MAX, |fit| {
            u64::try_from(fit).unwrap_or(u64::MAX).max(1)
        })
    }
}
