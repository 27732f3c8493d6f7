//! The settings of a clock.

use std::num::NonZeroU32;
use std::time::Duration;

use crate::time::frame_timer::Driver;
use crate::time::rate::{NANOS_PER_SECOND, Rate, duration_from_nanos};
use crate::time::stepping::Stepping;

use super::step::Dropped;
use super::units;
use super::units::{Speed, SpeedError};

/// The settings of a [`Clock`](crate::time::Clock).
///
/// A change takes effect in the next frame, but getters return it at once. In a pause and at speed 0, rate and stepping
/// wait for the first frame in which time passes, which may be a [single step](crate::time::Clock::step_once).
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ClockSettings {
    rate: Rate,
    speed: Speed,
    is_paused: bool,
    stepping: Stepping,
    /// In nanoseconds: more than 64 bits would overflow the accumulator.
    max_frame_time: u64,
    max_steps_per_frame: Option<NonZeroU32>,
    budget: Option<Budget>,
}

impl ClockSettings {
    /// Returns the default settings with this rate, at speed 1.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self {
            rate,
            speed: Speed::ONE,
            is_paused: false,
            stepping: Stepping::default(),
            // In nanoseconds: 0.25 s, as in 'Fix Your Timestep!'.
            max_frame_time: 250_000_000,
            max_steps_per_frame: None,
            budget: None,
        }
    }

    /// Returns the number of steps per second.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Sets the number of steps per second. Ticks continue, and the overstep is kept. Another rate is another run, so
    /// for slow motion use [`set_speed`](Self::set_speed).
    #[doc(alias("set_timestep", "fixed_timestep"))]
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
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

    /// Returns whether the clock is paused. [`Clock::pause`](crate::time::Clock::pause) pauses it.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    pub(super) fn set_paused(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    pub(crate) fn stands_still(&self) -> bool {
        self.is_paused || self.speed.units() == 0
    }

    /// Returns the speed of simulated time: 1 by default.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.speed.into()
    }

    /// Sets the speed of simulated time: 0 stops it, 0.1 is slow motion, 4 is fast motion. With [`Stepping::Fixed`] no
    /// step changes its length, so a run in slow motion is the same run.
    ///
    /// `speed` is rounded to a multiple of 1/1,260,000. Thirds, sevenths and numbers of up to four decimals are exact.
    /// For fast-forward, also [limit](Self::set_max_steps_per_frame) the steps of a frame.
    ///
    /// # Errors
    /// [`SpeedError`] if the speed is negative, above 1000 or not finite.
    #[doc(alias("time_scale", "slow_motion", "fast_forward"))]
    pub fn set_speed(&mut self, speed: f64) -> Result<(), SpeedError> {
        self.speed = speed.try_into()?;
        Ok(())
    }

    /// Returns the maximum elapsed time that a frame may add: 0.25 s by default.
    #[must_use]
    pub fn max_frame_time(&self) -> Duration {
        Duration::from_nanos(self.max_frame_time)
    }

    /// Sets the maximum elapsed time that a frame may add, before it is scaled by the speed. The rest is dropped.
    /// [`Stepping::FrameLocked`] and [`Stepping::DisplayCounted`] ignore this limit.
    pub fn set_max_frame_time(&mut self, max: Duration) {
        self.max_frame_time = max.as_nanos().try_into().unwrap_or(u64::MAX);
    }

    /// Returns the maximum number of steps in a frame: `None`, no limit, by default.
    #[must_use]
    pub fn max_steps_per_frame(&self) -> Option<u32> {
        self.max_steps_per_frame.map(NonZeroU32::get)
    }

    /// Sets the maximum number of steps in a frame. Whole steps over it are dropped, and the fraction is kept. 0 counts
    /// as 1.
    pub fn set_max_steps_per_frame(&mut self, max: Option<u32>) {
        self.max_steps_per_frame = max.map(|max| NonZeroU32::new(max).unwrap_or(NonZeroU32::MIN));
    }

    /// Returns the wall time that the steps of a frame may take: `None`, no limit, by default.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        self.budget
    }

    /// Sets the wall time that the steps of a frame may take. Whole steps over it are dropped, and the fraction is
    /// kept. One step always fits. Set the budget before each frame, with the measured cost of a step.
    pub fn set_budget(&mut self, budget: Option<Budget>) {
        self.budget = budget;
    }
}

impl ClockSettings {
    /// Returns the settings for a frame of this driver. A thread's frame has one fixed step, to which no limit applies,
    /// because the thread limits its lag instead.
    pub(super) fn of_driver(&self, driver: Driver) -> Self {
        let settings = self.clone();
        match driver {
            Driver::Game => settings,
            Driver::Step => Self {
                stepping: Stepping::Fixed,
                max_frame_time: u64::MAX,
                max_steps_per_frame: None,
                budget: None,
                ..settings
            },
        }
    }

    pub(super) fn leaves_a_fraction(&self) -> bool {
        self.stepping == Stepping::Fixed
    }

    pub(super) fn units_per_nano(&self) -> u128 {
        units::units_per_nano(self.rate, self.speed)
    }

    /// Returns the real time that the steps of a frame cover, and the units that it adds to the accumulator. The
    /// difference from `elapsed` goes to `dropped`. A stepping that counts steps covers the whole frame, and others at
    /// most the maximum.
    pub(super) fn gain(&self, elapsed: Duration, dropped: &mut Dropped) -> (Duration, u128) {
        if let Some(count) = self.stepping.step_count(elapsed.as_nanos(), self.rate) {
            // At speed 1 this adds `count` whole steps, however long the frame took. Their length is in units of
            // 1 ns / `rate.steps()`, in which it is a whole number.
            let length = count * NANOS_PER_SECOND * u128::from(self.rate.seconds());
            let counted = duration_from_nanos(length / u128::from(self.rate.steps()));
            dropped.uncounted = elapsed.saturating_sub(counted);
            dropped.overcounted = counted.saturating_sub(elapsed);
            return (elapsed, length * self.speed.units());
        }
        let covered = elapsed.min(self.max_frame_time());
        dropped.frame_time = elapsed.saturating_sub(covered);
        (covered, covered.as_nanos() * self.units_per_nano())
    }

    /// Returns how many of `whole` steps may run within the limits. A last, shorter step counts as one of the allowed
    /// steps, and one step always runs. The others go to `dropped`.
    pub(super) fn limit(&self, whole: u64, has_shorter: bool, dropped: &mut Dropped) -> u64 {
        let most_whole = |most: u64| most.max(1) - u64::from(has_shorter);
        let [by_count, by_budget] = self.most_by_limit().map(|most| whole.min(most_whole(most)));
        // Steps over both limits are counted once.
        dropped.steps = whole - by_count;
        dropped.over_budget = by_count.saturating_sub(by_budget);
        by_count.min(by_budget)
    }

    /// Returns the most steps by count, and by the budget.
    fn most_by_limit(&self) -> [u64; 2] {
        let by_count = self.max_steps_per_frame.map(|most| most.get().into());
        [by_count, self.budget.map(Budget::steps)].map(|most| most.unwrap_or(u64::MAX))
    }
}

/// The wall time that physics may take in a frame, for
/// [`ClockSettings::set_budget`](crate::time::ClockSettings::set_budget).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Budget {
    /// The wall time for all steps of a frame together.
    pub frame: Duration,
    /// The measured wall time of one step, for example from [`StepCost`](crate::time::StepCost).
    pub step: Duration,
}

impl Budget {
    /// Returns how many steps fit into the budget, at least one.
    pub(super) fn steps(self) -> u64 {
        let fit = self.frame.as_nanos().checked_div(self.step.as_nanos());
        // Any number of steps that take no time fits.
        fit.map_or(u64::MAX, |fit| {
            u64::try_from(fit).unwrap_or(u64::MAX).max(1)
        })
    }
}

/// Requests of the game for the next frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Requests {
    pub tick: Option<u64>,
    pub overstep: Option<Duration>,
    pub single_steps: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::clock::displayed::LARGEST_ALPHA;
    use crate::time::clock::tests::{MS, clock, due, steps};

    #[test]
    fn pauses_and_single_steps_leave_alpha_unchanged() {
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
        assert_eq!(
            due(&mut clock, MS(9)),
            0,
            "time is running, so there are no single steps"
        );
    }

    #[test]
    fn set_overstep_is_applied_once_and_limited_to_less_than_a_step() {
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
        // This happens once, and later frames continue from there. Even the largest overstep is less than a step.
        assert_eq!(clock.overstep(), Duration::from_nanos(9_999_999));
        clock.resume();
        assert_eq!(due(&mut clock, Duration::ZERO), 0);
        assert_eq!(due(&mut clock, Duration::from_nanos(1)), 1);
        // The overstep uses the rate of that frame, in whichever order the two are set.
        clock.set_overstep(MS(15));
        clock.settings_mut().set_rate(Rate::hz(50));
        assert_eq!((due(&mut clock, MS(4)), clock.overstep()), (0, MS(19)));
        assert_eq!(clock.until_next_step(), Some(MS(1)));
    }

    #[test]
    fn settings_apply_from_the_next_frame() {
        let mut clock = clock(100);
        clock.begin_frame(MS(37));
        let untouched = clock.clone();
        clock.settings_mut().set_rate(Rate::hz(50));
        clock.settings_mut().set_stepping(Stepping::Variable);
        clock.settings_mut().set_speed(0.5).unwrap();
        clock.settings_mut().set_max_steps_per_frame(Some(0));
        clock.set_tick(1_000);
        clock.set_overstep(Duration::ZERO);
        clock.pause();
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
        clock.resume();
        clock.begin_frame(MS(8));
        let step = clock.next_step().unwrap();
        assert_eq!(
            (step.tick, step.start_time, step.end_time),
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
