//! The settings of the clock, which is not for the game to advance.

use std::time::Duration;

use crate::time::{ClockSettings, SpeedError};

use super::root::Simulation;

/// # Settings of the clock
///
/// Each takes effect in the next frame, also when it is set within a frame. [`clock`](Self::clock) shows them.
impl Simulation {
    /// To change the settings of the clock: rate, stepping, limits, single steps, tick and overstep.
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.clock_settings_mut().set_max_steps_per_frame(Some(4));
    /// let frame = simulation.advance(Duration::from_millis(100), |_, _| ());
    /// assert_eq!((frame.steps, frame.dropped.steps), (4, 2));
    /// ```
    ///
    /// If the [tick](ClockSettings::set_tick) is set, the [past](Self#back-in-time) under the old numbers is discarded.
    pub fn clock_settings_mut(&mut self) -> &mut ClockSettings {
        self.clock.settings_mut()
    }

    /// Stops time: see [`ClockSettings::pause`].
    pub fn pause(&mut self) {
        self.clock_settings_mut().pause();
    }

    /// Resumes time: see [`ClockSettings::resume`].
    pub fn resume(&mut self) {
        self.clock_settings_mut().resume();
    }

    /// Scales the time that goes in, never the steps: see [`ClockSettings::set_speed`].
    ///
    /// # Errors
    /// A [`SpeedError`] for a speed that is negative, above 1000 or not finite.
    pub fn set_speed(&mut self, speed: f64) -> Result<(), SpeedError> {
        self.clock_settings_mut().set_speed(speed)
    }

    /// Real time passes that is part of no frame.
    pub(crate) fn skip_real_time(&mut self, skipped: Duration) {
        self.clock.skip_real_time(skipped);
    }

    /// Goes on at another real time: that of the thread that it has come to.
    pub(crate) fn set_real_time(&mut self, real_time: Duration) {
        self.clock.set_real_time(real_time);
    }
}
