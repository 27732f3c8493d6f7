//! The settings of a simulation's clock.

use std::time::Duration;

use crate::time::ClockSettings;
#[cfg(feature = "serde")]
use crate::time::Requests;

use super::simulation::Simulation;

/// # Settings of the clock
///
/// They take effect in the next frame. Read them from [`clock`](Self::clock).
impl Simulation {
    /// Returns a mutable reference to the clock's settings: rate, speed, stepping and limits.
    pub fn clock_settings_mut(&mut self) -> &mut ClockSettings {
        self.steps.clock.settings_mut()
    }

    /// Pauses time from the next frame on: see [`Clock::pause`](crate::time::Clock::pause). To pause right after a
    /// step, use [`pause_after_step`](crate::Physics::pause_after_step).
    #[doc(alias = "freeze")]
    pub fn pause(&mut self) {
        self.steps.clock.pause();
    }

    /// Resumes time in the next frame. A requested [pause](crate::Physics::pause_after_step) that has not begun does
    /// not begin.
    pub fn resume(&mut self) {
        self.physics.running.pauses = false;
        self.steps.clock.resume();
    }

    /// Requests one step in the next frame of a pause: see [`Clock::step_once`](crate::time::Clock::step_once).
    #[doc(alias = "frame_advance")]
    pub fn step_once(&mut self) {
        self.steps.clock.step_once();
    }

    /// Sets the number of the next frame's first step: see [`Clock::set_tick`](crate::time::Clock::set_tick). If it
    /// changes, the next frame discards the [past](Self#back-in-time).
    pub fn set_tick(&mut self, tick: u64) {
        self.steps.clock.set_tick(tick);
    }

    /// Sets how much of a step's time has passed when the next frame begins: see
    /// [`Clock::set_overstep`](crate::time::Clock::set_overstep).
    pub fn set_overstep(&mut self, overstep: Duration) {
        self.steps.clock.set_overstep(overstep);
    }

    #[cfg(feature = "serde")]
    pub(crate) fn set_requests(&mut self, requests: Requests) {
        self.steps.clock.set_requests(requests);
    }

    pub(crate) fn skip_real_time(&mut self, skipped: Duration) {
        self.steps.clock.skip_real_time(skipped);
    }

    pub(crate) fn set_real_time(&mut self, real_time: Duration) {
        self.steps.clock.set_real_time(real_time);
    }
}
