//! What can be set of a clock.

use std::time::Duration;

use crate::time::rate::Rate;
use crate::time::stepping::Stepping;

use super::StepSettings;
use super::{Budget, Clock, LONGEST_FRAME, SPEED_UNITS};

/// The largest speed: see [`SPEED_UNITS`] for what bounds it.
pub(super) const MAX_SPEED: f64 = 1_000.0;

/// Why a speed is refused. The clock is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpeedError {
    /// NaN or infinite.
    #[error("the speed {0} is not finite: give one from 0 to 1000")]
    NotFinite(f64),
    /// Below zero: time does not run backwards.
    #[error("the speed {0} is negative: 0 stops time, and `Simulation::rewind` goes back")]
    Negative(f64),
    /// Above 1000.
    #[error("the speed {0} is too large: give one from 0 to 1000")]
    TooLarge(f64),
}

/// # Settings
///
/// Each takes effect in the next frame; its getter returns what was set.
impl Clock {
    /// The steps per second.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Sets the steps per second. Ticks continue, and the overstep is kept.
    ///
    /// A change of the rate changes the run: choose it once, and use
    /// [`set_speed`](Self::set_speed) for slow motion.
    pub fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Numbers the steps of the next frame, and all later ones, from `tick` on: to join a match on another machine, or to
    /// continue one.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.set_tick(100);
    /// assert_eq!(clock.tick(), 0);
    /// clock.begin_frame(Duration::from_millis(20));
    /// assert_eq!(clock.next_step().unwrap().tick, 100);
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn set_tick(&mut self, tick: u64) {
        self.new_tick = Some(tick);
    }

    /// Sets the [overstep](Self::overstep) that the next frame starts with, in simulated time. A whole step or more
    /// is taken as just less than a step.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.begin_frame(ms(10));
    /// clock.set_overstep(ms(0));
    /// clock.begin_frame(ms(10));
    /// assert_eq!(clock.due(), 0); // 20 ms would hold a step
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    ///
    /// Zero discards it, so that a frame of a whole step's length ends exactly at a state: after a loading screen,
    /// or to start in sync with another clock. In a pause it chooses what is shown between the last two states:
    /// [`Simulation::rewind`](crate::Simulation::rewind) has an example.
    pub fn set_overstep(&mut self, overstep: Duration) {
        self.new_overstep = Some(overstep);
    }

    /// How elapsed time becomes steps: [`Stepping::Fixed`] by default.
    #[must_use]
    pub fn stepping(&self) -> Stepping {
        self.stepping.strategy
    }

    /// Sets how elapsed time becomes steps. The time in the accumulator is kept.
    pub fn set_stepping(&mut self, stepping: Stepping) {
        self.stepping.strategy = stepping;
    }

    /// Stops simulated time until [`resume`](Self::resume). [`alpha`](Self::alpha) stays, so the picture stands still.
    /// [`real_time`](Self::real_time) goes on.
    pub fn pause(&mut self) {
        self.is_paused = true;
    }

    /// Resumes time. Single steps that were requested and not made are discarded.
    pub fn resume(&mut self) {
        self.is_paused = false;
        self.single_steps = 0;
    }

    /// Whether the clock is paused.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Whether no time passes: in a pause, and at speed 0.
    pub(crate) fn stands_still(&self) -> bool {
        self.is_paused || self.speed == 0
    }

    /// Whether the next frame makes no step, however long it is.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stands_still() && self.single_steps == 0
    }

    /// While paused, requests one step in the next frame, however long that is; several calls add up. Has no effect
    /// while time runs.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.pause();
    /// clock.step_once();
    /// clock.step_once();
    /// clock.begin_frame(ms(0));
    /// assert_eq!(clock.due(), 2);
    /// clock.begin_frame(ms(1_000));
    /// assert_eq!(clock.due(), 0);
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn step_once(&mut self) {
        if self.is_paused {
            self.single_steps = self.single_steps.saturating_add(1);
        }
    }

    /// The speed of simulated time: 1 by default.
    #[must_use]
    pub fn speed(&self) -> f64 {
        f64::from(self.speed) / f64::from(SPEED_UNITS)
    }

    /// Scales the time that is added, never the length of a step: 0 stops time, 0.1 is slow motion, 4
    /// is fast. The steps are the same, so a run in slow motion is the same run.
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.set_speed(0.25)?;
    /// clock.begin_frame(ms(80));
    /// assert_eq!((clock.due(), clock.time(), clock.real_time()), (1, ms(20), ms(80)));
    /// assert_eq!(clock.next_step().unwrap().dt, clock.rate().dt());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Speeds are multiples of 1/1,260,000, to which `speed` is rounded: thirds, sevenths and up
    /// to four decimals are exact, and a clock at such a speed never drifts.
    ///
    /// # Errors
    /// A [`SpeedError`] for a speed that is negative, above 1000 or not finite; the clock is unchanged.
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

    /// The most elapsed time that a frame may add: 0.25 s by default.
    #[must_use]
    pub fn max_frame_time(&self) -> Duration {
        self.stepping.max_frame_time
    }

    /// Sets the most elapsed time that a frame may add, before it is scaled by the speed. The rest is dropped, and the
    /// game runs slower than the wall clock for that frame. Values above 136 years are taken as 136 years.
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
        self.stepping.max_frame_time = max.min(LONGEST_FRAME);
    }

    /// The most steps that a frame may make: `None`, no limit, by default.
    #[must_use]
    pub fn max_steps_per_frame(&self) -> Option<u32> {
        self.stepping.max_steps_per_frame
    }

    /// Sets the most steps that a frame may make. Whole steps over it are dropped and the fraction is kept.
    /// 0 is taken as 1: to stop time, [`pause`](Self::pause).
    ///
    /// ```
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.set_max_steps_per_frame(Some(2));
    /// let dropped = clock.begin_frame(ms(75)); // four and a half steps
    /// assert_eq!((clock.due(), dropped.steps, clock.alpha()), (2, 2, 0.5));
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn set_max_steps_per_frame(&mut self, max: Option<u32>) {
        self.stepping.max_steps_per_frame = max.map(|max| max.max(1));
    }

    /// The wall time that the steps of a frame may take: `None`, no limit, by default.
    #[must_use]
    pub fn budget(&self) -> Option<Budget> {
        self.stepping.budget
    }

    /// Sets the wall time that the steps of a frame may take. Whole steps over it are dropped and the fraction
    /// is kept: instead of a spiral of death the game runs slower, and still smoothly.
    ///
    /// The clock does not measure anything: measure what a step costs, and set the budget before each frame. One step
    /// always fits.
    ///
    /// ```
    /// # use evenstep::Budget;
    /// # use evenstep::{Clock, Rate};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// # let mut clock = Clock::new(Rate::hz(60)?);
    /// clock.set_budget(Some(Budget { frame: ms(8), step: ms(3) }));
    /// let dropped = clock.begin_frame(ms(100)); // six steps
    /// assert_eq!((clock.due(), dropped.over_budget), (2, 4));
    /// # Ok::<(), evenstep::RateError>(())
    /// ```
    pub fn set_budget(&mut self, budget: Option<Budget>) {
        self.stepping.budget = budget;
    }
}

impl Clock {
    /// Sets how a frame's time becomes steps, all of it at once. Gives what it was.
    pub(crate) fn replace_step_settings(&mut self, settings: StepSettings) -> StepSettings {
        std::mem::replace(&mut self.stepping, settings)
    }
}
