//! The duration of a frame, and what drives it.

use std::time::Duration;

/// The duration of a frame, with what drives the frame.
///
/// Every [`Duration`] is the time of a frame that your game drives, so methods that begin a frame take one. A
/// [`Runner`](crate::threads::Runner) runs a frame for each step, to which the limits of the
/// [clock](crate::ClockSettings) do not apply. [`before_frame`](crate::Hooks::before_frame) gets the time of either
/// kind. A recording holds it, and a replay returns it to be passed on.
///
/// ```
/// use evenstep::FrameTime;
/// use std::time::Duration;
///
/// let frame_time = FrameTime::from(Duration::from_millis(7));
/// assert_eq!(frame_time.duration(), Duration::from_millis(7));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FrameTime {
    duration: Duration,
    driver: Driver,
}

/// What decides when a frame begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Driver {
    /// The game's loop.
    Game,
    /// A thread that begins a frame when a step is due. All of its time becomes steps of the rate's length.
    Step,
}

impl FrameTime {
    /// Returns the time of a frame that a thread begins because a step is due.
    pub(crate) fn of_step(duration: Duration) -> Self {
        let driver = Driver::Step;
        Self { duration, driver }
    }

    /// Returns how long the frame took.
    #[must_use]
    pub fn duration(self) -> Duration {
        self.duration
    }

    pub(crate) fn driver(self) -> Driver {
        self.driver
    }
}

impl From<Duration> for FrameTime {
    fn from(duration: Duration) -> Self {
        let driver = Driver::Game;
        Self { duration, driver }
    }
}
