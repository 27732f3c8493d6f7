//! The settings of a clock.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::time::rate::{NANOS_PER_SECOND, Rate, duration_from_nanos};
use crate::time::stepping::Stepping;

use super::budget::Budget;
use super::speed::{Speed, SpeedError};
use super::step::Dropped;
use super::units;

/// The settings of a [`Clock`](crate::Clock), from [`Clock::settings`](crate::Clock::settings).
///
/// A change takes effect in the next frame, but getters return it at once. Settings are a plain value, so you can copy
/// them from one clock to another.
///
/// ```
/// use evenstep::{Clock, ClockSettings, Rate};
///
/// let mut settings = ClockSettings::new(Rate::hz(120)?);
/// settings.set_speed(0.5)?;
/// let mut clock = Clock::new(Rate::hz(60)?);
/// *clock.settings_mut() = settings.clone();
/// assert_eq!(clock.settings(), &settings);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClockSettings {
    rate: Rate,
    speed: Speed,
    /// In a pause, the number of requested single steps.
    pause: Option<u32>,
    stepping: Stepping,
    /// Nanoseconds in 64 bits, because a longer frame would overflow the accumulator.
    max_frame_time: u64,
    max_steps_per_frame: Option<NonZeroU32>,
    budget: Option<Budget>,
    // Requests for the next frame only.
    new_tick: Option<u64>,
    new_overstep: Option<Duration>,
    are_limits_lifted: bool,
}

impl ClockSettings {
    /// Returns the default settings with this rate, at speed 1.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            speed: Speed::ONE,
            pause: None,
            stepping: Stepping::default(),
            max_frame_time: 250_000_000,
            max_steps_per_frame: None,
            budget: None,
            new_tick: None,
            new_overstep: None,
            are_limits_lifted: false,
        }
    }

    /// Returns the number of steps per second.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Sets the number of steps per second. Ticks continue, and the overstep is kept.
    ///
    /// A change of the rate changes the run. Choose the rate once, and use [`set_speed`](Self::set_speed) for slow
    /// motion.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Numbers the steps of the next frame and all later ones from `tick` on. Use it to join a match on another
    /// machine, or to continue one. A [`Simulation`](crate::Simulation) then drops steps that are still to be
    /// resimulated.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.settings_mut().set_tick(100);
    /// assert_eq!(clock.tick(), 0);
    /// clock.begin_frame(Duration::from_millis(20));
    /// assert_eq!(clock.next_step().unwrap().tick, 100);
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn set_tick(&mut self, tick: u64) {
        self.new_tick = Some(tick);
    }

    /// Returns the tick that the next frame will start with, if one was set.
    #[must_use]
    pub fn new_tick(&self) -> Option<u64> {
        self.new_tick
    }

    /// Sets the [overstep](crate::Clock::overstep) that the next frame starts with, in simulated time. A whole step or
    /// more is reduced to just under a step.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.begin_frame(ms(10));
    /// clock.settings_mut().set_overstep(ms(0));
    /// clock.begin_frame(ms(10));
    /// assert_eq!(clock.due(), 0); // without the call, 20 ms would make a step due
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    ///
    /// Zero discards the overstep, so that a frame of a whole step's length ends exactly at a state. Use it after a
    /// loading screen, or to start in sync with another clock. In a pause the overstep chooses which moment between the
    /// last two states is displayed. [`Simulation::rewind`](crate::Simulation::rewind) has an example.
    pub fn set_overstep(&mut self, overstep: Duration) {
        self.new_overstep = Some(overstep);
    }

    /// Returns the overstep that the next frame will start with, if one was set.
    #[must_use]
    pub fn new_overstep(&self) -> Option<Duration> {
        self.new_overstep
    }

    /// Returns how elapsed time becomes steps: [`Stepping::Fixed`] by default.
    #[must_use]
    pub fn stepping(&self) -> Stepping {
        self.stepping
    }

    /// Sets how elapsed time becomes steps. The time in the accumulator is kept.
    pub fn set_stepping(&mut self, stepping: Stepping) {
        self.stepping = stepping;
    }

    /// Stops simulated time until [`resume`](Self::resume). [`alpha`](crate::Clock::alpha) keeps its value, so the
    /// picture freezes. [`real_time`](crate::Clock::real_time) continues.
    pub fn pause(&mut self) {
        self.pause.get_or_insert(0);
    }

    /// Resumes time. Single steps that were requested but not run are discarded.
    pub fn resume(&mut self) {
        self.pause = None;
    }

    /// Returns whether the clock is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.pause.is_some()
    }

    /// Returns whether simulated time is stopped: in a pause, and at speed 0.
    pub(crate) fn stands_still(&self) -> bool {
        self.is_paused() || self.units_per_nano() == 0
    }

    /// Requests one step in the next frame, however long the frame is. Several calls add up. It has an effect only
    /// while the clock is paused.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.settings_mut().pause();
    /// clock.settings_mut().step_once();
    /// clock.settings_mut().step_once();
    /// clock.begin_frame(ms(0));
    /// assert_eq!(clock.due(), 2);
    /// clock.begin_frame(ms(1_000));
    /// assert_eq!(clock.due(), 0);
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn step_once(&mut self) {
        self.pause = self.pause.map(|steps| steps.saturating_add(1));
    }

    /// Returns the number of single steps that were requested for the next frame.
    #[must_use]
    pub fn single_steps(&self) -> u32 {
        self.pause.unwrap_or(0)
    }

    /// Returns the speed of simulated time: 1 by default.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.speed.into()
    }

    /// Sets the speed of simulated time. It scales the time that is added: 0 stops time, 0.1 is slow motion, 4 is fast
    /// motion. With [`Stepping::Fixed`] no step changes its length, so a run in slow motion is the same run.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.settings_mut().set_speed(0.25)?;
    /// clock.begin_frame(ms(80));
    /// assert_eq!((clock.due(), clock.time(), clock.real_time()), (1, ms(20), ms(80)));
    /// assert_eq!(clock.next_step().unwrap().dt, clock.settings().rate().dt());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `speed` is rounded to a multiple of 1/1,260,000. Thirds, sevenths and numbers of up to four decimals are exact,
    /// and a clock at such a speed never drifts.
    ///
    /// # Errors
    /// [`SpeedError`] if the speed is negative, above 1000 or not finite. Nothing is changed then.
    pub fn set_speed(&mut self, speed: f64) -> Result<(), SpeedError> {
        self.speed = speed.try_into()?;
        Ok(())
    }

    /// Returns the maximum elapsed time that a frame may add: 0.25 s by default.
    #[must_use]
    pub fn max_frame_time(&self) -> Duration {
        Duration::from_nanos(self.max_frame_time)
    }

    /// Sets the maximum elapsed time that a frame may add, before it is scaled by the speed. The rest is dropped, and
    /// the game runs slower than the wall clock for that frame. Values above 584 years are reduced to 584 years.
    /// [`Stepping::FrameLocked`] and [`Stepping::DisplayCounted`] count steps instead, and ignore this limit.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// let dropped = clock.begin_frame(ms(1_000)); // a hitch, with the default of 0.25 s
    /// assert_eq!((clock.due(), dropped.frame_time), (15, ms(750)));
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn set_max_frame_time(&mut self, max: Duration) {
        self.max_frame_time = max.as_nanos().try_into().unwrap_or(u64::MAX);
    }

    /// Returns the maximum number of steps in a frame: `None`, no limit, by default.
    #[must_use]
    pub fn max_steps_per_frame(&self) -> Option<u32> {
        self.max_steps_per_frame.map(NonZeroU32::get)
    }

    /// Sets the maximum number of steps in a frame. Whole steps over it are dropped, and the fraction is kept. 0 counts
    /// as 1. To stop time, call [`pause`](Self::pause).
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.settings_mut().set_max_steps_per_frame(Some(2));
    /// let dropped = clock.begin_frame(ms(75)); // four and a half steps
    /// assert_eq!((clock.due(), dropped.steps, clock.alpha()), (2, 2, 0.5));
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn set_max_steps_per_frame(&mut self, max: Option<u32>) {
        self.max_steps_per_frame = max.map(|max| NonZeroU32::new(max).unwrap_or(NonZeroU32::MIN));
    }

    /// Returns the wall time that the steps of a frame may take: `None`, no limit, by default.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// Sets the wall time that the steps of a frame may take. Whole steps over it are dropped, and the fraction is
    /// kept. Instead of entering a spiral of death, the game runs slower but still smoothly.
    ///
    /// The clock measures nothing itself. Measure how long a step takes, and set the budget before each frame. One step
    /// always fits.
    ///
    /// ```
    /// # use evenstep::Budget;
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.settings_mut().set_budget(Some(Budget { frame: ms(8), step: ms(3) }));
    /// let dropped = clock.begin_frame(ms(100)); // six steps
    /// assert_eq!((clock.due(), dropped.over_budget), (2, 4));
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn set_budget(&mut self, budget: Option<Budget>) {
        self.budget = budget;
    }
}

impl ClockSettings {
    /// Returns the settings of a frame that begins now. Requests for that frame do not apply to later ones.
    pub(super) fn begin_frame(&mut self) -> Self {
        let mut settings = self.clone();
        if self.are_limits_lifted {
            settings.stepping = Stepping::Fixed;
            settings.max_frame_time = u64::MAX;
            (settings.max_steps_per_frame, settings.budget) = (None, None);
        }
        self.pause = self.pause.map(|_| 0);
        (self.new_tick, self.new_overstep) = (None, None);
        self.are_limits_lifted = false;
        settings
    }

    /// Adopts the settings that differ between `before` and `after`.
    pub(crate) fn adopt(&mut self, before: &Self, after: &Self) {
        macro_rules! adopt {
            ($($setting:ident)*) => {$(
                if before.$setting != after.$setting {
                    self.$setting = after.$setting;
                }
            )*};
        }
        adopt! {
            rate speed pause stepping max_frame_time max_steps_per_frame budget new_tick new_overstep
        }
    }

    /// Sets whether the next frame has all steps that are due, with equal lengths, whatever limits are set. It is for a
    /// driver that runs each step in a separate frame. The limits themselves stay set, because saved states include
    /// them.
    pub(crate) fn lift_limits(&mut self, are_lifted: bool) {
        self.are_limits_lifted = are_lifted;
    }

    /// Keeps at most `most` of the requested single steps.
    #[cfg(feature = "serde")]
    pub(crate) fn bound_single_steps(&mut self, most: u32) {
        self.pause = self.pause.map(|steps| steps.min(most));
    }

    /// Returns whether the next frame has no step, however long it is.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stands_still() && self.single_steps() == 0
    }

    /// Returns whether the next frame may end with part of a step left over, to be interpolated.
    pub(crate) fn leaves_a_fraction(&self) -> bool {
        self.are_limits_lifted || self.stepping == Stepping::Fixed
    }

    /// Returns how much a nanosecond adds to the accumulator.
    pub(super) fn units_per_nano(&self) -> u128 {
        units::units_per_nano(self.rate, self.speed)
    }

    /// Returns how much of a frame's time counts, and how much it adds to the accumulator. Writes the difference from
    /// the elapsed time to `dropped`.
    pub(super) fn gain(&self, elapsed: Duration, dropped: &mut Dropped) -> (Duration, u128) {
        if let Some(count) = self.stepping.step_count(elapsed.as_nanos(), self.rate) {
            // At speed 1 this adds `count` whole steps, however long the frame took.
            let steps = count * NANOS_PER_SECOND * u128::from(self.rate.seconds());
            if self.speed.units() > 0 {
                let counted = duration_from_nanos(steps / u128::from(self.rate.steps()));
                dropped.uncounted = elapsed.saturating_sub(counted);
                dropped.overcounted = counted.saturating_sub(elapsed);
            }
            return (elapsed, steps * self.speed.units());
        }
        let taken = elapsed.min(self.max_frame_time());
        dropped.frame_time = elapsed.saturating_sub(taken);
        (taken, taken.as_nanos() * self.units_per_nano())
    }

    /// Returns how many of `whole` steps may be run in addition to a shorter one, at least one step in total.
    pub(super) fn limit(&self, whole: u64, has_shorter: bool, dropped: &mut Dropped) -> u64 {
        let left = |most: u64| most.max(1) - u64::from(has_shorter);
        let at_most = |most| whole.min(left(most));
        let [by_count, by_budget] = self.most_by_limit().map(at_most);
        dropped.steps = whole - by_count;
        dropped.over_budget = by_count.saturating_sub(by_budget);
        by_count.min(by_budget)
    }

    fn most_by_limit(&self) -> [u64; 2] {
        let by_count = self.max_steps_per_frame.map(|most| most.get().into());
        [by_count, self.budget.map(Budget::steps)].map(|most| most.unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::clock::readings::LARGEST_ALPHA;
    use crate::time::clock::tests::{MS, clock, due, steps};

    #[test]
    fn pauses_and_single_steps_leave_alpha_unchanged() {
        let mut clock = clock(100);
        steps(&mut clock, MS(13));
        let alpha = clock.alpha();
        clock.settings_mut().pause();
        clock.settings_mut().step_once();
        clock.settings_mut().step_once();
        assert_eq!(steps(&mut clock, MS(400)).len(), 2);
        assert_eq!(steps(&mut clock, MS(400)).len(), 0);
        assert_eq!(clock.alpha().to_bits(), alpha.to_bits());
        assert_eq!(clock.dropped(), Dropped::default());
        clock.settings_mut().step_once();
        clock.settings_mut().resume();
        assert_eq!(steps(&mut clock, MS(7)).len(), 1);
        assert_eq!(clock.tick(), 4);
        clock.settings_mut().step_once();
        assert_eq!(
            due(&mut clock, MS(9)),
            0,
            "time is running, so there are no single steps"
        );
    }

    #[test]
    fn set_overstep_is_applied_once_and_limited_to_less_than_a_step() {
        let mut clock = clock(100);
        clock.settings_mut().pause();
        for (set, alpha) in [
            (MS(0), 0.0),
            (MS(4), 0.4),
            (MS(10), LARGEST_ALPHA),
            (Duration::MAX, LARGEST_ALPHA),
        ] {
            clock.settings_mut().set_overstep(set);
            assert_eq!(due(&mut clock, MS(7)), 0);
            assert_eq!(clock.alpha().to_bits(), f32::to_bits(alpha));
            assert_eq!(clock.tick(), 0);
        }
        // This happens once, and later frames continue from there. Even the largest overstep is less than a step.
        assert_eq!(clock.overstep(), Duration::from_nanos(9_999_999));
        clock.settings_mut().resume();
        assert_eq!(due(&mut clock, Duration::ZERO), 0);
        assert_eq!(due(&mut clock, Duration::from_nanos(1)), 1);
        // The overstep uses the rate of that frame, in whichever order the two are set.
        clock.settings_mut().set_overstep(MS(15));
        clock.settings_mut().set_rate(Rate::hz(50).unwrap());
        assert_eq!((due(&mut clock, MS(4)), clock.overstep()), (0, MS(19)));
        assert_eq!(clock.until_next_step(), Some(MS(1)));
    }

    #[test]
    fn settings_apply_from_the_next_frame() {
        let mut clock = clock(100);
        clock.begin_frame(MS(37));
        let untouched = clock.clone();
        clock.settings_mut().set_rate(Rate::hz(50).unwrap());
        clock.settings_mut().set_stepping(Stepping::Variable);
        clock.settings_mut().set_speed(0.5).unwrap();
        clock.settings_mut().set_max_steps_per_frame(Some(0));
        clock.settings_mut().set_tick(1_000);
        clock.settings_mut().set_overstep(Duration::ZERO);
        clock.settings_mut().pause();
        assert_eq!(
            clock.settings().max_steps_per_frame(),
            Some(1),
            "at least one step, so that time never stops"
        );
        let (mut clock, mut untouched) = (clock, untouched);
        assert_eq!(clock.alpha().to_bits(), untouched.alpha().to_bits());
        for _ in 0..4 {
            assert_eq!(clock.next_step(), untouched.next_step());
        }
        assert_eq!((clock.tick(), clock.time()), (3, untouched.time()));
        clock.settings_mut().resume();
        clock.begin_frame(MS(8));
        let step = clock.next_step().unwrap();
        assert_eq!(
            (step.tick, step.time, step.end_time),
            (1_000, MS(30), MS(34))
        );
    }

    #[test]
    fn limits_cut_long_frames_and_report_dropped_time_and_steps() {
        let mut clock = clock(100);
        let dropped = clock.begin_frame(MS(1_255));
        assert_eq!((clock.due(), dropped.frame_time), (25, MS(1_005)));
        assert_eq!(clock.real_time(), MS(1_255));
        while clock.next_step().is_some() {}

        clock.settings_mut().set_max_steps_per_frame(Some(2));
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
}
