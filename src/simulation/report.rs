//! The report of a frame, and what else it tells.

use std::ops::Range;
use std::time::Duration;

use crate::events::Events;
use crate::time::{Clock, Dropped};
use rapier::math::Vector;

use super::simulation::Simulation;

/// The report of a frame.
///
/// # Calls out of order
/// In [your own loop](crate::Simulation#your-own-loop), a panic, an error or a mistake may leave out a call:
///
/// | call | effect |
/// | --- | --- |
/// | `begin_frame` or `advance` while a frame is open | The open frame continues. Its due steps are dropped and counted in [`Dropped::aborted`]. |
/// | `end_frame` while steps are due | The same, and the frame displays the latest state. |
/// | `end_frame` while steps are to be resimulated | They [stay due](crate::Simulation::roll_back). |
/// | `begin_frame`, `advance` or `resimulate` in place of `run_step` for a resimulated step | The same. |
/// | `run_step` without `next_step`, or after another physics was assigned | It returns `false`. Likewise, `next_step` returns the same step again, and `end_frame` the last report. |
/// | `begin_frame`, `run_step` or `end_frame` is left out a hundred times in a row | In builds with debug assertions, a panic names it. |
///
/// Forces for a step that does not run are discarded. All other changes stay.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Frame {
    /// The number of frames that have ended, including this one; 0 before the first.
    pub number: u64,
    /// The number of new steps that ran in this frame, without those before an assignment, a
    /// [rewind](crate::Simulation::rewind), or a [correction](crate::Simulation::correct) by a later state.
    pub steps: u64,
    /// The number of steps [resimulated](crate::Simulation::roll_back) since the previous frame.
    pub resimulated: u64,
    /// The tick of the next step: see [`Physics::tick`](crate::Physics::tick).
    pub tick: u64,
    /// The length of the last step, in seconds of simulated time; 0 before the first, and within a frame before its
    /// first.
    pub dt: f32,
    /// Where between the previous and the current state the frame displays bodies, from 0 to 1: see
    /// [`Clock::alpha`](crate::time::Clock::alpha).
    pub alpha: f32,
    /// The displayed simulated time, rounded down to a nanosecond. It goes back only after a
    /// [rewind](crate::Simulation::rewind), an assignment, [`set_overstep`](crate::Simulation::set_overstep), a
    /// [correction](crate::Simulation::correct) by a state of another time, or `set_tick` in the middle of a rollback.
    pub time: Duration,
    /// The time and steps that were dropped, and why.
    pub dropped: Dropped,
    /// The number of bodies that Rapier counts as awake at the end of the frame: dynamic and kinematic bodies, those
    /// that became fixed while they were awake, and once after a shift of the origin those that sleep.
    pub awake: usize,
    /// The number of ignored values of [`ForceGenerator`](crate::forces::ForceGenerator)s that were not finite.
    pub rejected_forces: u64,
    /// The number of [forces and impulses](crate::Physics#forces) since the previous frame that were discarded because
    /// time stopped.
    pub forgotten_forces: u64,
    /// The number of bodies that this frame processed, because they may have moved.
    pub movers: usize,
    /// How far the [origin](crate::Physics::shift_origin) moved since the previous frame, in metres, even back after a
    /// rollback or a restored state. Subtract it from what you keep in world space. The first frame counts from the
    /// state with which the simulation began.
    pub origin_shift: Vector,
    /// The first tick of the new steps, and the tick after the last one.
    pub(crate) new_ticks: [u64; 2],
    /// For [`changes_since`](crate::Simulation::changes_since).
    #[cfg_attr(feature = "serde", serde(skip))]
    pub(crate) displayed_by: DisplayedBy,
}

/// The number of the screen that displayed a frame. All are equal, because it is no part of the report.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DisplayedBy(pub u64);

impl PartialEq for DisplayedBy {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Frame {
    /// Returns the ticks of the new steps of this frame, since the last change of the tick.
    #[must_use]
    pub fn ticks(&self) -> Range<u64> {
        self.new_ticks[0]..self.new_ticks[1]
    }
}

/// # Events and reports
impl Simulation {
    /// Returns the events that the last frame displayed, for sounds and effects. For rules, read
    /// [`Physics::events`](crate::Physics::events) after each step.
    ///
    /// Each event is displayed at most once: in the first frame whose [tick](Frame::tick) is greater than the event's
    /// step, unless a [rollback](Self::roll_back) retracts it before. A frame in the middle of a rollback displays
    /// none. [`event_changes`](Self::event_changes) lists retracted events that were displayed. If a hook assigns
    /// another state, the events of earlier steps of its frame are not displayed. Steps after a [rewind](Self::rewind)
    /// are new ones, with other events.
    #[must_use]
    pub fn events(&self) -> Events {
        self.screen.events.events()
    }

    /// Returns the report of the last frame or, within a frame, of the frame so far, in which the fields that describe
    /// the picture are still 0.
    #[must_use]
    pub fn frame(&self) -> Frame {
        let frame = self.open_report.unwrap_or(self.frame);
        // By this number, `changes_since` recognises and rejects the frames of another screen.
        let displayed_by = DisplayedBy(self.screen.own_number());
        Frame {
            displayed_by,
            ..frame
        }
    }

    /// Returns the report of the last frame that has ended, whose picture is displayed.
    pub(crate) fn last_frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns the clock. While steps are resimulated, it stays at the present.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.steps.clock
    }
}
