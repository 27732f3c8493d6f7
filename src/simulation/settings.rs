//! The settings of the clock, which is not for the game to advance.

use std::time::Duration;

use crate::time::StepSettings;
use crate::time::{Budget, Rate, SpeedError, Stepping};

use super::Simulation;

/// # Settings of the clock
///
/// Each takes effect in the next frame, also when it is set within a frame. [`clock`](Self::clock) has the getters; the docs
/// of [`Clock`](crate::Clock) explain each setting.
impl Simulation {
    /// Stops time: see [`Clock::pause`](crate::Clock::pause).
    pub fn pause(&mut self) {
        self.clock.pause();
    }

    /// Resumes time: see [`Clock::resume`](crate::Clock::resume).
    pub fn resume(&mut self) {
        self.clock.resume();
    }

    /// While paused, asks for one step in the next frame: see [`Clock::step_once`](crate::Clock::step_once).
    pub fn step_once(&mut self) {
        self.clock.step_once();
    }

    /// Scales the time that goes in, never the steps: see [`Clock::set_speed`](crate::Clock::set_speed).
    ///
    /// # Errors
    /// A [`SpeedError`] for a speed that is negative, above 1000 or not finite.
    pub fn set_speed(&mut self, speed: f64) -> Result<(), SpeedError> {
        self.clock.set_speed(speed)
    }

    /// Changes the steps per second: see [`Clock::set_rate`](crate::Clock::set_rate).
    pub fn set_rate(&mut self, rate: Rate) {
        self.clock.set_rate(rate);
    }

    /// Changes how elapsed time becomes steps: see [`Clock::set_stepping`](crate::Clock::set_stepping).
    pub fn set_stepping(&mut self, stepping: Stepping) {
        self.clock.set_stepping(stepping);
    }

    /// Limits the time that a frame may add: see
    /// [`Clock::set_max_frame_time`](crate::Clock::set_max_frame_time).
    pub fn set_max_frame_time(&mut self, max: Duration) {
        self.clock.set_max_frame_time(max);
    }

    /// Limits the steps of a frame: see
    /// [`Clock::set_max_steps_per_frame`](crate::Clock::set_max_steps_per_frame).
    pub fn set_max_steps_per_frame(&mut self, max: Option<u32>) {
        self.clock.set_max_steps_per_frame(max);
    }

    /// Limits the wall time of a frame's steps: see [`Clock::set_budget`](crate::Clock::set_budget).
    pub fn set_budget(&mut self, budget: Option<Budget>) {
        self.clock.set_budget(budget);
    }

    /// Numbers the steps from `tick` on: see [`Clock::set_tick`](crate::Clock::set_tick). The [history](Self::set_history)
    /// under the old numbers is discarded.
    pub fn set_tick(&mut self, tick: u64) {
        self.clock.set_tick(tick);
    }

    /// Sets the time in the accumulator, or discards it with zero: see
    /// [`Clock::set_overstep`](crate::Clock::set_overstep).
    pub fn set_overstep(&mut self, overstep: Duration) {
        self.clock.set_overstep(overstep);
    }

    /// Real time passes that is part of no frame.
    pub(crate) fn skip_real_time(&mut self, skipped: Duration) {
        self.clock.skip_real_time(skipped);
    }

    /// See [`Clock::replace_step_settings`](crate::Clock).
    pub(crate) fn replace_step_settings(&mut self, settings: StepSettings) -> StepSettings {
        self.clock.replace_step_settings(settings)
    }

    /// Goes on at another real time: that of the thread that it has come to.
    pub(crate) fn set_real_time(&mut self, real_time: Duration) {
        self.clock.set_real_time(real_time);
    }
}
