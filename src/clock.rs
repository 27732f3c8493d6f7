//! Elapsed time in, steps due and alpha out.

use std::ops::Range;
use std::time::Duration;

use crate::rate::{NANOS_PER_SECOND, Rate, duration_from_nanos};
use crate::stepping::Stepping;

/// Speeds are whole multiples of 1 / `SPEED_UNITS`, so that scaled time stays an integer.
///
/// 2⁵·3²·5⁴·7: every speed of at most four decimals is exact, and so are 1/3, 1/7, 1/60 and 1/144.
/// A larger number would make finer speeds, but a frame of a century at the largest rate and
/// speed has to fit into 128 bits: 2⁶² ns · 2³² · 2³¹.
const SPEED_UNITS: u32 = 1_260_000;

/// The largest speed: see [`SPEED_UNITS`] for what bounds it.
const MAX_SPEED: f64 = 1_000.0;

/// The longest frame that the 128-bit accumulator is made for: 136 years.
const LONGEST_FRAME: Duration = Duration::from_secs(u32::MAX as u64);

/// The largest f32 below one: an alpha is never rounded up to a whole step.
const LARGEST_ALPHA: f32 = 1.0 - f32::EPSILON / 2.0;

/// Turns the elapsed time of frames into whole steps: the accumulator of
/// [Fix Your Timestep!](https://gafferongames.com/post/fix_your_timestep/), in integers.
///
/// A [`Simulation`](crate::Simulation) has one; use it alone to step something else. Time goes
/// in as `Duration`s and is counted in exact units, so that no split of the same time and no
/// length of a session changes the number of steps: after durations that sum to T, exactly
/// floor(T · rate) steps were due.
///
/// ```
/// use evenstep::{Clock, Rate};
/// use std::time::Duration;
///
/// let mut clock = Clock::new(Rate::hz(60)?);
/// assert_eq!(clock.advance(Duration::from_millis(40)).len(), 2);
/// assert_eq!(clock.advance(Duration::from_millis(10)).len(), 1); // 50 ms are three steps, exactly
/// assert_eq!(clock.alpha(), 0.0);
///
/// // A host that counts in floats checks them on the way in; the clock sees good values only.
/// assert!(Duration::try_from_secs_f64(f64::NAN).is_err());
/// assert!(Duration::try_from_secs_f32(-0.016).is_err());
/// clock.advance(Duration::try_from_secs_f32(0.016)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Long frames
/// A step that costs more than it lasts would make each frame longer than the one before: the
/// spiral of death. Two clamps end it, and both say what they cut:
/// [`set_max_frame_time`](Self::set_max_frame_time) (0.25 s by default) cuts the time that goes
/// in, [`set_max_steps_per_frame`](Self::set_max_steps_per_frame) (off by default) cuts whole
/// steps and keeps the fraction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    rate: Rate,
    stepping: Stepping,
    /// Time that has gone in and made no step yet, in units of 1 ns / (rate · speed units).
    accumulator: u128,
    tick: u64,
    /// The length of all steps so far, in the same units.
    simulated: u128,
    /// All time handed to `advance`, cut or not: the time that input is stamped with.
    now: Duration,
    /// Where on `now` the step that is still to come begins.
    step_started: Duration,
    /// In [`SPEED_UNITS`].
    speed: u32,
    paused: bool,
    /// Steps asked for with `step_once` and not yet made.
    single_steps: u32,
    max_frame_time: Duration,
    max_steps_per_frame: Option<u32>,
    budget: Option<Budget>,
    dropped: Dropped,
}

/// What was cut in a frame, or in all of them, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Elapsed time over [`Clock::set_max_frame_time`], before it is scaled by the speed.
    pub frame_time: Duration,
    /// Steps over [`Clock::set_max_steps_per_frame`].
    pub steps: u64,
    /// Steps over [`Clock::set_budget`].
    pub over_budget: u64,
    /// Steps that were due when a hook of [`Simulation::advance`](crate::Simulation::advance)
    /// failed or panicked.
    pub aborted: u64,
}

/// Why a speed cannot be.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SpeedError {
    /// NaN or infinite.
    #[error("the speed {0} is not finite")]
    NotFinite(f64),
    /// Below zero: time does not run backwards.
    #[error("the speed {0} is negative")]
    Negative(f64),
    /// Above 1000.
    #[error("the speed {0} is above 1000")]
    TooLarge(f64),
}

impl Clock {
    /// A clock at zero, at speed 1.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            stepping: Stepping::default(),
            accumulator: 0,
            tick: 0,
            simulated: 0,
            now: Duration::ZERO,
            step_started: Duration::ZERO,
            speed: SPEED_UNITS,
            paused: false,
            single_steps: 0,
            max_frame_time: Duration::from_millis(250),
            max_steps_per_frame: None,
            budget: None,
            dropped: Dropped::default(),
        }
    }

    /// Takes the time that a frame took and gives the steps that are due.
    ///
    /// The steps are counted as made. Zero is a good value: a frame without a step.
    pub fn advance(&mut self, elapsed: Duration) -> Steps {
        let mut dropped = Dropped::default();
        self.now = self.now.saturating_add(elapsed);
        let (gained, units_per_nano) = self.gain(elapsed, &mut dropped);
        let step = units_per_step(self.rate);
        let mut plan = self.stepping.plan(self.accumulator + gained, step);
        self.accumulator = plan.left;
        plan.whole = self.limit(plan.whole, plan.last > 0, &mut dropped);
        plan.whole += u64::from(std::mem::take(&mut self.single_steps));
        self.dropped += dropped;

        // Only a frame of decades at gigahertz rates holds more steps than a u64 counts.
        let due = plan.whole.saturating_add(u64::from(plan.last > 0));
        let due = due.min(u64::MAX - self.tick);
        let steps = Steps {
            ticks: self.tick..self.tick + due,
            rate: self.rate,
            last: plan.last,
            simulated: self.simulated,
            starts: self.step_started,
            now: self.now,
            remainder: self.accumulator,
            units_per_nano,
            dropped,
        };
        self.tick += due;
        self.simulated = self.simulated.saturating_add(steps.units_left());
        if due > 0 {
            self.step_started = steps.end_of(self.tick - 1);
        }
        steps
    }

    /// What a frame puts into the accumulator, and how much of it each nanosecond does.
    fn gain(&self, elapsed: Duration, dropped: &mut Dropped) -> (u128, u128) {
        if self.paused {
            return (0, 0);
        }
        if let Some(count) = self.stepping.count(elapsed.as_nanos(), self.rate) {
            // At speed 1 so many whole steps, however long the frame took.
            let seconds = u128::from(self.rate.seconds());
            let gained = count * NANOS_PER_SECOND * seconds * u128::from(self.speed);
            return (gained, gained.div_ceil(elapsed.as_nanos().max(1)));
        }
        let taken = elapsed.min(self.max_frame_time);
        dropped.frame_time = elapsed.saturating_sub(taken);
        let units_per_nano = u128::from(self.rate.steps()) * u128::from(self.speed);
        (taken.as_nanos() * units_per_nano, units_per_nano)
    }

    /// How many of `whole` steps may be made, beside a shorter one.
    fn limit(&self, whole: u64, and_a_last: bool, dropped: &mut Dropped) -> u64 {
        let at_most = |most: u64| whole.min(most.saturating_sub(and_a_last.into()));
        let by_count = self
            .max_steps_per_frame
            .map_or(whole, |most| at_most(most.into()));
        let by_budget = self.budget.map_or(whole, |budget| at_most(budget.steps()));
        dropped.steps = whole - by_count;
        dropped.over_budget = by_count.saturating_sub(by_budget);
        by_count.min(by_budget)
    }

    /// Takes back the last steps, which are not made after all.
    pub(crate) fn abort(&mut self, steps: &Steps) -> Steps {
        self.tick -= steps.len();
        self.simulated = self.simulated.saturating_sub(steps.units_left());
        self.dropped.aborted += steps.len();
        Steps {
            ticks: self.tick..self.tick,
            ..steps.clone()
        }
    }

    /// The steps per second.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// The number of steps that were due so far; the tick of the next one.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// How elapsed time becomes steps: [`Stepping::Fixed`] at first.
    #[must_use]
    pub fn stepping(&self) -> Stepping {
        self.stepping
    }

    /// Changes how elapsed time becomes steps, from the next frame on. Time that waits in the
    /// accumulator is not lost.
    pub fn set_stepping(&mut self, stepping: Stepping) {
        self.stepping = stepping;
    }

    /// All elapsed time that was handed in, cut or not, paused or not: the time that
    /// [input](crate::InputQueue) is stamped with.
    #[must_use]
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Simulated time, rounded down to a nanosecond: that of all steps so far and of what waits for the
    /// next one. It stands still in a pause, goes slower in slow motion, and does not know of what
    /// was cut. In a hook it is that of the end of the frame; a step's own is [`Step::time`].
    #[must_use]
    pub fn time(&self) -> Duration {
        self.duration(self.simulated.saturating_add(self.accumulator))
    }

    /// What [`time`](Self::time) will be after [`advance`](Self::advance) by `elapsed`: the moment
    /// for which a game animates what it leads itself, before it advances.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.set_speed(0.5)?;
    /// let time = clock.time_after(Duration::from_millis(30));
    /// assert_eq!(time, Duration::from_millis(15));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn time_after(&self, elapsed: Duration) -> Duration {
        let mut clock = self.clone();
        clock.advance(elapsed);
        clock.time()
    }

    /// How far the time is into the next step, as a fraction of it, in [0, 1): where between the
    /// last two states a frame is shown.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to f32 is the point"
    )]
    #[expect(clippy::cast_precision_loss, reason = "rounding to f64 is the point")]
    pub fn alpha(&self) -> f32 {
        let fraction = self.accumulator as f64 / units_per_step(self.rate) as f64;
        (fraction as f32).min(LARGEST_ALPHA)
    }

    /// Time that has gone in and made no step yet, rounded down to a nanosecond of simulated
    /// time. The clock itself keeps it exact.
    #[must_use]
    pub fn remainder(&self) -> Duration {
        self.duration(self.accumulator)
    }

    /// An amount of simulated time, rounded down to a nanosecond.
    fn duration(&self, units: u128) -> Duration {
        let units_per_nano = u128::from(self.rate.steps()) * u128::from(SPEED_UNITS);
        duration_from_nanos(units / units_per_nano)
    }

    /// All that was cut since the clock was made.
    #[must_use]
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// Stops time: nothing goes in until [`resume`](Self::resume). Alpha stays, so the picture
    /// stands still where it is.
    pub fn pause(&mut self) {
        self.paused = true;
    }

    /// Lets time go on. Single steps that were asked for and not made are forgotten.
    pub fn resume(&mut self) {
        self.paused = false;
        self.single_steps = 0;
    }

    /// Whether [`pause`](Self::pause) is in force.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// While paused, asks for one step in the next [`advance`](Self::advance); several calls add
    /// up. Does nothing while time runs.
    pub fn step_once(&mut self) {
        if self.paused {
            self.single_steps = self.single_steps.saturating_add(1);
        }
    }

    /// The speed of simulated time: 1 at first.
    #[must_use]
    pub fn speed(&self) -> f64 {
        f64::from(self.speed) / f64::from(SPEED_UNITS)
    }

    /// Scales the time that goes in, never the length of a step: 0 stops, 0.1 is slow motion, 4
    /// is fast. The steps stay the same ones, so a run in slow motion is the same run.
    ///
    /// Speeds are multiples of 1/1,260,000, to which `speed` is rounded: thirds, sevenths and up
    /// to four decimals are exact, and a clock at such a speed never drifts.
    ///
    /// # Errors
    /// A [`SpeedError`] for a speed that is negative, above 1000 or not finite; the clock then
    /// goes on as it was.
    pub fn set_speed(&mut self, speed: f64) -> Result<(), SpeedError> {
        if !speed.is_finite() {
            return Err(SpeedError::NotFinite(speed));
        }
        if speed < 0.0 {
            return Err(SpeedError::Negative(speed));
        }
        if speed > MAX_SPEED {
            return Err(SpeedError::TooLarge(speed));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most 1000 · SPEED_UNITS"
        )]
        #[expect(clippy::cast_sign_loss, reason = "checked above")]
        let units = (speed * f64::from(SPEED_UNITS)).round() as u32;
        self.speed = units;
        Ok(())
    }

    /// The most elapsed time that a frame may put in, before it is scaled by the speed: 0.25 s at
    /// first. What a frame took longer than that is dropped, and the game runs slower than the
    /// wall clock for that frame. Values above 136 years mean 136 years.
    pub fn set_max_frame_time(&mut self, max: Duration) {
        self.max_frame_time = max.min(LONGEST_FRAME);
    }

    /// The most steps that a frame may make: `None`, no limit, at first. Whole steps over it are
    /// dropped and the fraction is kept.
    pub fn set_max_steps_per_frame(&mut self, max: Option<u32>) {
        self.max_steps_per_frame = max;
    }

    /// The wall time that the steps of a frame may take: `None`, no limit, at first. Whole steps over
    /// it are dropped and the fraction is kept, so that the spiral of death ends softly: the game
    /// runs slower, and still smoothly.
    ///
    /// The clock reads no clock: measure what a step costs and say it here before each frame.
    pub fn set_budget(&mut self, budget: Option<Budget>) {
        self.budget = budget;
    }
}

/// The wall time that physics may take of a frame: for [`Clock::set_budget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// What all steps of a frame may take together.
    pub frame: Duration,
    /// What a step takes, as the host has measured it: an average over the last few is good.
    pub step: Duration,
}

impl Budget {
    /// How many steps fit. One always does: time must not stand still.
    fn steps(self) -> u64 {
        let fit = self.frame.as_nanos().checked_div(self.step.as_nanos());
        fit.map_or(u64::MAX, |fit| {
            u64::try_from(fit).unwrap_or(u64::MAX).max(1)
        })
    }
}

fn units_per_step(rate: Rate) -> u128 {
    NANOS_PER_SECOND * u128::from(rate.seconds()) * u128::from(SPEED_UNITS)
}

impl std::ops::AddAssign for Dropped {
    fn add_assign(&mut self, other: Self) {
        self.frame_time = self.frame_time.saturating_add(other.frame_time);
        self.steps += other.steps;
        self.over_budget += other.over_budget;
        self.aborted += other.aborted;
    }
}

/// One step: which one it is, and the time that it covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The number of steps before this one.
    pub tick: u64,
    /// Its length in seconds of simulated time: the same for every step, unless
    /// [`Stepping`] is one that varies it.
    pub dt: f32,
    /// Simulated time at its start, rounded down to a nanosecond: the sum of all steps before.
    pub time: Duration,
    /// Where it starts on [`Clock::now`]'s time, which input is stamped with.
    pub starts: Duration,
    /// Where it ends on [`Clock::now`]'s time, not included. The steps' intervals follow each
    /// other without a gap, whatever was cut, paused or scaled.
    pub ends: Duration,
    /// [`Clock::now`] at the end of the frame in which it is made.
    pub now: Duration,
}

/// The steps that are due in a frame, oldest first: an iterator from [`Clock::advance`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steps {
    ticks: Range<u64>,
    rate: Rate,
    /// The length of the last step, if it differs from that of the rate; 0 if not.
    last: u128,
    /// Simulated time at the start of the next step.
    simulated: u128,
    /// Where the next step starts on [`Clock::now`]'s time.
    starts: Duration,
    /// The clock at the end of the frame.
    now: Duration,
    remainder: u128,
    units_per_nano: u128,
    dropped: Dropped,
}

impl Steps {
    /// What was cut in this frame.
    #[must_use]
    pub fn dropped(&self) -> Dropped {
        self.dropped
    }

    /// The number of steps that are left.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.ticks.end - self.ticks.start
    }

    /// Whether no step is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ticks.is_empty()
    }

    /// The step that comes next, if any is left.
    pub(crate) fn peek(&self) -> Option<Step> {
        self.clone().next()
    }

    /// The tick of the step that comes next.
    pub(crate) fn next_tick(&self) -> u64 {
        self.ticks.start
    }

    /// The length of a step.
    fn length(&self, tick: u64) -> u128 {
        if self.last > 0 && tick + 1 == self.ticks.end {
            self.last
        } else {
            units_per_step(self.rate)
        }
    }

    /// The length of all steps after `tick` steps have been made.
    fn units_after(&self, tick: u64) -> u128 {
        if tick == self.ticks.end {
            return 0;
        }
        let whole = u128::from(self.ticks.end - 1 - tick) * units_per_step(self.rate);
        whole.saturating_add(self.length(self.ticks.end - 1))
    }

    /// The length of all steps that are left.
    fn units_left(&self) -> u128 {
        self.units_after(self.ticks.start)
    }

    /// Where step `tick` ends, measured back from the end of the frame: what was cut is then the
    /// oldest time of the frame, and belongs to its first step.
    ///
    /// Rounded up: a whole nanosecond is before the true end exactly if it is before this one.
    fn end_of(&self, tick: u64) -> Duration {
        let after = self.remainder.saturating_add(self.units_after(tick + 1));
        let age = after.checked_div(self.units_per_nano).unwrap_or(0);
        self.now.saturating_sub(duration_from_nanos(age))
    }
}

impl Iterator for Steps {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let length = self.length(self.ticks.start);
        let tick = self.ticks.next()?;
        let starts = self.starts;
        let ends = self.end_of(tick).max(starts);
        let units_per_nano = u128::from(self.rate.steps()) * u128::from(SPEED_UNITS);
        let time = duration_from_nanos(self.simulated / units_per_nano);
        self.starts = ends;
        self.simulated = self.simulated.saturating_add(length);
        Some(Step {
            tick,
            dt: seconds(length, self.rate),
            time,
            starts,
            ends,
            now: self.now,
        })
    }
}

/// The length of a step in seconds, rounded to the nearest f32.
fn seconds(units: u128, rate: Rate) -> f32 {
    if units == units_per_step(rate) {
        return rate.dt();
    }
    #[expect(clippy::cast_precision_loss, reason = "rounding to f64 is the point")]
    let steps = units as f64 / units_per_step(rate) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to f32 is the point"
    )]
    let seconds = (steps * rate.dt_f64()) as f32;
    // A step of no length is never made: Rapier's queries would miss after it.
    seconds.max(f32::MIN_POSITIVE)
}

/// Turns the time stamps of a host's own clock into the frame times that [`Clock::advance`]
/// takes, and into the time that [input](crate::InputQueue) is stamped with.
///
/// For hosts that are told what time it is: an event loop's time stamps, a recording, a network
/// clock. A stamp may lie before the one of the frame before (a clock that was set back): that frame
/// takes no time, and the next one goes on from there.
///
/// ```
/// use evenstep::FrameTimer;
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let mut timer = FrameTimer::new(ms(1_000));
/// assert_eq!(timer.frame(ms(1_016)), ms(16));
/// assert_eq!(timer.stamp(ms(1_020)), ms(20)); // input between two frames, on the clock's time
/// assert_eq!(timer.frame(ms(500)), ms(0)); // set back
/// assert_eq!(timer.frame(ms(516)), ms(16));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTimer {
    last: Duration,
    now: Duration,
}

impl FrameTimer {
    /// A timer whose first frame began at `start` on the host's clock, for a clock at zero.
    #[must_use]
    pub fn new(start: Duration) -> Self {
        Self {
            last: start,
            now: Duration::ZERO,
        }
    }

    /// The time since the last frame; zero if the host's clock was set back.
    pub fn frame(&mut self, host: Duration) -> Duration {
        let elapsed = host.saturating_sub(self.last);
        self.last = host;
        self.now = self.now.saturating_add(elapsed);
        elapsed
    }

    /// A moment of the host's clock on [`Clock::now`]'s time, for
    /// [`InputQueue::push`](crate::InputQueue::push).
    #[must_use]
    pub fn stamp(&self, host: Duration) -> Duration {
        let later = host.saturating_sub(self.last);
        let earlier = self.last.saturating_sub(host);
        self.now.saturating_add(later).saturating_sub(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn clock(hz: u32) -> Clock {
        Clock::new(Rate::hz(hz).unwrap())
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
            for &nanos in &frames {
                let due = split.advance(Duration::from_nanos(nanos));
                prop_assert_eq!(due.dropped(), Dropped::default());
                prop_assert!((0.0..1.0).contains(&split.alpha()));
            }
            whole.advance(Duration::from_nanos(frames.iter().sum()));
            prop_assert_eq!(split.tick(), whole.tick());
            prop_assert_eq!(split.accumulator, whole.accumulator);
            let (steps, rest) = steps_in(split.now(), rate);
            prop_assert_eq!(u128::from(split.tick()), steps);
            prop_assert_eq!(split.accumulator, rest * u128::from(SPEED_UNITS));
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
                for step in clock.advance(Duration::from_nanos(nanos)) {
                    prop_assert_eq!(step.tick, tick);
                    prop_assert_eq!(step.starts, covered);
                    prop_assert!(step.starts <= step.ends && step.ends <= clock.now());
                    tick += 1;
                    covered = step.ends;
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
                for step in clock.advance(Duration::from_nanos(nanos)) {
                    // The first whole nanosecond that belongs to the step after it.
                    let end = (u128::from(step.tick) + 1) * NANOS_PER_SECOND;
                    prop_assert_eq!(step.ends.as_nanos(), end.div_ceil(hz.into()));
                }
            }
        }

        #[test]
        fn speed_scales_time_exactly(
            frames in prop::collection::vec((0..250_000_000u64, 0..8u32, 1..8u32), 1..100),
        ) {
            let mut clock = clock(60);
            let mut units = 0u128;
            for (nanos, n, d) in frames {
                clock.set_speed(f64::from(n) / f64::from(d)).unwrap();
                clock.advance(Duration::from_nanos(nanos));
                // d divides 840, so this is exact.
                units += u128::from(nanos) * u128::from(n * 840 / d) * 60;
            }
            let step = NANOS_PER_SECOND * 840;
            prop_assert_eq!(u128::from(clock.tick()), units / step);
            let rest = units % step * u128::from(SPEED_UNITS) / 840;
            prop_assert_eq!(clock.accumulator, rest);
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
            for _ in 0..1_000_003 {
                clock.advance(frame);
            }
            clock.advance(ten_years - clock.now());
            let (steps, rest) = steps_in(ten_years, rate);
            assert_eq!(u128::from(clock.tick()), steps);
            assert_eq!(clock.accumulator, rest * u128::from(SPEED_UNITS));
            assert_eq!(clock.now(), ten_years);
        }
    }

    #[test]
    fn a_third_of_the_speed_does_not_drift() {
        let mut clock = clock(60);
        clock.set_speed(1.0 / 3.0).unwrap();
        for _ in 0..3_000_000 {
            clock.advance(Duration::from_nanos(16_666_667));
        }
        let (steps, rest) = steps_in(Duration::from_nanos(16_666_667 * 1_000_000), clock.rate);
        assert_eq!(u128::from(clock.tick()), steps);
        assert_eq!(clock.accumulator, rest * u128::from(SPEED_UNITS));
    }

    #[test]
    fn long_frames_are_cut_and_what_was_cut_is_said() {
        let mut clock = clock(100);
        let due = clock.advance(MS(1_255));
        assert_eq!((due.len(), due.dropped().frame_time), (25, MS(1_005)));
        assert_eq!(clock.now(), MS(1_255));

        clock.set_max_steps_per_frame(Some(2));
        let due = clock.advance(MS(57));
        assert_eq!((due.len(), due.dropped().steps), (2, 3));
        assert_eq!(clock.remainder(), MS(7));
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
        let steps: Vec<Step> = clock.advance(MS(1_005)).collect();
        assert_eq!(steps.len(), 25);
        assert_eq!((steps[0].starts, steps[0].ends), (MS(0), MS(765)));
        assert_eq!((steps[24].starts, steps[24].ends), (MS(995), MS(1_005)));
    }

    #[test]
    fn the_largest_values_neither_panic_nor_overflow() {
        for rate in [Rate::hz(u32::MAX), Rate::fraction(1, u32::MAX)] {
            let mut clock = Clock::new(rate.unwrap());
            clock.set_max_frame_time(Duration::MAX);
            clock.set_speed(1_000.0).unwrap();
            for _ in 0..3 {
                let due = clock.advance(Duration::MAX);
                assert_eq!(due.dropped().frame_time, Duration::MAX - LONGEST_FRAME);
                assert!(clock.alpha() < 1.0);
            }
            assert_eq!(clock.now(), Duration::MAX);
        }
    }

    #[test]
    fn pause_keeps_alpha_and_single_steps_keep_it_too() {
        let mut clock = clock(100);
        clock.advance(MS(13));
        let alpha = clock.alpha();
        clock.pause();
        clock.step_once();
        clock.step_once();
        assert_eq!(clock.advance(MS(400)).len(), 2);
        assert_eq!(clock.advance(MS(400)).len(), 0);
        assert_eq!(clock.alpha().to_bits(), alpha.to_bits());
        assert_eq!(clock.dropped(), Dropped::default());
        clock.step_once();
        clock.resume();
        assert_eq!(clock.advance(MS(7)).len(), 1);
        assert_eq!(clock.tick(), 4);
        clock.step_once();
        assert_eq!(clock.advance(MS(9)).len(), 0, "time runs: no single steps");
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
        assert!(clock.advance(MS(250)).is_empty());
    }

    #[test]
    fn alpha_is_never_rounded_up_to_one() {
        let mut clock = clock(1);
        clock.set_max_frame_time(Duration::MAX);
        clock.advance(Duration::from_nanos(999_999_999));
        assert!(clock.alpha() < 1.0);
        assert_eq!(clock.tick(), 0);
    }
}
