//! Time stamps of a host's clock in, frame times out.

use std::time::Duration;

/// Turns the time stamps of a host's own clock into the frame times that
/// [`Simulation::advance`](crate::Simulation::advance) takes, and into the [real time](crate::Clock::real_time)
/// that [input](crate::InputQueue) is stamped with.
///
/// For hosts that have time stamps: of an event loop, a recording, a network clock. If a stamp is
/// before that of the last frame, because the clock was set back, that frame takes no time, and the next
/// one continues from there.
///
/// ```
/// use evenstep::FrameTimer;
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let mut timer = FrameTimer::new(ms(1_000));
/// assert_eq!(timer.frame(ms(1_016)), ms(16));
/// assert_eq!(timer.stamp(ms(1_020)), ms(20)); // input between two frames, in real time
/// assert_eq!(timer.frame(ms(500)), ms(0)); // set back
/// assert_eq!(timer.frame(ms(516)), ms(16));
/// ```
///
/// # Real time
/// The timer's time is that of the [`Clock`](crate::Clock) whose frames it times: the sum of all frame times.
/// This requires that every frame time is passed to that clock. With a [`FrameFilter`](crate::FrameFilter) in between,
/// the two differ by what the filter carries.
///
/// After a level restart the real time of the new [`Simulation`](crate::Simulation) begins at zero: make a new
/// timer with it, or all stamps are in the future by the length of the old level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FrameTimer {
    last: Duration,
    now: Duration,
}

impl FrameTimer {
    /// A timer whose first frame began at `start` on the host's clock, for a simulation whose real time is zero.
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

    /// A moment of the host's clock on [real time](crate::Clock::real_time), for
    /// [`InputQueue::push`](crate::InputQueue::push).
    #[must_use]
    pub fn stamp(&self, host: Duration) -> Duration {
        let later = host.saturating_sub(self.last);
        let earlier = self.last.saturating_sub(host);
        self.now.saturating_add(later).saturating_sub(earlier)
    }
}
