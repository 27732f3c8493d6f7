//! The report of a frame, and what else it tells.

use std::ops::Range;
use std::time::Duration;

use crate::events::Events;
use crate::time::{Clock, Dropped};
use rapier::math::Vector;

use super::simulation::Simulation;

/// The report of a frame, from [`Simulation::end_frame`](crate::Simulation::end_frame) or
/// [`Simulation::advance`](crate::Simulation::advance).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Frame {
    /// The number of frames that have ended, including this one; 0 before the first.
    pub number: u64,
    /// The number of new steps that ran in this frame.
    pub steps: u64,
    /// The number of steps [resimulated](crate::Simulation::roll_back) since the previous frame.
    pub resimulated: u64,
    /// The tick of the next step: see [`Physics::tick`](crate::Physics::tick).
    pub tick: u64,
    /// The length of the last step, in seconds of simulated time; 0 before the first.
    pub dt: f32,
    /// Where between the previous and the current state the frame displays bodies, from 0 to 1: see
    /// [`Clock::alpha`](crate::time::Clock::alpha). It is 1 in a frame that ended before its last step.
    pub alpha: f32,
    /// The simulated time that the frame displays, at the fraction `alpha` of the last step, rounded down to a
    /// nanosecond. It never goes back, except after a [rewind](crate::Simulation::rewind), an assignment,
    /// [`set_overstep`](crate::Simulation::set_overstep), a [correction](crate::Simulation::correct) by a state of
    /// another time.
    pub time: Duration,
    /// The time and steps that were dropped, and why.
    pub dropped: Dropped,
    /// The number of dynamic and kinematic bodies that were awake after the last step.
    pub awake: usize,
    /// The number of ignored values of [`ForceGenerator`](crate::forces::ForceGenerator)s that were not finite.
    pub rejected_forces: u64,
    /// The number of [forces and impulses](crate::Physics#forces) since the previous frame that were discarded because
    /// time stopped.
    pub forgotten_forces: u64,
    /// The number of bodies that this frame processed, because they may have moved. All others cost nothing.
    pub movers: usize,
    /// How far the [origin](crate::Physics::shift_origin) moved between the previous picture and this one, in metres,
    /// even back after a rollback or a restored state. Subtract it from everything that you keep in world space, such
    /// as a camera. It is zero in the first picture.
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
    /// Returns the ticks of the new steps of this frame. If another tick was set within it, only those since then.
    #[must_use]
    pub fn ticks(&self) -> Range<u64> {
        self.new_ticks[0]..self.new_ticks[1]
    }
}

/// # Readings
impl Simulation {
    /// Returns the report of the last frame or, within a frame, the report of that frame so far, whose moment (`alpha`,
    /// `time`, `awake`, `movers`) is zero until the frame ends.
    #[must_use]
    pub fn frame(&self) -> Frame {
        let frame = self.open.unwrap_or(self.frame);
        let displayed_by = DisplayedBy(self.screen.own_number());
        Frame {
            displayed_by,
            ..frame
        }
    }

    /// Returns the clock, with its time, its settings, and the time dropped so far. It stays at the present: while
    /// steps are resimulated, [`Physics::tick`] and [`Physics::time`] are behind it. After an assignment of
    /// [`physics`](Self::physics) it has the new tick and time from the next frame on.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.steps.clock
    }

    /// Returns the events that the last frame displayed, for sounds, particles and hit marks. Each event is displayed
    /// once: in the first frame whose [tick](Frame::tick) is greater than the event's step.
    ///
    /// A frame in the middle of a [rollback](Self::roll_back) displays no events, and a frame without a new step only
    /// those that a rollback has found since the last frame. An event that a rollback retracts before it was displayed
    /// is never displayed. If it was displayed, stop its effects with [`event_changes`](Self::event_changes). It is not
    /// displayed again, even if another rollback brings it back. After a [rewind](Self::rewind) or an assignment, steps
    /// and events are new ones.
    ///
    /// For the rules of your game, read [`Physics::events`] after each step. On another thread, use
    /// [`View::events`](crate::threads::View::events). Saved bytes hold no events that are still to be displayed.
    #[must_use]
    pub fn events(&self) -> Events {
        self.screen.events.events()
    }
}
