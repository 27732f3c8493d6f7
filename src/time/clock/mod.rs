//! The accumulator: elapsed time in, steps due out, one at a time.

// In which it counts.
mod units;
// What can be set.
mod settings;
// How a frame's time becomes steps.
mod step_settings;
// What it says.
mod readings;
// What it gives.
mod step;
// Written and read.
#[cfg(feature = "serde")]
mod written;

use std::time::Duration;

use super::rate::{NANOS_PER_SECOND, Rate, duration_from_nanos};

pub use settings::SpeedError;
pub use step::{Dropped, Step};
pub use step_settings::Budget;
pub(crate) use step_settings::StepSettings;
use units::{SPEED_UNITS, in_units_of, seconds, units_per_nano, units_per_step};
#[cfg(feature = "serde")]
pub(crate) use written::Settings;

/// The longest frame that the 128-bit accumulator is made for: 136 years.
const LONGEST_FRAME: Duration = Duration::from_secs(u32::MAX as u64);

/// Turns the elapsed time of frames into whole steps: the accumulator of
/// [Fix Your Timestep!](https://gafferongames.com/post/fix_your_timestep/), in integers.
///
/// A [`Simulation`](crate::Simulation) has one; use it alone to step something else. Time is passed as `Duration`s and
/// counted in exact units, so that the number of steps does not depend on how the time is split into frames, or on the
/// length of the session: after durations that sum to T, exactly floor(T · rate) steps were due.
///
/// ```
/// use evenstep::{Clock, Rate};
/// use std::time::Duration;
///
/// let mut clock = Clock::new(Rate::hz(60)?);
/// clock.begin_frame(Duration::from_millis(40));
/// assert_eq!(clock.due(), 2);
/// while let Some(step) = clock.next_step() {
///     println!("{} s from {:?} on", step.dt, step.time);
/// }
/// clock.begin_frame(Duration::from_millis(10));
/// assert_eq!(clock.due(), 1); // 50 ms are three steps, exactly
/// assert_eq!(clock.alpha(), 0.0);
///
/// // A host that counts in floats checks them on the way in; the clock sees good values only.
/// assert!(Duration::try_from_secs_f64(f64::NAN).is_err());
/// assert!(Duration::try_from_secs_f32(-0.016).is_err());
/// clock.begin_frame(Duration::try_from_secs_f32(0.016)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Real and simulated time
/// [`real_time`](Self::real_time) is the sum of all frame times; input is stamped with it.
/// [`time`](Self::time) is simulated time: it stands still in a pause, is slower in slow motion,
/// and excludes what was dropped.
///
/// # Settings
/// What is set while a frame's steps are being made takes effect in the next frame: rate, stepping,
/// speed, pause, clamps and tick are read in [`begin_frame`](Self::begin_frame) only.
///
/// # Long frames
/// A step that costs more than it lasts would make each frame longer than the one before: the
/// spiral of death. Two clamps prevent it, and both report what they dropped:
/// [`set_max_frame_time`](Self::set_max_frame_time) (0.25 s by default) clamps the frame time,
/// [`set_max_steps_per_frame`](Self::set_max_steps_per_frame) (off by default) drops whole
/// steps and keeps the fraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// What was set, for the next frame.
    rate: Rate,
    stepping: StepSettings,
    /// In [`SPEED_UNITS`].
    speed: u32,
    is_paused: bool,
    /// Steps asked for with `step_once`.
    single_steps: u32,
    new_tick: Option<u64>,
    new_overstep: Option<Duration>,

    /// The rate of the frame at hand, which the units of time are made of.
    unit_rate: Rate,
    /// Time that has gone in and makes no step in this frame, in units of 1 ns / (rate · speed units).
    overstep: u128,
    /// The length of all steps so far, in the same units.
    simulated: u128,
    tick: u64,
    /// All time handed in, cut or not.
    real_time: Duration,
    /// Where on `real_time` the step that is still to come begins.
    step_start: Duration,
    due: Due,
    dropped: Dropped,
}

/// The steps of this frame that are still to be made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Due {
    steps: u64,
    /// The length of the last of them, if it differs from that of the rate; 0 if not.
    last: u128,
    /// Whether a step of this frame was made.
    has_begun: bool,
    /// How much a nanosecond of real time put in: 0 where that is not known.
    units_per_nano: u128,
}

/// # Frames and steps
impl Clock {
    /// A clock at zero, at speed 1.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            stepping: StepSettings::default(),
            speed: SPEED_UNITS,
            is_paused: false,
            single_steps: 0,
            new_tick: None,
            new_overstep: None,
            unit_rate: rate,
            overstep: 0,
            simulated: 0,
            tick: 0,
            real_time: Duration::ZERO,
            step_start: Duration::ZERO,
            due: Due::default(),
            dropped: Dropped::default(),
        }
    }

    /// Adds the time that a frame took; [`next_step`](Self::next_step) then returns the steps that are due.
    /// Returns what was dropped.
    ///
    /// Zero is valid: a frame without a step. Steps of the frame before that were not taken are
    /// dropped, as by [`abort_frame`](Self::abort_frame):
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.begin_frame(ms(40));
    /// clock.next_step(); // one of two
    /// let dropped = clock.begin_frame(ms(10));
    /// assert_eq!((dropped.aborted, clock.due()), (1, 1));
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn begin_frame(&mut self, elapsed: Duration) -> Dropped {
        self.begin_frame_after(0, elapsed)
    }

    /// [`begin_frame`](Self::begin_frame) of which `made` steps count as made: the limits leave fewer, and one at
    /// least.
    pub(crate) fn begin_frame_after(&mut self, made: u64, elapsed: Duration) -> Dropped {
        let mut dropped = self.abort_frame();
        self.apply_settings();
        self.real_time = self.real_time.saturating_add(elapsed);
        let (gained, units_per_nano) = self.gain(elapsed, &mut dropped);
        // In a pause nothing is due, also if what waits would make a step by another rate or stepping.
        let mut whole = 0;
        self.due = Due::default();
        if gained > 0 {
            let length = units_per_step(self.rate);
            let plan = self.stepping.strategy.plan(self.overstep + gained, length);
            self.overstep = plan.left;
            let others = made + u64::from(plan.last > 0);
            whole = self.stepping.limit(plan.whole, others, &mut dropped);
            self.due.last = plan.last;
        }
        // Only a frame of decades at gigahertz rates holds more steps than a u64 counts.
        let due = whole
            .saturating_add(std::mem::take(&mut self.single_steps).into())
            .saturating_add(u64::from(self.due.last > 0));
        self.due.steps = due.min(u64::MAX - self.tick);
        self.due.units_per_nano = units_per_nano;
        // What was aborted was counted when it was.
        self.dropped += Dropped {
            aborted: 0,
            ..dropped
        };
        dropped
    }

    /// The next step that is due in this frame, which counts as made from now on; `None` if none is due.
    pub fn next_step(&mut self) -> Option<Step> {
        let step = self.peek()?;
        self.simulated = self.simulated.saturating_add(self.length());
        self.tick += 1;
        self.step_start = step.real_end;
        self.due.steps -= 1;
        self.due.has_begun = true;
        Some(step)
    }

    /// What [`next_step`](Self::next_step) will return.
    #[must_use]
    pub fn peek(&self) -> Option<Step> {
        if self.due.steps == 0 {
            return None;
        }
        let length = self.length();
        Some(Step {
            tick: self.tick,
            dt: seconds(length, self.unit_rate),
            time: self.duration(self.simulated),
            end_time: self.duration(self.simulated.saturating_add(length)),
            real_start: self.step_start,
            real_end: self.real_end().max(self.step_start),
            real_frame_end: self.real_time,
            is_first: !self.due.has_begun,
            is_last: self.due.steps == 1,
            is_resimulated: false,
        })
    }

    /// The number of steps that are still due in this frame.
    #[must_use]
    pub fn due(&self) -> u64 {
        self.due.steps
    }

    /// Drops the steps that are still due in this frame. Returns how many.
    pub fn abort_frame(&mut self) -> Dropped {
        let dropped = Dropped {
            aborted: std::mem::take(&mut self.due.steps),
            ..Dropped::default()
        };
        self.dropped += dropped;
        dropped
    }

    fn apply_settings(&mut self) {
        self.overstep = self.next_overstep();
        self.new_overstep = None;
        if self.unit_rate != self.rate {
            self.simulated = in_units_of(self.rate, self.simulated, self.unit_rate);
            self.unit_rate = self.rate;
        }
        if let Some(tick) = self.new_tick.take() {
            self.tick = tick;
        }
    }

    /// What the next frame finds in the accumulator, in the units of that frame.
    fn next_overstep(&self) -> u128 {
        if let Some(overstep) = self.new_overstep {
            let units =
                (overstep.as_nanos()).saturating_mul(units_per_nano(self.rate, SPEED_UNITS));
            units.min(units_per_step(self.rate) - 1)
        } else if self.unit_rate == self.rate {
            self.overstep
        } else {
            in_units_of(self.rate, self.overstep, self.unit_rate)
        }
    }

    /// What a frame puts into the accumulator, and how much of it each nanosecond does.
    fn gain(&self, elapsed: Duration, dropped: &mut Dropped) -> (u128, u128) {
        if self.is_paused {
            return (0, 0);
        }
        if let Some(count) = self.stepping.strategy.count(elapsed.as_nanos(), self.rate) {
            // At speed 1 so many whole steps, however long the frame took.
            let seconds = u128::from(self.rate.seconds());
            let gained = count * NANOS_PER_SECOND * seconds * u128::from(self.speed);
            return (gained, gained.div_ceil(elapsed.as_nanos().max(1)));
        }
        let taken = elapsed.min(self.stepping.max_frame_time);
        dropped.frame_time = elapsed.saturating_sub(taken);
        let units_per_nano = units_per_nano(self.rate, self.speed);
        (taken.as_nanos() * units_per_nano, units_per_nano)
    }

    /// The most steps that a frame may make.
    pub(crate) fn most_steps(&self) -> u64 {
        self.stepping.most_steps()
    }

    /// Goes to where `other` is in simulated time. Real time, the settings and the overstep stay.
    pub(crate) fn go_to(&mut self, other: &Self) {
        self.abort_frame();
        self.tick = other.tick;
        self.simulated = in_units_of(self.unit_rate, other.simulated, other.unit_rate);
    }

    /// Real time passes that is part of no frame, and counts as dropped.
    pub(crate) fn skip_real_time(&mut self, skipped: Duration) {
        self.real_time = self.real_time.saturating_add(skipped);
        self.dropped += Dropped {
            frame_time: skipped,
            ..Dropped::default()
        };
    }

    /// Goes on at another real time.
    pub(crate) fn set_real_time(&mut self, real_time: Duration) {
        (self.real_time, self.step_start) = (real_time, real_time);
    }

    /// The length of the next step.
    fn length(&self) -> u128 {
        if self.due.steps == 1 && self.due.last > 0 {
            self.due.last
        } else {
            units_per_step(self.unit_rate)
        }
    }

    /// The length of all steps that are due after the next one.
    fn units_after_next(&self) -> u128 {
        let Some(after) = self.due.steps.checked_sub(2) else {
            return 0;
        };
        let length = units_per_step(self.unit_rate);
        let last = if self.due.last > 0 {
            self.due.last
        } else {
            length
        };
        u128::from(after)
            .saturating_mul(length)
            .saturating_add(last)
    }

    /// Where the next step ends in real time, measured back from the end of the frame: what was cut is then
    /// the oldest time of the frame, and belongs to its first step.
    ///
    /// Rounded up: a whole nanosecond is before the true end exactly if it is before this one.
    fn real_end(&self) -> Duration {
        let after = self.overstep.saturating_add(self.units_after_next());
        let age = after.checked_div(self.due.units_per_nano).unwrap_or(0);
        self.real_time.saturating_sub(duration_from_nanos(age))
    }

    /// An amount of simulated time, rounded down to a nanosecond.
    fn duration(&self, units: u128) -> Duration {
        duration_from_nanos(units / units_per_nano(self.unit_rate, SPEED_UNITS))
    }
}

#[cfg(test)]
mod tests {
    use super::readings::LARGEST_ALPHA;
    use super::*;
    use crate::time::Stepping;
    use proptest::prelude::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn clock(hz: u32) -> Clock {
        Clock::new(Rate::hz(hz).unwrap())
    }

    /// The number of steps that are due in a frame, which are not taken.
    fn due(clock: &mut Clock, elapsed: Duration) -> u64 {
        clock.begin_frame(elapsed);
        clock.due()
    }

    /// The steps of a frame.
    fn steps(clock: &mut Clock, elapsed: Duration) -> Vec<Step> {
        clock.begin_frame(elapsed);
        std::iter::from_fn(|| clock.next_step()).collect()
    }

    fn rate() -> impl Strategy<Value = Rate> {
        prop_oneof![
            Just(Rate::fraction(60_000, 1_001).unwrap()),
            (1..2_000u32).prop_map(|hz| Rate::hz(hz).unwrap()),
            (1..u32::MAX, 1..u32::MAX).prop_map(|(n, d)| Rate::fraction(n, d).unwrap()),
            (1..4_000_000_000u64).prop_map(|ns| Rate::from_step(Duration::from_nanos(ns)).unwrap()),
        ]
    }

    /// floor(time · rate) and the rest, straight from the definition.
    fn steps_in(time: Duration, rate: Rate) -> (u128, u128) {
        let scaled = time.as_nanos() * u128::from(rate.steps());
        let step = NANOS_PER_SECOND * u128::from(rate.seconds());
        (scaled / step, scaled % step)
    }

    proptest! {
        #[test]
        fn any_split_of_the_same_time_gives_the_same_steps_and_remainder(
            rate in rate(),
            frames in prop::collection::vec(0..250_000_000u64, 1..200),
        ) {
            let mut split = Clock::new(rate);
            let mut whole = Clock::new(rate);
            whole.set_max_frame_time(Duration::MAX);
            let mut made = 0;
            for &nanos in &frames {
                let dropped = split.begin_frame(Duration::from_nanos(nanos));
                prop_assert_eq!(Dropped { aborted: 0, ..dropped }, Dropped::default());
                prop_assert!((0.0..1.0).contains(&split.alpha()));
                made += split.due();
            }
            prop_assert_eq!(made, due(&mut whole, Duration::from_nanos(frames.iter().sum())));
            prop_assert_eq!(split.overstep, whole.overstep);
            let (steps, rest) = steps_in(split.real_time(), rate);
            prop_assert_eq!(u128::from(made), steps);
            prop_assert_eq!(split.overstep, rest * u128::from(SPEED_UNITS));
        }

        #[test]
        fn the_next_step_is_due_then_and_no_nanosecond_earlier(
            rate in rate(),
            speed in 0.001..1_000.0,
            frames in prop::collection::vec(0..250_000_000u64, 0..20),
            new_rate in prop::option::of(rate()),
            overstep in prop::option::of(0..2_000_000_000u64),
        ) {
            let mut clock = Clock::new(rate);
            clock.set_max_frame_time(Duration::MAX);
            clock.set_speed(speed).unwrap();
            for nanos in frames {
                clock.begin_frame(Duration::from_nanos(nanos));
            }
            clock.set_rate(new_rate.unwrap_or(rate));
            if let Some(overstep) = overstep {
                clock.set_overstep(Duration::from_nanos(overstep));
            }
            let until = clock.until_next_step().unwrap();
            // As much as a frame can be.
            prop_assume!(until <= LONGEST_FRAME);
            let earlier = until.checked_sub(Duration::from_nanos(1));
            if let Some(earlier) = earlier.filter(|earlier| !earlier.is_zero()) {
                prop_assert_eq!(due(&mut clock.clone(), earlier), 0);
            }
            // Never none: a new rate may make several of the time that waits.
            prop_assert!(due(&mut clock, until) > 0);
        }

        #[test]
        fn the_steps_of_all_frames_cover_time_without_a_gap(
            rate in (10..1_000u32).prop_map(|hz| Rate::hz(hz).unwrap()),
            frames in prop::collection::vec((0..400_000_000u64, 0..5u32, any::<bool>()), 1..100),
        ) {
            let mut clock = Clock::new(rate);
            clock.set_max_steps_per_frame(Some(20));
            let mut covered = Duration::ZERO;
            let mut tick = 0;
            for (nanos, speed, pause) in frames {
                clock.set_speed(f64::from(speed) / 2.0).unwrap();
                if pause { clock.pause(); clock.step_once() } else { clock.resume() }
                clock.begin_frame(Duration::from_nanos(nanos));
                let (mut is_first, mut time) = (true, None);
                while let Some(step) = clock.peek() {
                    // Some frames are ended half way: that leaves no gap either.
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
                    prop_assert!(time.is_none_or(|end| end == step.time));
                    prop_assert!(step.time < step.end_time);
                    tick += 1;
                    covered = step.real_end;
                    (is_first, time) = (false, Some(step.end_time));
                }
                prop_assert_eq!(clock.tick(), tick);
            }
        }

        #[test]
        fn at_speed_1_a_step_covers_exactly_its_own_time(
            hz in 10..1_000u32,
            frames in prop::collection::vec(0..250_000_000u64, 1..100),
        ) {
            let rate = Rate::hz(hz).unwrap();
            let mut clock = Clock::new(rate);
            for nanos in frames {
                for step in steps(&mut clock, Duration::from_nanos(nanos)) {
                    // The first whole nanosecond that belongs to the step after it.
                    let end = (u128::from(step.tick) + 1) * NANOS_PER_SECOND;
                    prop_assert_eq!(step.real_end.as_nanos(), end.div_ceil(hz.into()));
                }
            }
        }

        #[test]
        fn speed_scales_time_exactly(
            frames in prop::collection::vec((0..250_000_000u64, 0..8u32, 1..8u32), 1..100),
        ) {
            let mut clock = clock(60);
            let (mut units, mut made) = (0u128, 0);
            for (nanos, n, d) in frames {
                clock.set_speed(f64::from(n) / f64::from(d)).unwrap();
                made += due(&mut clock, Duration::from_nanos(nanos));
                // d divides 840, so this is exact.
                units += u128::from(nanos) * u128::from(n * 840 / d) * 60;
            }
            let step = NANOS_PER_SECOND * 840;
            prop_assert_eq!(u128::from(made), units / step);
            let rest = units % step * u128::from(SPEED_UNITS) / 840;
            prop_assert_eq!(clock.overstep, rest);
        }
    }

    #[test]
    fn ten_years_do_not_drift() {
        let ten_years = Duration::from_secs(10 * 365 * 86_400);
        for rate in [Rate::hz(60), Rate::fraction(60_000, 1_001), Rate::hz(144)] {
            let rate = rate.unwrap();
            let mut clock = Clock::new(rate);
            clock.set_max_frame_time(Duration::MAX);
            // 1,000,003 is prime: frames of an odd length, and the last one makes up the rest.
            let frame = ten_years / 1_000_003;
            let mut made: u64 = (0..1_000_003).map(|_| due(&mut clock, frame)).sum();
            let rest = ten_years - clock.real_time();
            made += due(&mut clock, rest);
            let (steps, rest) = steps_in(ten_years, rate);
            assert_eq!(u128::from(made), steps);
            assert_eq!(clock.overstep, rest * u128::from(SPEED_UNITS));
            assert_eq!(clock.real_time(), ten_years);
        }
    }

    #[test]
    fn a_third_of_the_speed_does_not_drift() {
        let mut clock = clock(60);
        clock.set_speed(1.0 / 3.0).unwrap();
        let frame = Duration::from_nanos(16_666_667);
        let made: u64 = (0..3_000_000).map(|_| due(&mut clock, frame)).sum();
        let (steps, rest) = steps_in(frame * 1_000_000, clock.rate);
        assert_eq!(u128::from(made), steps);
        assert_eq!(clock.overstep, rest * u128::from(SPEED_UNITS));
    }

    #[test]
    fn long_frames_are_cut_and_what_was_cut_is_said() {
        let mut clock = clock(100);
        let dropped = clock.begin_frame(MS(1_255));
        assert_eq!((clock.due(), dropped.frame_time), (25, MS(1_005)));
        assert_eq!(clock.real_time(), MS(1_255));
        while clock.next_step().is_some() {}

        clock.set_max_steps_per_frame(Some(2));
        let dropped = clock.begin_frame(MS(57));
        assert_eq!((clock.due(), dropped.steps), (2, 3));
        assert_eq!(clock.overstep(), MS(7));
        let total = Dropped {
            frame_time: MS(1_005),
            steps: 3,
            ..Dropped::default()
        };
        assert_eq!(clock.dropped(), total);
    }

    #[test]
    fn what_is_cut_is_the_oldest_time_of_the_frame() {
        let mut clock = clock(100);
        let steps = steps(&mut clock, MS(1_005));
        assert_eq!(steps.len(), 25);
        assert_eq!((steps[0].real_start, steps[0].real_end), (MS(0), MS(765)));
        let last = steps[24];
        assert_eq!((last.real_start, last.real_end), (MS(995), MS(1_005)));
    }

    #[test]
    fn the_largest_values_neither_panic_nor_overflow() {
        for rate in [Rate::hz(u32::MAX), Rate::fraction(1, u32::MAX)] {
            let mut clock = Clock::new(rate.unwrap());
            clock.set_max_frame_time(Duration::MAX);
            clock.set_speed(1_000.0).unwrap();
            for _ in 0..3 {
                let dropped = clock.begin_frame(Duration::MAX);
                assert_eq!(dropped.frame_time, Duration::MAX - LONGEST_FRAME);
                assert!(clock.alpha() < 1.0);
                assert!(clock.next_step().is_some());
                clock.set_rate(Rate::hz(u32::MAX).unwrap());
                clock.set_tick(u64::MAX - 1);
            }
            // It counts no further, so it makes no further steps.
            assert_eq!((clock.tick(), clock.next_step()), (u64::MAX, None));
            assert!(clock.time() >= clock.overstep());
            assert_eq!(clock.real_time(), Duration::MAX);
        }
    }

    #[test]
    fn pause_keeps_alpha_and_single_steps_keep_it_too() {
        let mut clock = clock(100);
        steps(&mut clock, MS(13));
        let alpha = clock.alpha();
        clock.pause();
        clock.step_once();
        clock.step_once();
        assert_eq!(steps(&mut clock, MS(400)).len(), 2);
        assert_eq!(steps(&mut clock, MS(400)).len(), 0);
        assert_eq!(clock.alpha().to_bits(), alpha.to_bits());
        assert_eq!(clock.dropped(), Dropped::default());
        clock.step_once();
        clock.resume();
        assert_eq!(steps(&mut clock, MS(7)).len(), 1);
        assert_eq!(clock.tick(), 4);
        clock.step_once();
        assert_eq!(due(&mut clock, MS(9)), 0, "time runs: no single steps");
    }

    #[test]
    fn bad_speeds_change_nothing() {
        let mut clock = clock(60);
        clock.set_speed(0.5).unwrap();
        let before = clock.clone();
        assert!(matches!(
            clock.set_speed(f64::NAN),
            Err(SpeedError::NotFinite(_))
        ));
        assert_eq!(
            clock.set_speed(f64::INFINITY),
            Err(SpeedError::NotFinite(f64::INFINITY))
        );
        assert_eq!(clock.set_speed(-0.1), Err(SpeedError::Negative(-0.1)));
        assert_eq!(clock.set_speed(1e9), Err(SpeedError::TooLarge(1e9)));
        assert_eq!(clock, before);
        clock.set_speed(-0.0).unwrap();
        assert_eq!(due(&mut clock, MS(250)), 0);
    }

    #[test]
    fn alpha_is_never_rounded_up_to_one() {
        let mut clock = clock(1);
        clock.set_max_frame_time(Duration::MAX);
        clock.begin_frame(Duration::from_nanos(999_999_999));
        assert!(clock.alpha() < 1.0);
        assert_eq!(clock.tick(), 0);
    }

    #[test]
    fn a_frame_begun_twice_drops_what_was_due_and_says_so() {
        let mut clock = clock(100);
        clock.begin_frame(MS(35));
        assert_eq!(clock.next_step().unwrap().tick, 0);
        let dropped = clock.begin_frame(MS(10));
        assert_eq!((dropped.aborted, clock.due()), (2, 1));
        assert_eq!(clock.next_step().unwrap().tick, 1);
        assert_eq!((clock.next_step(), clock.dropped().aborted), (None, 2));
        // Their time is gone: two steps were simulated, and half a step waits.
        assert_eq!((clock.time(), clock.overstep()), (MS(25), MS(5)));
    }

    #[test]
    fn a_frame_without_elapsed_time_makes_no_step_whatever_is_set() {
        for stepping in [Stepping::SemiFixed, Stepping::Variable, Stepping::Fixed] {
            let mut clock = clock(100);
            steps(&mut clock, MS(19));
            clock.set_stepping(stepping);
            clock.set_rate(Rate::hz(1_000).unwrap());
            clock.pause();
            assert_eq!(due(&mut clock, MS(50)), 0, "{stepping:?}");
            clock.resume();
            clock.set_speed(0.0).unwrap();
            assert_eq!(due(&mut clock, MS(50)), 0, "{stepping:?}");
            clock.set_speed(1.0).unwrap();
            assert_eq!(due(&mut clock, Duration::ZERO), 0, "{stepping:?}");
            assert_eq!(clock.time(), MS(19), "{stepping:?}: no time is lost");
            let waited: f32 = steps(&mut clock, MS(1)).iter().map(|step| step.dt).sum();
            assert!((waited - 0.01).abs() < 1e-6, "{stepping:?}: {waited}");
        }
    }

    #[test]
    fn the_overstep_is_what_was_set_and_less_than_a_step() {
        let mut clock = clock(100);
        clock.pause();
        for (set, alpha) in [
            (MS(0), 0.0),
            (MS(4), 0.4),
            (MS(10), LARGEST_ALPHA),
            (Duration::MAX, LARGEST_ALPHA),
        ] {
            clock.set_overstep(set);
            assert_eq!(due(&mut clock, MS(7)), 0);
            assert_eq!(clock.alpha().to_bits(), f32::to_bits(alpha));
            assert_eq!(clock.tick(), 0);
        }
        // Once: later frames go on from there. Not even the largest is a step.
        assert_eq!(clock.overstep(), Duration::from_nanos(9_999_999));
        clock.resume();
        assert_eq!(due(&mut clock, Duration::ZERO), 0);
        assert_eq!(due(&mut clock, Duration::from_nanos(1)), 1);
        // Of the rate of that frame, in whichever order they are set.
        clock.set_overstep(MS(15));
        clock.set_rate(Rate::hz(50).unwrap());
        assert_eq!((due(&mut clock, MS(4)), clock.overstep()), (0, MS(19)));
        assert_eq!(clock.until_next_step(), Some(MS(1)));
    }

    #[test]
    fn no_step_is_to_come_while_time_stands_still() {
        let mut clock = clock(100);
        clock.begin_frame(MS(3));
        clock.set_speed(0.0).unwrap();
        assert_eq!(clock.until_next_step(), None);
        clock.set_speed(2.0).unwrap();
        clock.pause();
        assert_eq!(clock.until_next_step(), None);
        clock.step_once();
        assert_eq!(clock.until_next_step(), Some(Duration::ZERO));
        clock.resume();
        assert_eq!(clock.until_next_step(), Some(Duration::from_micros(3_500)));
    }

    #[test]
    fn a_step_that_a_faster_rate_makes_due_still_needs_a_frame_of_some_time() {
        let mut clock = clock(1);
        clock.begin_frame(MS(200));
        clock.set_rate(Rate::hz(60).unwrap());
        let until = clock.until_next_step().unwrap();
        assert_eq!(due(&mut clock, until), 12);
    }

    #[test]
    fn settings_hold_from_the_next_frame_on() {
        let mut clock = clock(100);
        clock.begin_frame(MS(37));
        let untouched = clock.clone();
        clock.set_rate(Rate::hz(50).unwrap());
        clock.set_stepping(Stepping::Variable);
        clock.set_speed(0.5).unwrap();
        clock.set_max_steps_per_frame(Some(0));
        clock.set_tick(1_000);
        clock.set_overstep(Duration::ZERO);
        clock.pause();
        assert_eq!(
            clock.max_steps_per_frame(),
            Some(1),
            "time never stands still"
        );
        let (mut clock, mut untouched) = (clock, untouched);
        assert_eq!(clock.alpha().to_bits(), untouched.alpha().to_bits());
        for _ in 0..4 {
            assert_eq!(clock.next_step(), untouched.next_step());
        }
        assert_eq!((clock.tick(), clock.time()), (3, untouched.time()));
        clock.resume();
        clock.begin_frame(MS(8));
        let step = clock.next_step().unwrap();
        assert_eq!(
            (step.tick, step.time, step.end_time),
            (1_000, MS(30), MS(34))
        );
    }

    #[test]
    fn steps_that_a_new_rate_makes_of_waiting_time_end_no_earlier_than_they_begin() {
        let mut clock = clock(100);
        steps(&mut clock, MS(19));
        // 9 ms wait. By how little each nanosecond now puts in, they would have taken 0.9 s.
        clock.set_rate(Rate::hz(1_000).unwrap());
        clock.set_speed(0.01).unwrap();
        let steps = steps(&mut clock, MS(1));
        assert_eq!((steps.len(), steps[0].real_start), (9, MS(10)));
        for step in steps {
            assert!(step.real_start <= step.real_end, "{step:?}");
        }
    }

    #[test]
    fn a_change_of_rate_keeps_the_waiting_time() {
        // 11 does not divide a step's units, so that there is something to round.
        let mut clock = clock(11);
        steps(&mut clock, MS(250));
        let (time, overstep) = (clock.time(), clock.overstep());
        for rate in [Rate::fraction(60_000, 1_001), Rate::hz(144), Rate::hz(7)] {
            let rate = rate.unwrap();
            let [old, new] = [clock.rate, rate].map(|rate| u128::from(rate.steps()));
            let exact = [clock.overstep, clock.simulated].map(|units| units * new / old);
            clock.set_rate(rate);
            clock.begin_frame(Duration::ZERO);
            assert_eq!([clock.overstep, clock.simulated], exact);
            let off = time.abs_diff(clock.time());
            assert!(off <= Duration::from_nanos(1), "{off:?}");
            let off = overstep.abs_diff(clock.overstep());
            assert!(off <= Duration::from_nanos(1), "{off:?}");
        }
    }
}
