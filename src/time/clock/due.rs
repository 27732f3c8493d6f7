//! The steps that are due in a frame, and their order.

use std::num::NonZeroU128;
use std::time::Duration;

use crate::time::frame_timer::{Driver, FrameTime};
use crate::time::rate::{Rate, duration_from_nanos};

use super::settings::ClockSettings;
use super::settings::Requests;
use super::step::{Dropped, Step};
use super::units::Speed;
use super::units::{ExactTime, in_units_of, seconds, units_per_nano, units_per_step};
use super::{Clock, Due, Used};

/// # Frames and steps
impl Clock {
    /// Adds the time that a frame took, which may be zero, and returns what was dropped. Steps of the previous frame
    /// that were not taken are [dropped](Self::abort_frame).
    pub fn begin_frame(&mut self, elapsed: impl Into<FrameTime>) -> Dropped {
        let aborted = self.abort_frame().aborted;
        let elapsed = elapsed.into();
        let settings = self.settings.of_driver(elapsed.driver());
        let requests = std::mem::take(&mut self.requests);
        self.use_settings(&settings, requests);
        self.real_time = self.real_time.saturating_add(elapsed.duration());
        let mut dropped = Dropped::default();
        self.planned = if settings.is_paused() {
            // In a pause only single steps are due, even if another rate or stepping would turn the overstep into one.
            let steps = match elapsed.driver() {
                Driver::Game => requests.single_steps,
                // A thread has a frame for each step.
                Driver::Step => requests.single_steps.min(1),
            };
            self.requests.single_steps = requests.single_steps - steps;
            self.plan_steps(steps.into(), None, None)
        } else {
            // Single steps are only for a pause, so the requested ones are dropped.
            self.plan_frame(&settings, elapsed, &mut dropped)
        };
        // Steps that a thread runs late report the present as `Step::real_frame_end`.
        if let Some(due) = &mut self.planned {
            due.late = elapsed.late();
        }
        // Aborted steps have already been counted.
        self.dropped += dropped;
        Dropped { aborted, ..dropped }
    }

    /// Returns the next step that is due in this frame and counts it as run, or returns `None` if no step is due.
    pub fn next_step(&mut self) -> Option<Step> {
        let (step, end) = self.peek_with_end()?;
        self.count_step(&step, end);
        Some(step)
    }

    /// Counts the next due step, if there is one, as run: its `end` is the last state now.
    pub(crate) fn count_step(&mut self, step: &Step, end: ExactTime) {
        let Some(due) = self.planned.filter(|due| due.end > self.tick) else {
            return;
        };
        self.next_real_start = step.real_end;
        self.now = end;
        self.tick += 1;
        // From now on, the overstep tells the displayed moment again, as a fraction of this step.
        self.displays_last_state = false;
        self.planned = (self.tick < due.end).then(|| Due {
            units: due.units.saturating_sub(end.last_step()),
            is_untouched: false,
            is_handed_out: false,
            ..due
        });
    }

    /// Returns the step that [`next_step`](Self::next_step) will return.
    #[must_use]
    pub fn peek(&self) -> Option<Step> {
        self.peek_with_end().map(|(step, _)| step)
    }

    /// Returns the next step with the exact time at its end.
    pub(crate) fn peek_with_end(&self) -> Option<(Step, ExactTime)> {
        let due = self.planned.filter(|due| due.end > self.tick)?;
        let end = self.now.after(self.next_length(due), self.used.rate);
        let step = Step {
            tick: self.tick,
            dt: seconds(end.last_step(), self.used.rate),
            start_time: self.now.duration(),
            end_time: end.duration(),
            real_start: self.next_real_start,
            real_end: self.real_end(due),
            real_frame_end: self.real_time.saturating_add(due.late),
            is_first: due.is_untouched,
            is_last: self.due() == 1,
            is_resimulated: false,
        };
        Some((step, end))
    }

    /// Returns the rate of the next step, or `None` if no step is due.
    pub(crate) fn due_rate(&self) -> Option<Rate> {
        (self.due() > 0).then_some(self.used.rate)
    }

    /// Notes whether the game has received the next step.
    pub(crate) fn set_handed_out(&mut self, is_handed_out: bool) {
        if let Some(due) = &mut self.planned {
            due.is_handed_out = is_handed_out;
        }
    }

    /// Drops the step that the game has received, if there is one, because the game has assigned another state since.
    /// The last state is displayed until the next step.
    pub(crate) fn abort_handed_out(&mut self) -> Dropped {
        let Some(due) = self.planned.filter(|due| due.is_handed_out) else {
            return Dropped::default();
        };
        // A dropped step uses no tick, so the steps after it end one tick earlier.
        let end = due.end - 1;
        let units = due.units.saturating_sub(self.next_length(due));
        self.planned = (end > self.tick).then_some(Due {
            end,
            units,
            is_handed_out: false,
            ..due
        });
        self.displays_last_state = true;
        self.count_aborted(1)
    }

    /// Returns the number of steps that are still due in this frame.
    #[must_use]
    pub fn due(&self) -> u64 {
        self.planned
            .map_or(0, |due| due.end.saturating_sub(self.tick))
    }

    /// Drops the due steps of this frame, and returns their number as [`Dropped::aborted`]. If there were any, the last
    /// state is displayed until the next step.
    pub fn abort_frame(&mut self) -> Dropped {
        let aborted = self.due();
        self.planned = None;
        self.displays_last_state |= aborted > 0;
        self.count_aborted(aborted)
    }

    /// Adds to the total of aborted steps, and returns them as dropped by this frame.
    fn count_aborted(&mut self, aborted: u64) -> Dropped {
        self.dropped.aborted = self.dropped.aborted.saturating_add(aborted);
        Dropped {
            aborted,
            ..Dropped::default()
        }
    }

    /// Pauses at the last state. The time of due steps is postponed until time passes. Due single steps are dropped.
    pub(crate) fn pause_and_postpone(&mut self) -> Dropped {
        self.pause();
        // Single steps do not come from elapsed time.
        if !self.used.has_single_steps
            && let Some(due) = self.planned.take()
        {
            self.postponed = self.postponed.saturating_add(due.units);
        }
        let dropped = self.abort_frame();
        self.displays_last_state = true;
        dropped
    }

    /// Begins to use the settings and requests of a new frame, and converts the time in the accumulator to the units of
    /// its rate. While time is stopped, rate and stepping stay as they were, so that the picture of a pause stays, too.
    fn use_settings(&mut self, settings: &ClockSettings, requests: Requests) {
        let before = self.used;
        let stands_still = settings.stands_still();
        let has_single_steps = settings.is_paused() && requests.single_steps > 0;
        let (rate, leaves_a_fraction) = if stands_still && !has_single_steps {
            (before.rate, before.leaves_a_fraction)
        } else {
            (settings.rate(), settings.leaves_a_fraction())
        };
        self.overstep = self.next_overstep(requests.overstep, rate);
        // A requested overstep drops postponed time.
        self.postponed = match requests.overstep {
            Some(_) => 0,
            None => in_units_of(rate, self.postponed, before.rate),
        };
        self.tick = requests.tick.unwrap_or(self.tick);
        self.used = Used {
            rate,
            stands_still,
            has_single_steps,
            leaves_a_fraction,
        };
        // The overstep may be a smaller part of the new step than of the old one, so the picture would go back.
        self.displays_last_state |=
            (rate, leaves_a_fraction) != (before.rate, before.leaves_a_fraction);
        // A requested overstep chooses the displayed moment.
        self.displays_last_state &= requests.overstep.is_none();
    }

    /// Returns the overstep with which the next frame begins, in units of `rate`: the `requested` one, limited to less
    /// than a step, or the present one.
    pub(super) fn next_overstep(&self, requested: Option<Duration>, rate: Rate) -> u128 {
        let Some(overstep) = requested else {
            return in_units_of(rate, self.overstep, self.used.rate);
        };
        // An overstep is simulated time, to which the speed does not apply.
        let units = (overstep.as_nanos()).saturating_mul(units_per_nano(rate, Speed::ONE));
        units.min(units_per_step(rate) - 1)
    }

    /// Plans the steps of a frame of real time `elapsed`: adds its time to the overstep, and divides the sum into whole
    /// steps and perhaps a last one of another length. Time and steps over the limits go to `dropped`. Postponed time
    /// is added without limits. A thread has a frame for each step, so later ones are postponed.
    fn plan_frame(
        &mut self,
        settings: &ClockSettings,
        elapsed: FrameTime,
        dropped: &mut Dropped,
    ) -> Option<Due> {
        if settings.stands_still() {
            return None;
        }
        let (covered, gained) = settings.gain(elapsed.duration(), dropped);
        let postponed = std::mem::take(&mut self.postponed);
        // Without time no step is due, even if a faster rate turns the overstep into a whole step.
        if gained == 0 && postponed == 0 {
            return None;
        }
        let gathered = self.overstep.saturating_add(gained);
        let step = units_per_step(self.used.rate);
        let divide = |time| settings.stepping().divide(time, step);
        // The limits have applied to the postponed time before, so they need the number of steps without it.
        let (whole_unpostponed, ..) = divide(gathered);
        let (whole, last, overstep) = divide(gathered.saturating_add(postponed));
        self.overstep = overstep;
        let whole_from_postponed = whole - whole_unpostponed;
        let allowed = settings.limit(whole_unpostponed, last.is_some(), dropped);
        let mut whole = allowed.saturating_add(whole_from_postponed);
        if elapsed.driver() == Driver::Step && whole > 1 {
            self.postponed = step.saturating_mul((whole - 1).into());
            whole = 1;
        }
        // What each nanosecond of the frame adds. If it were rounded down, a step could end before the frame begins.
        let units_per_nano = NonZeroU128::new(gained.div_ceil(covered.as_nanos().max(1)));
        self.plan_steps(whole, last, units_per_nano)
    }

    /// Returns the plan of `whole` steps and perhaps a `last` one of another length, or `None` if there are none.
    /// `units_per_nano` is what each nanosecond of the frame adds, or `None` if it has no time.
    fn plan_steps(
        &self,
        whole: u64,
        last: Option<u128>,
        units_per_nano: Option<NonZeroU128>,
    ) -> Option<Due> {
        // Only a frame of decades at gigahertz rates has more steps than a `u64` can count.
        let steps = whole.saturating_add(last.is_some().into());
        let steps = steps.min(u64::MAX - self.tick);
        // Without steps this returns `None`.
        let before_last = u128::from(steps.checked_sub(1)?);
        let step = units_per_step(self.used.rate);
        Some(Due {
            end: self.tick + steps,
            units: before_last * step + last.unwrap_or(step),
            is_untouched: true,
            is_handed_out: false,
            units_per_nano,
            late: Duration::ZERO,
        })
    }

    /// Returns the length of the next step, in units. With a stepping other than `Fixed`, the last step of the frame
    /// takes the rest of its time, so its length may differ from that of the rate.
    fn next_length(&self, due: Due) -> u128 {
        if self.due() == 1 {
            due.units
        } else {
            units_per_step(self.used.rate)
        }
    }

    pub(super) fn units_due(&self) -> u128 {
        self.planned.map_or(0, |due| due.units)
    }

    /// Returns the real time at which the next step ends, counted back from the end of the frame, so dropped time
    /// belongs to the first step. The result is rounded up, so a whole nanosecond is before the exact end if and only
    /// if it is before the result.
    fn real_end(&self, due: Due) -> Duration {
        let later_steps = due.units.saturating_sub(self.next_length(due));
        let until_frame_end = self.overstep.saturating_add(later_steps);
        // Single steps take no real time, so they end with the frame.
        let nanos = due
            .units_per_nano
            .map_or(0, |units| until_frame_end / units);
        let end = self.real_time.saturating_sub(duration_from_nanos(nanos));
        // Real time never goes back.
        end.max(self.next_real_start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::clock::tests::{MS, clock, due, rate, steps, steps_in};
    use crate::time::clock::units::SPEED_UNITS;
    use crate::time::rate::NANOS_PER_SECOND;
    use crate::time::stepping::Stepping;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn any_split_of_the_same_time_gives_the_same_steps_and_remainder(
            rate in rate(),
            frames in prop::collection::vec(0..250_000_000u64, 1..200),
        ) {
            let mut split = Clock::new(rate);
            let mut whole = Clock::new(rate);
            whole.settings_mut().set_max_frame_time(Duration::MAX);
            let mut made = 0u64;
            for &nanos in &frames {
                let dropped = split.begin_frame(Duration::from_nanos(nanos));
                prop_assert_eq!(Dropped { aborted: 0, ..dropped }, Dropped::default());
                while split.next_step().is_some() {
                    made += 1;
                }
                prop_assert!((0.0..1.0).contains(&split.alpha()));
            }
            prop_assert_eq!(made, due(&mut whole, Duration::from_nanos(frames.iter().sum())));
            prop_assert_eq!(split.overstep, whole.overstep);
            let (steps, rest) = steps_in(split.real_time(), rate);
            prop_assert_eq!(u128::from(made), steps);
            prop_assert_eq!(split.overstep, rest * u128::from(SPEED_UNITS));
        }

        #[test]
        fn the_steps_of_all_frames_cover_real_time_without_a_gap(
            rate in (10..1_000u32).prop_map(Rate::hz),
            frames in prop::collection::vec((0..400_000_000u64, 0..5u32, any::<bool>()), 1..100),
        ) {
            let mut clock = Clock::new(rate);
            clock.settings_mut().set_max_steps_per_frame(Some(20));
            let mut covered = Duration::ZERO;
            let mut tick = 0;
            for (nanos, speed, pause) in frames {
                clock.settings_mut().set_speed(f64::from(speed) / 2.0).unwrap();
                if pause { clock.pause(); clock.step_once() } else { clock.resume() }
                clock.begin_frame(Duration::from_nanos(nanos));
                let (mut is_first, mut time) = (true, None);
                while let Some(step) = clock.peek() {
                    // Some frames end halfway, which leaves no gap either.
                    if nanos % 5 == 0 && clock.due() == 2 {
                        prop_assert_eq!(clock.abort_frame().aborted, 2);
                        break;
                    }
                    prop_assert_eq!(clock.next_step(), Some(step));
                    prop_assert_eq!(step.tick, tick);
                    prop_assert_eq!(step.real_start, covered);
                    prop_assert!(step.real_start <= step.real_end);
                    prop_assert!(step.real_end <= clock.real_time());
                    prop_assert_eq!((step.is_first, step.is_last), (is_first, clock.due() == 0));
                    prop_assert!(time.is_none_or(|end| end == step.start_time));
                    prop_assert!(step.start_time < step.end_time);
                    tick += 1;
                    covered = step.real_end;
                    (is_first, time) = (false, Some(step.end_time));
                }
                prop_assert_eq!(clock.tick(), tick);
            }
        }

        #[test]
        fn at_speed_1_each_step_ends_at_its_exact_real_time(
            hz in 10..1_000u32,
            frames in prop::collection::vec(0..250_000_000u64, 1..100),
        ) {
            let rate = Rate::hz(hz);
            let mut clock = Clock::new(rate);
            for nanos in frames {
                for step in steps(&mut clock, Duration::from_nanos(nanos)) {
                    // `end` is the first whole nanosecond that belongs to the following step.
                    let end = (u128::from(step.tick) + 1) * NANOS_PER_SECOND;
                    prop_assert_eq!(step.real_end.as_nanos(), end.div_ceil(hz.into()));
                }
            }
        }
    }

    #[test]
    fn ten_years_of_frames_do_not_drift() {
        let ten_years = Duration::from_secs(10 * 365 * 86_400);
        for rate in [Rate::hz(60), Rate::fraction(60_000, 1_001), Rate::hz(144)] {
            let mut clock = Clock::new(rate);
            clock.settings_mut().set_max_frame_time(Duration::MAX);
            // 100,003 is prime, so frames have an odd length, and another frame covers the rest.
            let frame = ten_years / 100_003;
            let mut made: u64 = (0..100_003).map(|_| due(&mut clock, frame)).sum();
            let rest = ten_years - clock.real_time();
            made += due(&mut clock, rest);
            let (steps, rest) = steps_in(ten_years, rate);
            assert_eq!(u128::from(made), steps);
            assert_eq!(clock.overstep, rest * u128::from(SPEED_UNITS));
            assert_eq!(clock.real_time(), ten_years);
        }
    }

    #[test]
    fn a_frame_over_the_limit_drops_its_oldest_time() {
        let mut clock = clock(100);
        let steps = steps(&mut clock, MS(1_005));
        assert_eq!(steps.len(), 25);
        assert_eq!((steps[0].real_start, steps[0].real_end), (MS(0), MS(765)));
        let last = steps[24];
        assert_eq!((last.real_start, last.real_end), (MS(995), MS(1_005)));
    }

    #[test]
    fn beginning_the_next_frame_early_drops_and_reports_due_steps() {
        let mut clock = clock(100);
        clock.begin_frame(MS(35));
        assert_eq!(clock.next_step().unwrap().tick, 0);
        let dropped = clock.begin_frame(MS(10));
        assert_eq!((dropped.aborted, clock.due()), (2, 1));
        assert_eq!(clock.next_step().unwrap().tick, 1);
        assert_eq!((clock.next_step(), clock.dropped().aborted), (None, 2));
        // The time of the dropped steps is lost: two steps were simulated, and half a step waits.
        assert_eq!((clock.time(), clock.overstep()), (MS(25), MS(5)));
    }

    #[test]
    fn no_step_is_due_in_a_frame_without_simulated_time() {
        for stepping in [Stepping::SemiFixed, Stepping::Variable, Stepping::Fixed] {
            let mut clock = clock(100);
            steps(&mut clock, MS(19));
            clock.settings_mut().set_stepping(stepping);
            clock.settings_mut().set_rate(Rate::hz(1_000));
            clock.pause();
            assert_eq!(due(&mut clock, MS(50)), 0, "{stepping:?}");
            clock.resume();
            clock.settings_mut().set_speed(0.0).unwrap();
            assert_eq!(due(&mut clock, MS(50)), 0, "{stepping:?}");
            clock.settings_mut().set_speed(1.0).unwrap();
            assert_eq!(due(&mut clock, Duration::ZERO), 0, "{stepping:?}");
            assert_eq!(clock.time(), MS(19), "{stepping:?}: time is not lost");
            let waited: f32 = steps(&mut clock, MS(1)).iter().map(|step| step.dt).sum();
            assert!((waited - 0.01).abs() < 1e-6, "{stepping:?}: {waited}");
        }
    }

    #[test]
    fn steps_that_a_new_rate_makes_due_never_end_before_they_start() {
        let mut clock = clock(100);
        steps(&mut clock, MS(19));
        // 9 ms are waiting. At the small amount that each nanosecond now adds, they would have taken 0.9 s.
        clock.settings_mut().set_rate(Rate::hz(1_000));
        clock.settings_mut().set_speed(0.01).unwrap();
        let steps = steps(&mut clock, MS(1));
        assert_eq!((steps.len(), steps[0].real_start), (9, MS(10)));
        for step in steps {
            assert!(step.real_start <= step.real_end, "{step:?}");
        }
    }
}
