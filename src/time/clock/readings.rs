//! The readings of a clock.

use std::time::Duration;

use crate::time::rate::duration_from_nanos;

use super::Clock;
use super::step::Dropped;
use super::units::Speed;
use super::units::{ExactTime, units_per_nano, units_per_step};

/// # Readings
impl Clock {
    /// Returns the tick of the last state. This is the number of steps run so far, unless
    /// [`set_tick`](Self::set_tick) has renumbered them.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Returns the tick of the next step: [`tick`](Self::tick), or the one that [`set_tick`](Self::set_tick) has
    /// requested for the next frame. Use it to number input that is sent ahead.
    #[must_use]
    pub fn next_tick(&self) -> u64 {
        self.requests.tick.unwrap_or(self.tick)
    }

    /// Returns real time: the sum of all frame times, including dropped and paused time.
    /// [Input](crate::input::InputQueue) is stamped with it.
    #[must_use]
    pub fn real_time(&self) -> Duration {
        self.real_time
    }

    /// Returns simulated time, rounded down to a nanosecond. It is the length of all steps so far and of the due steps,
    /// plus the [overstep](Self::overstep). Within a frame it is the time at the end of the frame, even if a
    /// [stop](crate::Physics::pause_after_step) postpones some of its steps. The time at
    /// which a step begins is [`Step::start_time`](crate::Step::start_time):
    ///
    /// ```
    /// # use evenstep::Rate;
    /// # use evenstep::time::Clock;
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60));
    /// clock.begin_frame(ms(40));
    /// let step = clock.next_step().unwrap();
    /// assert_eq!((step.start_time, clock.time()), (ms(0), ms(40)));
    /// ```
    #[must_use]
    pub fn time(&self) -> Duration {
        let later = self.units_due().saturating_add(self.held);
        let later = later.saturating_add(self.overstep);
        self.now.later(later, self.used.rate).duration()
    }

    /// Returns whether simulated time is stopped in the open frame, or else the last one, and nothing has started it
    /// since.
    pub(crate) fn is_stopped(&self) -> bool {
        let frame_stood_still = self.used.stands_still && !self.used.has_single_steps;
        frame_stood_still && self.settings.stands_still() && self.requests.single_steps == 0
    }

    /// Returns the time of the last state.
    pub(crate) fn exact_time(&self) -> ExactTime {
        self.now
    }

    /// Returns the [`time`](Self::time) at the end of a frame of `elapsed` that begins now. Use it for things that your
    /// game animates itself, before it advances the simulation.
    ///
    /// ```
    /// # use evenstep::Rate;
    /// # use evenstep::time::Clock;
    /// # use std::time::Duration;
    /// let mut clock = Clock::new(Rate::hz(60));
    /// clock.settings_mut().set_speed(0.5)?;
    /// let time = clock.time_after(Duration::from_millis(30));
    /// assert_eq!(time, Duration::from_millis(15));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn time_after(&self, elapsed: Duration) -> Duration {
        let mut clock = self.clone();
        clock.begin_frame(elapsed);
        clock.time()
    }

    /// Returns the time in the accumulator, which is less than a step. It is rounded down to a nanosecond of simulated
    /// time. The clock itself keeps it exact.
    #[must_use]
    pub fn overstep(&self) -> Duration {
        self.duration(self.overstep)
    }

    /// Returns how long the next frame must be for a step to be due, rounded up to a nanosecond, or `None` in a pause
    /// or at speed 0. It is zero only if a [single step](Self::step_once) is due, or steps that a
    /// [stop](crate::Physics::pause_after_step) has postponed.
    ///
    /// Use it in a loop that draws nothing and sleeps until then, such as a server's. It applies only to
    /// [`Stepping::Fixed`](crate::Stepping::Fixed), because the other strategies depend on the number of frames. A
    /// frame never counts for more than [`max_frame_time`](crate::time::ClockSettings::max_frame_time).
    ///
    /// ```
    /// # use evenstep::Rate;
    /// # use evenstep::time::Clock;
    /// # use std::time::Duration;
    /// let mut clock = Clock::new(Rate::hz(50));
    /// clock.begin_frame(Duration::from_millis(15));
    /// assert_eq!(clock.until_next_step(), Some(Duration::from_millis(5)));
    /// clock.settings_mut().set_speed(0.5)?;
    /// assert_eq!(clock.until_next_step(), Some(Duration::from_millis(10)));
    /// clock.pause();
    /// assert_eq!(clock.until_next_step(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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

    /// Returns an amount of simulated time, rounded down to a nanosecond.
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
