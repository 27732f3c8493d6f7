//! The moment that a frame displays. Only the game can set it back.

use std::time::Duration;

use crate::time::rate::duration_from_nanos;

use super::Clock;
use super::step::Dropped;
use super::units::{
    ExactTime, Speed, fraction, in_units_of, scaled, units_per_nano, units_per_step,
};

/// The largest `f32` below one, so that no alpha is rounded up to a whole step.
pub(super) const LARGEST_ALPHA: f32 = 1.0_f32.next_down();

/// # The displayed moment
impl Clock {
    /// Returns the displayed position between the last two states, from 0 to 1.
    ///
    /// With [`Stepping::Fixed`](crate::Stepping::Fixed) it is [`overstep`](Self::overstep) as a fraction of a step, and
    /// less than 1. Otherwise, it is 1, as it is until the next step after steps were [aborted](Self::abort_frame) or
    /// [postponed](crate::Physics::pause_after_step), and after a change of the rate or the stepping. Between two steps
    /// it falls only after [`set_overstep`](Self::set_overstep).
    #[doc(alias = "overstep_fraction")]
    #[must_use]
    pub fn alpha(&self) -> f32 {
        if self.displays_state() {
            return 1.0;
        }
        // A fraction just below 1 must not be rounded up to 1.
        fraction(self.overstep, units_per_step(self.used.rate)).min(LARGEST_ALPHA)
    }

    /// Returns the simulated time that a frame displays, at the fraction [`alpha`](Self::alpha) of the last step,
    /// rounded down to a nanosecond.
    #[must_use]
    pub fn displayed_time(&self) -> Duration {
        if self.displays_state() {
            return self.now.duration();
        }
        let step = units_per_step(self.used.rate);
        let until_next_step = step.saturating_sub(self.overstep);
        // The last step may have had another length, of which the same part is taken.
        let lag = scaled(self.now.last_step(), until_next_step, step);
        self.now.earlier(lag).duration()
    }

    /// Returns whether the frame displays the last state itself, not a moment before it.
    fn displays_state(&self) -> bool {
        self.displays_last_state || !self.used.leaves_a_fraction
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

    /// Returns [real time](Self#real-and-simulated-time), with which [input](crate::input::InputQueue) is stamped.
    #[must_use]
    pub fn real_time(&self) -> Duration {
        self.real_time
    }

    /// Returns simulated time, rounded down to a nanosecond: the length of all steps so far and of the due and
    /// postponed steps, plus the [overstep](Self::overstep). Within a frame it is the time at the end of the frame.
    #[must_use]
    pub fn time(&self) -> Duration {
        let after_state = self.units_due().saturating_add(self.postponed);
        let after_state = after_state.saturating_add(self.overstep);
        self.now.later(after_state, self.used.rate).duration()
    }

    /// Returns whether simulated time stopped in the last frame.
    pub(crate) fn stood_still(&self) -> bool {
        self.used.stands_still
    }

    pub(crate) fn exact_time(&self) -> ExactTime {
        self.now
    }

    /// Returns the [`time`](Self::time) at the end of a frame of `elapsed` that begins now.
    #[must_use]
    pub fn time_after(&self, elapsed: Duration) -> Duration {
        let mut clock = self.clone();
        clock.begin_frame(elapsed);
        clock.time()
    }

    /// Returns the simulated time in the accumulator, rounded down to a nanosecond. It is less than a step, unless the
    /// rate has become faster and no time has passed since.
    #[doc(alias = "accumulator")]
    #[must_use]
    pub fn overstep(&self) -> Duration {
        self.duration(self.overstep)
    }

    /// Returns how long the next frame must be for a step to be due, rounded up to a nanosecond, or `None` in a pause
    /// or at speed 0. It is zero only if a [single step](Self::step_once) or a
    /// [postponed](crate::Physics::pause_after_step) step is due.
    ///
    /// The [maximum frame time](crate::time::ClockSettings::set_max_frame_time) may cut such a frame. Use it in a loop
    /// that draws nothing and sleeps until then, with [`Stepping::Fixed`](crate::Stepping::Fixed).
    #[must_use]
    pub fn until_next_step(&self) -> Option<Duration> {
        let settings = &self.settings;
        if settings.is_paused() && self.requests.single_steps > 0 {
            return Some(Duration::ZERO);
        }
        if settings.stands_still() {
            return None;
        }
        let rate = settings.rate();
        let overstep = self.next_overstep(self.requests.overstep, rate);
        // A requested overstep drops postponed time.
        let postponed = match self.requests.overstep {
            Some(_) => 0,
            None => in_units_of(rate, self.postponed, self.used.rate),
        };
        let gathered = overstep.saturating_add(postponed);
        // Postponed steps run even in a frame of no time.
        if postponed > 0 && gathered >= units_per_step(rate) {
            return Some(Duration::ZERO);
        }
        let missing = units_per_step(rate).saturating_sub(gathered);
        // A frame of no time has no step, even if a faster rate turns the waiting time into one.
        let nanos = missing.div_ceil(settings.units_per_nano()).max(1);
        Some(duration_from_nanos(nanos))
    }

    /// Converts units of the last frame's rate, rounded down to a nanosecond.
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
