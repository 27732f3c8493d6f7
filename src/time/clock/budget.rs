//! The wall time that the steps of a frame may take.

use std::time::Duration;

/// The wall time that physics may take in a frame, for [`ClockSettings::set_budget`](crate::ClockSettings::set_budget).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Budget {
    /// The wall time for all steps of a frame together.
    pub frame: Duration,
    /// The wall time of one step as measured by the host, for example the average of the last few steps.
    pub step: Duration,
}

impl Budget {
    /// Returns how many steps fit. At least one does, so that time never stops.
    pub(super) fn steps(self) -> u64 {
        let fit = self.frame.as_nanos().checked_div(self.step.as_nanos());
        fit.map_or(u64::MAX, |fit| {
            u64::try_from(fit).unwrap_or(u64::MAX).max(1)
        })
    }
}
