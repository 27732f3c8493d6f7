//! The moment that a frame displays. It is never earlier than that of the frame before.

use std::time::Duration;

use crate::time::rate::{Rate, duration_from_nanos};

use super::Clock;
use super::step::Dropped;
use super::units::{
    ExactTime, Speed, fraction, in_units_of, scaled, units_per_nano, units_per_step,
};

/// The largest `f32` below one, so that no alpha is rounded up to a whole step.
pub(super) const LARGEST_ALPHA: f32 = 1.0_f32.next_down();

/// The displayed moment: interpolated bodies are `lag` behind the last state, in its units, and extrapolated bodies are
/// `lead` ahead, in units of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Position {
    lag: u128,
    lead: u128,
    /// The displayed fraction of the last step, which rounding must not reduce.
    alpha: f32,
}

/// The position after something other than a step has changed it. From there, frames approach the last state evenly,
/// and reach it when the next step is due.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Anchor {
    overstep: u128,
    position: Position,
}

/// The readings of the clock from which a displayed [position](Self::position) follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DisplayedMoment {
    state: ExactTime,
    anchor: Option<Anchor>,
    overstep: u128,
    rate: Rate,
}

/// # The displayed moment
impl Clock {
    /// Returns the displayed position between the last two states, from 0 to 1.
    ///
    /// With [`Stepping::Fixed`](crate::Stepping::Fixed) it is [`overstep`](Self::overstep) as a fraction of a step, and
    /// less than 1. With every other stepping, and after steps were [aborted](Self::abort_frame) or
    /// [postponed](crate::Physics::pause_after_step), it is 1. Between two steps it never falls. After a change of the
    /// rate or the stepping, it rises from its previous value, and reaches 1 when the next step is due.
    #[must_use]
    pub fn alpha(&self) -> f32 {
        self.position().alpha
    }

    /// Returns the simulated time that a frame displays, at the fraction [`alpha`](Self::alpha) of the last step,
    /// rounded down to a nanosecond.
    #[must_use]
    pub fn displayed_time(&self) -> Duration {
        self.picture().1
    }

    /// Returns [`alpha`](Self::alpha), [`displayed_time`](Self::displayed_time), and the lead of extrapolated bodies in
    /// seconds.
    pub(crate) fn picture(&self) -> (f32, Duration, f32) {
        let Position { lag, lead, alpha } = self.position();
        let part = match self.anchor {
            None => alpha,
            Some(_) => fraction(lead, self.step_length()),
        };
        let time = self.now.earlier(lag).duration();
        (alpha, time, part * self.used.rate.dt())
    }

    pub(crate) fn displayed(&self) -> DisplayedMoment {
        DisplayedMoment {
            state: self.now,
            anchor: self.anchor,
            overstep: self.overstep,
            rate: self.used.rate,
        }
    }

    /// Displays an earlier moment again, or the first possible one after steps have run.
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

    /// Displays the last state until the next step. Extrapolated bodies stay `lead` ahead, or as far as they are.
    pub(crate) fn display_state(&mut self, lead: Option<u128>) {
        self.anchor_at(Position {
            lag: 0,
            lead: lead.unwrap_or_else(|| self.displayed_lead()),
            alpha: 1.0,
        });
    }

    pub(super) fn displayed_lead(&self) -> u128 {
        self.displayed().lead()
    }

    /// Displays the last state until the next step, and extrapolates no body.
    pub(super) fn stop_at_state(&mut self) {
        self.anchor_at(Position {
            lag: 0,
            lead: 0,
            alpha: 1.0,
        });
    }

    /// Displays the moment that follows from the overstep. Extrapolated bodies were displayed `ahead` of this state.
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

    fn lead(&self) -> u128 {
        let length = self.length();
        let Some(anchor) = self.anchor else {
            return self.overstep.min(length);
        };
        let lead = anchor.position.lead;
        let (gone, whole) = self.gone_since(anchor);
        lead.saturating_add(scaled(length.saturating_sub(lead), gone, whole))
    }

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

/// # Readings
impl Clock {
    /// Returns the tick of the last state: the number of steps so far, unless [`set_tick`](Self::set_tick) has
    /// renumbered them.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Returns the tick of the next step: [`tick`](Self::tick), or the one that [`set_tick`](Self::set_tick) has
    /// requested. Use it to number input that is sent ahead.
    #[must_use]
    pub fn next_tick(&self) -> u64 {
        self.requests.tick.unwrap_or(self.tick)
    }

    /// Returns real time, with which [input](crate::input::InputQueue) is stamped: the sum of all frame times, even
    /// dropped and paused ones.
    #[must_use]
    pub fn real_time(&self) -> Duration {
        self.real_time
    }

    /// Returns simulated time, rounded down to a nanosecond: the length of all steps so far and of the due steps, plus
    /// the [overstep](Self::overstep).
    ///
    /// Within a frame it is the time at the end of the frame, even if a [stop](crate::Physics::pause_after_step)
    /// postpones some of its steps. A step begins at [`Step::start_time`](crate::Step::start_time).
    #[must_use]
    pub fn time(&self) -> Duration {
        let later = self.units_due().saturating_add(self.held);
        let later = later.saturating_add(self.overstep);
        self.now.later(later, self.used.rate).duration()
    }

    /// Returns whether simulated time stopped in the last frame, and nothing has started it since.
    pub(crate) fn is_stopped(&self) -> bool {
        let frame_stood_still = self.used.stands_still && !self.used.has_single_steps;
        frame_stood_still && self.settings.stands_still() && self.requests.single_steps == 0
    }

    pub(crate) fn exact_time(&self) -> ExactTime {
        self.now
    }

    /// Returns the [`time`](Self::time) at the end of a frame of `elapsed` that begins now, for objects that your game
    /// animates before it advances the simulation.
    #[must_use]
    pub fn time_after(&self, elapsed: Duration) -> Duration {
        let mut clock = self.clone();
        clock.begin_frame(elapsed);
        clock.time()
    }

    /// Returns the simulated time in the accumulator, less than a step, rounded down to a nanosecond. The clock keeps
    /// it exact.
    #[must_use]
    pub fn overstep(&self) -> Duration {
        self.duration(self.overstep)
    }

    /// Returns how long the next frame must be for a step to be due, rounded up to a nanosecond, or `None` in a pause
    /// or at speed 0. It is zero only if a [single step](Self::step_once) or a
    /// [postponed](crate::Physics::pause_after_step) step is due.
    ///
    /// Use it in a loop that draws nothing and sleeps until then, such as a server's. It applies only to
    /// [`Stepping::Fixed`](crate::Stepping::Fixed). A frame never counts for more than
    /// [`max_frame_time`](crate::time::ClockSettings::max_frame_time).
    #[must_use]
    pub fn until_next_step(&self) -> Option<Duration> {
        let settings = &self.settings;
        if settings.is_paused() && self.requests.single_steps > 0 {
            return Some(Duration::ZERO);
        }
        if settings.stands_still() {
            return None;
        }
        if self.held > 0 {
            return Some(Duration::ZERO);
        }
        let overstep = self.next_overstep(self.requests.overstep);
        let missing = units_per_step(settings.rate()).saturating_sub(overstep);
        // A frame of no time has no step, even if a faster rate turns the waiting time into one.
        let nanos = missing.div_ceil(settings.units_per_nano()).max(1);
        Some(duration_from_nanos(nanos))
    }

    pub(super) fn duration(&self, units: u128) -> Duration {
        duration_from_nanos(units / units_per_nano(self.used.rate, Speed::ONE))
    }

    /// Returns everything that was dropped since the clock was created.
    #[must_use]
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Rate;
    use crate::time::clock::tests::{MS, clock, due, rate};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn a_step_is_due_after_until_next_step_and_no_nanosecond_earlier(
            rate in rate(),
            speed in 0.001..1_000.0,
            frames in prop::collection::vec(0..250_000_000u64, 0..20),
            new_rate in prop::option::of(rate()),
            overstep in prop::option::of(0..2_000_000_000u64),
        ) {
            let mut clock = Clock::new(rate);
            clock.settings_mut().set_max_frame_time(Duration::MAX);
            clock.settings_mut().set_speed(speed).unwrap();
            for nanos in frames {
                clock.begin_frame(Duration::from_nanos(nanos));
            }
            clock.settings_mut().set_rate(new_rate.unwrap_or(rate));
            if let Some(overstep) = overstep {
                clock.set_overstep(Duration::from_nanos(overstep));
            }
            let until = clock.until_next_step().unwrap();
            // The time must fit into one frame.
            prop_assume!(until <= clock.settings().max_frame_time());
            let earlier = until.checked_sub(Duration::from_nanos(1));
            if let Some(earlier) = earlier.filter(|earlier| !earlier.is_zero()) {
                prop_assert_eq!(due(&mut clock.clone(), earlier), 0);
            }
            // At least one step is due. A new rate may turn the waiting time into several.
            prop_assert!(due(&mut clock, until) > 0);
        }
    }

    #[test]
    fn alpha_is_never_rounded_up_to_one() {
        let mut clock = clock(1);
        clock.settings_mut().set_max_frame_time(Duration::MAX);
        clock.begin_frame(Duration::from_nanos(999_999_999));
        assert!(clock.alpha() < 1.0);
        assert_eq!(clock.tick(), 0);
    }

    #[test]
    fn no_step_is_due_while_the_clock_is_stopped() {
        let mut clock = clock(100);
        clock.begin_frame(MS(3));
        clock.settings_mut().set_speed(0.0).unwrap();
        assert_eq!(clock.until_next_step(), None);
        clock.settings_mut().set_speed(2.0).unwrap();
        clock.pause();
        assert_eq!(clock.until_next_step(), None);
        clock.step_once();
        assert_eq!(clock.until_next_step(), Some(Duration::ZERO));
        clock.resume();
        assert_eq!(clock.until_next_step(), Some(Duration::from_micros(3_500)));
    }

    #[test]
    fn steps_that_a_faster_rate_makes_due_run_after_until_next_step() {
        let mut clock = clock(1);
        clock.begin_frame(MS(200));
        clock.settings_mut().set_rate(Rate::hz(60));
        let until = clock.until_next_step().unwrap();
        assert_eq!(due(&mut clock, until), 12);
    }
}
