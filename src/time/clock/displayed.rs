//! The moment that a frame displays. It is never earlier than that of the frame before.

use std::time::Duration;

use crate::time::rate::Rate;

use super::Clock;
use super::units::{ExactTime, fraction, in_units_of, scaled, units_per_step};

/// The largest `f32` below one. It keeps an alpha from being rounded up to a whole step.
pub(super) const LARGEST_ALPHA: f32 = 1.0_f32.next_down();

/// The displayed moment relative to the last state. `lag` is in the units of that state, and `lead` in those of the
/// frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Position {
    /// How far interpolated bodies are behind the last state.
    lag: u128,
    /// How far extrapolated bodies are ahead of the last state.
    lead: u128,
    /// The displayed fraction of the last step. It follows from `lag`, but rounding must not reduce it.
    alpha: f32,
}

/// The position after something other than a step has changed it: another rate or stepping, an aborted or held frame,
/// or a stop.
///
/// From there, frames approach the last state evenly, and reach it when the next step is due.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Anchor {
    /// The overstep at that moment.
    overstep: u128,
    position: Position,
}

/// The moment that a frame has displayed, as the readings of the clock from which its [position](Self::position)
/// follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DisplayedMoment {
    state: ExactTime,
    anchor: Option<Anchor>,
    overstep: u128,
    /// The rate of the frame.
    rate: Rate,
}

/// # The displayed moment
impl Clock {
    /// Returns the fraction of the last step that a frame displays, from 0 to 1: the position between the last two
    /// states.
    ///
    /// With [`Stepping::Fixed`](crate::Stepping::Fixed) it is [`overstep`](Self::overstep) as a fraction of a step, and
    /// less than 1. With every other stepping, and after steps were [aborted](Self::abort_frame) or
    /// [postponed](crate::Physics::pause_after_step), it is 1.
    ///
    /// Between two steps it never falls, so the displayed time never goes back. After a change of the
    /// [rate](crate::time::ClockSettings::set_rate) or the stepping, it rises from its value before, and reaches 1 when
    /// the next step is due.
    #[must_use]
    pub fn alpha(&self) -> f32 {
        self.position().alpha
    }

    /// Returns the simulated time that a frame displays, rounded down to a nanosecond: the time at the fraction
    /// [`alpha`](Self::alpha) of the last step.
    #[must_use]
    pub fn displayed_time(&self) -> Duration {
        self.picture().1
    }

    /// Returns the moment that a frame displays: [`alpha`](Self::alpha), [`displayed_time`](Self::displayed_time), and
    /// how far ahead of the last state extrapolated bodies are displayed, in seconds.
    pub(crate) fn picture(&self) -> (f32, Duration, f32) {
        let Position { lag, lead, alpha } = self.position();
        let part = match self.anchor {
            None => alpha,
            Some(_) => fraction(lead, self.step_length()),
        };
        let time = self.now.earlier(lag).duration();
        (alpha, time, part * self.used.rate.dt())
    }

    /// Returns the displayed moment. If it is the last thing before the end of a frame, that frame displays it.
    pub(crate) fn displayed(&self) -> DisplayedMoment {
        DisplayedMoment {
            state: self.now,
            anchor: self.anchor,
            overstep: self.overstep,
            rate: self.used.rate,
        }
    }

    /// Displays a moment of an earlier frame again, or the first possible one, if steps have run since.
    pub(crate) fn hold(&mut self, displayed: DisplayedMoment) {
        let Position { lag, lead, alpha } = displayed.position();
        let DisplayedMoment { state, rate, .. } = displayed;
        let lag = self.now.since(state.earlier(lag));
        let lead = in_units_of(self.used.rate, lead, rate);
        self.anchor_at(Position {
            lag: lag.min(self.now.last()),
            lead: lead.saturating_sub(self.now.later_than(state, self.used.rate)),
            // It is a fraction of the step to that state only.
            alpha: if state == self.now { alpha } else { 0.0 },
        });
    }

    /// Displays the last state until the next step, because the frame was aborted, its stepping leaves no fraction, or
    /// the last step was not captured. Extrapolated bodies stay this far ahead, or as far as they are.
    pub(crate) fn display_state(&mut self, lead: Option<u128>) {
        self.anchor_at(Position {
            lag: 0,
            lead: lead.unwrap_or_else(|| self.displayed_lead()),
            alpha: 1.0,
        });
    }

    /// Returns how far ahead of the last state extrapolated bodies are displayed.
    pub(super) fn displayed_lead(&self) -> u128 {
        self.displayed().lead()
    }

    /// Displays the last state until the next step, and extrapolates no body, because the clock stops at that state.
    pub(super) fn stop_at_state(&mut self) {
        self.anchor_at(Position {
            lag: 0,
            lead: 0,
            alpha: 1.0,
        });
    }

    /// Displays the moment that follows from the overstep, after a step or at another state. Extrapolated bodies were
    /// displayed `ahead` of this state.
    pub(super) fn display_new_state(&mut self, ahead: u128) {
        if !self.used.leaves_a_fraction {
            return self.display_state(Some(ahead));
        }
        self.anchor = None;
        if ahead > self.overstep.min(self.step_length()) {
            // The step is shorter than the last one, and later steps of the frame may be dropped.
            self.anchor_at(Position {
                lead: ahead,
                ..self.position()
            });
        }
    }

    fn anchor_at(&mut self, position: Position) {
        let overstep = self.overstep;
        self.anchor = Some(Anchor { overstep, position });
    }

    fn position(&self) -> Position {
        self.displayed().position()
    }

    fn step_length(&self) -> u128 {
        units_per_step(self.used.rate)
    }
}

impl DisplayedMoment {
    fn position(&self) -> Position {
        let (length, last, lead) = (self.length(), self.state.last(), self.lead());
        let Some(anchor) = self.anchor else {
            let left = length.saturating_sub(self.overstep);
            return Position {
                lag: scaled(last, left, length),
                lead,
                alpha: fraction(self.overstep, length).min(LARGEST_ALPHA),
            };
        };
        let position = anchor.position;
        let (gone, whole) = self.gone_since(anchor);
        let lag = position.lag - scaled(position.lag, gone, whole);
        Position {
            lag,
            lead,
            alpha: fraction(last.saturating_sub(lag), last)
                .max(position.alpha)
                .min(1.0),
        }
    }

    /// Returns how far extrapolated bodies are ahead of the last state.
    fn lead(&self) -> u128 {
        let length = self.length();
        let Some(anchor) = self.anchor else {
            return self.overstep.min(length);
        };
        let lead = anchor.position.lead;
        let (gone, whole) = self.gone_since(anchor);
        lead.saturating_add(scaled(length.saturating_sub(lead), gone, whole))
    }

    /// Returns which part of the rest of the step is gone, and the rest at the anchor.
    fn gone_since(&self, anchor: Anchor) -> (u128, u128) {
        // A faster rate may leave more than a step in the accumulator until the next frame with time. Nothing moves
        // then.
        let whole = self.length().saturating_sub(anchor.overstep);
        let gone = self.overstep.saturating_sub(anchor.overstep);
        (gone.min(whole), whole)
    }

    fn length(&self) -> u128 {
        units_per_step(self.rate)
    }
}
