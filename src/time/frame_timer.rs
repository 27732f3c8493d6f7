//! Time stamps of a host's clock in, frame times out.

use std::time::Duration;

/// Turns the time stamps of a host's clock into the frame times that
/// [`Simulation::advance`](crate::Simulation::advance) takes, and into the [real time](crate::Clock::real_time) that
/// [input](crate::InputQueue) is stamped with.
///
/// Use it if your time stamps come from an event loop, a recording or a network clock. If a stamp is before that of the
/// last frame, because the clock was set back, that frame takes no time, and the next one continues from there.
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
/// The timer's time is the real time of the [`Clock`](crate::Clock) whose frames it times: the sum of all frame times.
/// This requires that you pass every frame time to that clock. With a [`FrameFilter`](crate::FrameFilter) in between,
/// the two differ by the time that the filter carries.
///
/// The real time of a new [`Simulation`](crate::Simulation) begins at zero. Create a new timer with it, or all stamps
/// will be in the future. If a state is [assigned](crate::Physics#the-state-as-a-value), real time is not affected, so
/// keep the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FrameTimer {
    last: Duration,
    now: Duration,
    /// The start and end of the last gap that was left out, by the host's clock. It ends at `last` or before.
    gap: (Duration, Duration),
}

impl FrameTimer {
    /// Creates a timer whose first frame began at `start` on the host's clock, for a simulation whose real time is
    /// zero.
    #[must_use]
    pub fn new(start: Duration) -> Self {
        Self {
            last: start,
            now: Duration::ZERO,
            gap: (start, start),
        }
    }

    /// Returns the time since the last frame, or zero if the host's clock was set back.
    pub fn frame(&mut self, host: Duration) -> Duration {
        let elapsed = host.saturating_sub(self.last);
        self.now = self.now.saturating_add(elapsed);
        self.go_to(host);
        elapsed
    }

    /// Leaves out the host's time since the last frame. The next frame is counted from `host`.
    ///
    /// Use it for time that you do not want to simulate: a hidden browser tab, a suspended phone, a laptop that slept.
    /// Call it once the game is visible again, before the next frame. Real time stops in between, and a
    /// [`stamp`](Self::stamp) from that interval counts as the present.
    ///
    /// ```
    /// # use evenstep::{FrameTimer, Simulation};
    /// # use std::time::Duration;
    /// # let ms = Duration::from_millis;
    /// let (mut simulation, mut timer) = (Simulation::default(), FrameTimer::new(ms(0)));
    /// simulation.advance(timer.frame(ms(100)), |_, _| ());
    /// // The tab is hidden for a minute.
    /// timer.resume(ms(60_100));
    /// assert_eq!(timer.stamp(ms(30_000)), ms(100)); // a click in between
    /// let frame = simulation.advance(timer.frame(ms(60_120)), |_, _| ());
    /// assert_eq!((frame.steps, frame.dropped.frame_time), (1, ms(0)));
    /// assert_eq!(simulation.clock().real_time(), ms(120));
    /// ```
    ///
    /// Without this call the minute counts as one frame. [`max_frame_time`](crate::ClockSettings::set_max_frame_time),
    /// 0.25 s by default, then limits the simulated part. Its steps are run. The rest is reported as
    /// [dropped](crate::Frame::dropped), and real time advances by the whole minute. Leave that limit for unexpected
    /// hitches.
    pub fn resume(&mut self, host: Duration) {
        let last = self.last;
        self.go_to(host);
        // Without a frame in between, the gap is the same one.
        let begin = if self.gap.1 == last {
            self.gap.0
        } else {
            last.min(host)
        };
        self.gap = (begin, host);
    }

    /// Converts a moment of the host's clock to [real time](crate::Clock::real_time), for
    /// [`InputQueue::push`](crate::InputQueue::push).
    #[must_use]
    pub fn stamp(&self, host: Duration) -> Duration {
        let later = host.saturating_sub(self.last);
        let earlier = self.last.saturating_sub(host);
        let left_out = self.gap.1.saturating_sub(host.max(self.gap.0));
        let earlier = earlier.saturating_sub(left_out);
        self.now.saturating_add(later).saturating_sub(earlier)
    }

    /// Counts from `host`. A gap from before the clock was set back belongs to the old clock and is forgotten.
    fn go_to(&mut self, host: Duration) {
        if host < self.last {
            self.gap = (host, host);
        }
        self.last = host;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Returns a timer at 20 ms of real time, after a gap from 1,000 to 5,000 ms of the host's time.
    fn resumed() -> FrameTimer {
        let mut timer = FrameTimer::new(MS(980));
        timer.frame(MS(1_000));
        timer.resume(MS(5_000));
        timer
    }

    fn stamps(timer: &FrameTimer, hosts: &[u64]) -> Vec<u128> {
        let stamps = hosts.iter().map(|host| timer.stamp(MS(*host)).as_millis());
        stamps.collect()
    }

    #[test]
    fn a_gap_left_out_by_resume_takes_no_real_time() {
        let mut timer = resumed();
        assert_eq!(
            stamps(&timer, &[990, 1_000, 3_000, 5_000, 5_003]),
            [10, 20, 20, 20, 23]
        );
        assert_eq!(timer.frame(MS(5_016)), MS(16));
        // The stamps stay the same later, while input from that time may still arrive.
        assert_eq!(
            stamps(&timer, &[990, 1_000, 3_000, 5_000, 5_003, 5_016]),
            [10, 20, 20, 20, 23, 36]
        );
    }

    #[test]
    fn consecutive_gaps_without_a_frame_count_as_one() {
        let mut timer = resumed();
        timer.resume(MS(5_000));
        assert_eq!(timer, resumed());
        timer.resume(MS(7_000));
        assert_eq!(
            stamps(&timer, &[990, 1_000, 3_000, 6_000, 7_000]),
            [10, 20, 20, 20, 20]
        );
        assert_eq!(timer.frame(MS(7_016)), MS(16));
        timer.resume(MS(9_000));
        assert_eq!(stamps(&timer, &[7_010, 8_000, 9_001]), [30, 36, 37]);
    }

    #[test]
    fn setting_the_host_clock_back_discards_the_gap() {
        for set_back in [FrameTimer::resume, |timer: &mut FrameTimer, host| {
            assert_eq!(timer.frame(host), MS(0));
        }] {
            let mut timer = resumed();
            set_back(&mut timer, MS(3_000));
            assert_eq!(stamps(&timer, &[2_990, 3_000, 3_004]), [10, 20, 24]);
            assert_eq!(timer.frame(MS(3_016)), MS(16));
        }
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn real_time_is_the_sum_of_all_frame_times(
            calls in prop::collection::vec((any::<bool>(), 0..10_000u64, 0..10_000u64), 1..100),
        ) {
            let mut timer = FrameTimer::new(MS(5_000));
            let mut sum = MS(0);
            for (is_frame, host, stamped) in calls {
                let before = timer.stamp(MS(host));
                if is_frame {
                    sum += timer.frame(MS(host));
                    prop_assert!(sum >= before);
                } else {
                    timer.resume(MS(host));
                }
                prop_assert_eq!(timer.now, sum);
                prop_assert_eq!(timer.stamp(MS(host)), sum);
                // Stamps keep the order of events, and advance no faster than the clock.
                let two = [stamped, stamped + 7].map(|host| timer.stamp(MS(host)));
                prop_assert!(two[0] <= two[1] && two[1] - two[0] <= MS(7));
                prop_assert!(timer.gap.0 <= timer.gap.1 && timer.gap.1 <= timer.last);
            }
        }
    }
}
