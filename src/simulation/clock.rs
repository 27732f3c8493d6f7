//! The settings of the clock. The game cannot advance the clock itself.

use std::time::Duration;

#[cfg(feature = "serde")]
use crate::time::Requests;
use crate::time::{ClockSettings, SpeedError};

use super::root::Simulation;

/// # Settings of the clock
///
/// Each setting takes effect in the next frame, even if you change it within a frame. Read the settings from
/// [`clock`](Self::clock).
impl Simulation {
    /// Returns a mutable reference to the clock's settings: rate, speed, stepping and limits.
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.clock_settings_mut().set_max_steps_per_frame(Some(4));
    /// let frame = simulation.advance(Duration::from_millis(100), |_, _| ());
    /// assert_eq!((frame.steps, frame.dropped.steps), (4, 2));
    /// ```
    pub fn clock_settings_mut(&mut self) -> &mut ClockSettings {
        self.clock.settings_mut()
    }

    /// Pauses time from the next frame on: see [`Clock::pause`](crate::Clock::pause). To pause within a frame, right after a step, use
    /// [`pause_after_step`](crate::Physics::pause_after_step).
    pub fn pause(&mut self) {
        self.clock.pause();
    }

    /// Resumes time in the next frame: see [`Clock::resume`](crate::Clock::resume).
    pub fn resume(&mut self) {
        self.clock.resume();
    }

    /// Requests one step in the next frame of a pause: see [`Clock::step_once`](crate::Clock::step_once).
    pub fn step_once(&mut self) {
        self.clock.step_once();
    }

    /// Numbers the steps from the next frame on: see [`Clock::set_tick`](crate::Clock::set_tick). The next frame discards the
    /// [past](Self#back-in-time), which uses the old numbers.
    pub fn set_tick(&mut self, tick: u64) {
        self.clock.set_tick(tick);
    }

    /// Sets the overstep that the next frame starts with: see [`Clock::set_overstep`](crate::Clock::set_overstep).
    pub fn set_overstep(&mut self, overstep: Duration) {
        self.clock.set_overstep(overstep);
    }

    /// Scales the time that is added in each frame: see [`ClockSettings::set_speed`]. To fast-forward, also limit the
    /// steps of a frame, with [`set_max_steps_per_frame`](ClockSettings::set_max_steps_per_frame) or
    /// [`set_budget`](ClockSettings::set_budget).
    ///
    /// # Errors
    /// [`SpeedError`] if the speed is negative, above 1000 or not finite.
    pub fn set_speed(&mut self, speed: f64) -> Result<(), SpeedError> {
        self.clock_settings_mut().set_speed(speed)
    }

    /// Sets the requests for the next frame.
    #[cfg(feature = "serde")]
    pub(crate) fn set_requests(&mut self, requests: Requests) {
        self.clock.set_requests(requests);
    }

    /// Skips real time that belongs to no frame.
    pub(crate) fn skip_real_time(&mut self, skipped: Duration) {
        self.clock.skip_real_time(skipped);
    }

    /// Sets the real time to that of the thread that now runs the simulation.
    pub(crate) fn set_real_time(&mut self, real_time: Duration) {
        self.clock.set_real_time(real_time);
    }
}
