//! The values that a clock returns: steps, and reports of dropped time.

use std::time::Duration;

use super::units::ExactTime;

/// One step: its number, and the time that it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Step {
    /// The number of the step: how many steps came before it, unless [`set_tick`](crate::time::Clock::set_tick) has
    /// renumbered them.
    pub tick: u64,
    /// The length in seconds of simulated time: the same for every step, unless the rate or
    /// [`Stepping`](crate::Stepping) changes it.
    pub dt: f32,
    /// Simulated time at the start of the step, rounded down to a nanosecond.
    pub start_time: Duration,
    /// Simulated time at the end of the step, rounded down to a nanosecond.
    pub end_time: Duration,
    /// [Real time](crate::time::Clock::real_time) at the start of the step.
    pub real_start: Duration,
    /// [Real time](crate::time::Clock::real_time) at the end of the step, exclusive. There are no gaps between steps,
    /// even if time is dropped, paused or scaled.
    pub real_end: Duration,
    /// [Real time](crate::time::Clock::real_time) at the end of the frame in which the step is run, or at present if a
    /// thread runs that frame late.
    pub real_frame_end: Duration,
    /// Whether this is the first step of its frame.
    pub is_first: bool,
    /// Whether this is the last step that is due in its frame.
    pub is_last: bool,
    /// Whether the step is resimulated after a [rollback](crate::Simulation::roll_back). All other fields are as they
    /// were the first time, except after a [correction](crate::Simulation::correct) to another time.
    pub is_resimulated: bool,
}

impl Step {
    /// Returns a step of a preview, from `start` to `end`. It has no frame, and no real time.
    pub(crate) fn of_preview(tick: u64, [start, end]: [ExactTime; 2]) -> Self {
        Self {
            tick,
            dt: end.dt(),
            start_time: start.duration(),
            end_time: end.duration(),
            real_start: Duration::ZERO,
            real_end: Duration::ZERO,
            real_frame_end: Duration::ZERO,
            // It is like the only step of a frame.
            is_first: true,
            is_last: true,
            is_resimulated: false,
        }
    }
}

/// The time and steps dropped in a frame, or in all frames so far, and why. Counts saturate. A pause drops no time,
/// except the lag of a [`Runner`](crate::threads::Runner).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Dropped {
    /// Elapsed time over [`ClockSettings::set_max_frame_time`](crate::time::ClockSettings::set_max_frame_time), before
    /// it is scaled by the speed.
    pub frame_time: Duration,
    /// Steps over [`ClockSettings::set_max_steps_per_frame`](crate::time::ClockSettings::set_max_steps_per_frame).
    pub steps: u64,
    /// Steps over [`ClockSettings::set_budget`](crate::time::ClockSettings::set_budget).
    pub over_budget: u64,
    /// Elapsed time by which the steps of [`FrameLocked`](crate::Stepping::FrameLocked) or
    /// [`DisplayCounted`](crate::Stepping::DisplayCounted) fell short, before it is scaled by the speed.
    pub uncounted: Duration,
    /// Time by which those steps exceeded the elapsed time.
    pub overcounted: Duration,
    /// Steps that were due when the frame ended early or another state was assigned.
    pub aborted: u64,
}

impl std::ops::AddAssign for Dropped {
    fn add_assign(&mut self, other: Self) {
        self.frame_time = self.frame_time.saturating_add(other.frame_time);
        self.steps = self.steps.saturating_add(other.steps);
        self.over_budget = self.over_budget.saturating_add(other.over_budget);
        self.uncounted = self.uncounted.saturating_add(other.uncounted);
        self.overcounted = self.overcounted.saturating_add(other.overcounted);
        self.aborted = self.aborted.saturating_add(other.aborted);
    }
}
