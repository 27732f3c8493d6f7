//! The settings of the clock. The game cannot advance the clock itself.

use std::time::Duration;

use crate::time::{ClockSettings, SpeedError};

use super::root::Simulation;

/// # Settings of the clock
///
/// Each setting takes effect in the next frame, even if you change it within a frame. Read the settings from
/// [`clock`](Self::clock).
impl Simulation {
    /// Returns a mutable reference to the clock's settings: rate, stepping, limits, single steps, tick and overstep.
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
    /// Setting the [tick](ClockSettings::set_tick) discards the [past](Self#back-in-time), which uses the old numbers.
    pub fn clock_settings_mut(&mut self) -> &mut ClockSettings {
        self.clock.settings_mut()
    }

    /// Pauses time: see [`ClockSettings::pause`].
    pub fn pause(&mut self) {
        self.clock_settings_mut().pause();
    }

    /// Resumes time: see [`ClockSettings::resume`].
    pub fn resume(&mut self) {
        self.clock_settings_mut().resume();
    }

    /// Scales the time that is added in each frame: see [`ClockSettings::set_speed`].
    ///
    /// # Errors
    /// [`SpeedError`] if the speed is negative, above 1000 or not finite.
    pub fn set_speed(&mut self, speed: f64) -> Result<(), SpeedError> {
        self.clock_settings_mut().set_speed(speed)
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
