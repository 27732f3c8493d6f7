//! Time stamps of a host's clock in, frame times out.

use std::time::Duration;

/// The longest step back of a host's clock that is ignored. Two clocks that are read in turn differ by less, even if a
/// browser rounds them to 100 ms, and programs that keep the time set no clock back by less than 128 ms. With a larger
/// value, the game would stop longer, and with a smaller one, a clock that goes back for a moment would count that time
/// twice.
const SET_BACK: Duration = Duration::from_millis(250);

/// A converter of a host's time stamps to frame times for [`Simulation::advance`](crate::Simulation::advance), and to
/// the [real time](crate::time::Clock::real_time) of [input](crate::input::InputQueue).
///
/// ```
/// use evenstep::{Simulation, time::FrameTimer};
///
/// let ms = std::time::Duration::from_millis;
/// let simulation = Simulation::default();
/// let mut timer = FrameTimer::new(ms(1_000), simulation.clock().real_time());
/// assert_eq!(timer.frame(ms(1_016)), ms(16));
/// assert_eq!(timer.stamp(ms(1_020)), ms(20)); // input between two frames, in real time
/// assert_eq!(timer.frame(ms(1_010)), ms(0)); // the clock goes back for a moment
/// assert_eq!(timer.frame(ms(1_032)), ms(16));
/// assert_eq!(timer.frame(ms(500)), ms(0)); // the clock was set back
/// assert_eq!(timer.frame(ms(516)), ms(16));
/// ```
///
/// If your graphics API reports when frames are displayed, pass the time at which this one will be: that of the last
/// report, plus a refresh period for each frame since then.
///
/// # Clocks that go back
/// A frame whose stamp is earlier than the previous one takes no time. A stamp more than 0.25 s before the latest one
/// means that the clock was set back, and the next frame continues from there.
///
/// # Real time
/// Pass every frame time to the [`Clock`](crate::time::Clock), so that the timer's time is its real time. Create a new
/// timer for each new or loaded [`Simulation`](crate::Simulation), and after `Runner::stop`, but not for another state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FrameTimer {
    latest: Duration,
    /// The real time at `latest`.
    now: Duration,
    /// The last gap that was left out, by the host's clock. It ends at `latest` or before.
    gap: (Duration, Duration),
}

impl FrameTimer {
    /// Creates a timer whose first frame begins at `start` on the host's clock, for a simulation whose [real
    /// time](crate::time::Clock::real_time) is `real_time`: zero if it is new.
    #[must_use]
    pub fn new(start: Duration, real_time: Duration) -> Self {
        Self {
            latest: start,
            now: real_time,
            // There is no gap yet.
            gap: (start, start),
        }
    }

    /// Returns the time since the last frame, or zero if the clock [went back](Self#clocks-that-go-back).
    pub fn frame(&mut self, host: Duration) -> Duration {
        let elapsed = self.go_to(host);
        self.now = self.now.saturating_add(elapsed);
        elapsed
    }

    /// Leaves out the host's time since the last frame, and counts the next frame from `host`.
    ///
    /// Call it before the next frame after a browser tab was hidden or a phone suspended. Real time stops in between.
    pub fn resume(&mut self, host: Duration) {
        let last_frame = self.latest;
        if self.go_to(host).is_zero() {
            // There is no time to leave out.
            return;
        }
        let (gap_start, gap_end) = &mut self.gap;
        // Another call without a frame in between extends the same gap.
        if *gap_end < last_frame {
            *gap_start = last_frame;
        }
        *gap_end = self.latest;
    }

    /// Converts a moment of the host's clock to [real time](crate::time::Clock::real_time), for
    /// [`InputQueue::push`](crate::input::InputQueue::push). It knows only the last time that [`resume`](Self::resume)
    /// left out, so convert a moment before the next call of that.
    #[must_use]
    pub fn stamp(&self, host: Duration) -> Duration {
        let (gap_start, gap_end) = self.gap;
        let after_latest = host.saturating_sub(self.latest);
        let before_latest = self.latest.saturating_sub(host);
        // The part of the gap after `host` is no real time.
        let gap = gap_end.saturating_sub(host.max(gap_start));
        let before_latest = before_latest.saturating_sub(gap);
        // `now` is the real time at `latest`.
        self.now
            .saturating_add(after_latest)
            .saturating_sub(before_latest)
    }

    /// Makes `host` the latest time stamp, unless the clock went back for a moment. Returns the time since the previous
    /// one, or zero if the clock went back.
    fn go_to(&mut self, host: Duration) -> Duration {
        let back = self.latest.saturating_sub(host);
        if back > SET_BACK {
            // The clock was set back, and the next frame continues from there. A gap by the old clock means nothing.
            self.latest = host;
            self.gap = (host, host);
        }
        let later = host.saturating_sub(self.latest);
        self.latest += later;
        later
    }
}

/// The duration of a frame, and whether your game or a thread drives it.
///
/// A [`Duration`] converts to the time of a frame that your game drives. A [`Runner`](crate::threads::Runner) runs a
/// frame for each step, to which the limits of the [clock](crate::time::ClockSettings) do not apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FrameTime {
    duration: Duration,
    driver: Driver,
    /// How much later than its end the frame runs.
    late: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) enum Driver {
    Game,
    /// A thread that begins a frame when a step is due.
    Step,
}

impl FrameTime {
    /// Returns the time of a frame that a thread runs for one step.
    pub(crate) fn for_one_step(duration: Duration) -> Self {
        Self {
            driver: Driver::Step,
            ..duration.into()
        }
    }

    pub(crate) fn late_by(self, late: Duration) -> Self {
        Self { late, ..self }
    }

    /// Returns how long the frame took.
    #[must_use]
    pub fn duration(self) -> Duration {
        self.duration
    }

    pub(crate) fn driver(self) -> Driver {
        self.driver
    }

    pub(crate) fn late(self) -> Duration {
        self.late
    }
}

impl From<Duration> for FrameTime {
    fn from(duration: Duration) -> Self {
        Self {
            duration,
            driver: Driver::Game,
            late: Duration::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn timer_from(start: Duration) -> FrameTimer {
        FrameTimer::new(start, Duration::ZERO)
    }

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// Returns a timer at 20 ms of real time, after a gap from 1,000 to 5,000 ms of the host's time.
    fn resumed() -> FrameTimer {
        let mut timer = timer_from(MS(980));
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
    fn a_clock_that_goes_back_for_a_moment_counts_no_time_twice() {
        let mut timer = timer_from(MS(1_000));
        let hosts = [1_016, 1_010, 1_032, 1_031, 1_031, 1_040];
        let times = hosts.map(|host| timer.frame(MS(host)).as_millis());
        assert_eq!(times, [16, 0, 16, 0, 0, 8]);
        // A minute with a step back of 6 ms after each frame of 16 ms.
        let mut timer = timer_from(MS(0));
        let minute = (1..=3_750u64).flat_map(|frame| [16 * frame, 16 * frame - 6]);
        let times = minute.map(|host| timer.frame(MS(host)));
        assert_eq!(times.sum::<Duration>(), MS(60_000));
    }

    #[test]
    fn stamps_of_input_are_the_same_before_and_after_the_clock_goes_back_for_a_moment() {
        let mut timer = timer_from(MS(1_000));
        let hosts = [1_005, 1_010, 1_013, 1_016, 1_020];
        for frame in [1_004, 1_016, 1_010, 1_014, 1_032, 1_020] {
            timer.frame(MS(frame));
            assert_eq!(stamps(&timer, &hosts), [5, 10, 13, 16, 20], "{frame}");
        }
    }

    #[test]
    fn a_clock_set_back_continues_from_its_new_stamp() {
        const HOUR: u64 = 3_600_000;
        let mut timer = timer_from(MS(HOUR));
        timer.frame(MS(HOUR + 16));
        assert_eq!(timer.frame(MS(20)), MS(0));
        assert_eq!(stamps(&timer, &[0, 13, 20, 27]), [0, 9, 16, 23]);
        assert_eq!(timer.frame(MS(36)), MS(16));
        assert_eq!(timer.now, MS(32));
        // The last step back that is ignored, and the first that counts as set back.
        let mut timer = timer_from(MS(1_000));
        assert_eq!(timer.frame(MS(750)), MS(0));
        assert_eq!(timer.frame(MS(1_016)), MS(16));
        assert_eq!(timer.frame(MS(765)), MS(0));
        assert_eq!(timer.frame(MS(775)), MS(10));
        // Small steps back add up, because each counts from the latest stamp.
        let mut timer = timer_from(MS(1_000));
        let times = [900, 800, 700, 716].map(|host| timer.frame(MS(host)));
        assert_eq!(times, [0, 0, 0, 16].map(MS));
    }

    #[test]
    fn resume_before_the_latest_stamp_leaves_nothing_out_and_keeps_the_gap() {
        for host in [5_010, 5_016] {
            let mut timer = resumed();
            timer.frame(MS(5_016));
            timer.resume(MS(host));
            assert_eq!(stamps(&timer, &[990, 3_000, 5_010]), [10, 20, 30]);
            assert_eq!(timer.frame(MS(5_032)), MS(16));
        }
        // The clock goes back for a moment right after a gap.
        let mut timer = resumed();
        assert_eq!(timer.frame(MS(4_990)), MS(0));
        assert_eq!(stamps(&timer, &[1_000, 4_990, 5_003]), [20, 20, 23]);
        assert_eq!(timer.frame(MS(5_016)), MS(16));
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

    /// A plain list of the milliseconds of the host's clock that count as real time.
    #[derive(Default)]
    struct Model {
        counted: Vec<u64>,
        real_time: u64,
        latest: u64,
        /// The first stamp whose real time the timer still knows: the start of the last gap, or of the clock.
        known: u64,
    }

    impl Model {
        fn call(&mut self, is_frame: bool, host: u64) {
            if host + 250 < self.latest {
                *self = Self {
                    real_time: self.real_time,
                    latest: host,
                    known: host,
                    ..Self::default()
                };
            }
            if is_frame {
                self.counted.extend(self.latest..host);
                self.real_time += host.saturating_sub(self.latest);
            } else if self.latest < host && self.counted.last().is_some_and(|ms| *ms >= self.known)
            {
                self.known = self.latest;
            }
            self.latest = self.latest.max(host);
        }

        fn stamp(&self, host: u64) -> u64 {
            let since = self.counted.iter().filter(|ms| **ms >= host).count();
            self.real_time + host.saturating_sub(self.latest) - since as u64
        }
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn real_time_is_the_sum_of_all_frame_times(
            calls in prop::collection::vec((
                any::<bool>(),
                prop_oneof![4 => 0..40i64, 4 => -60..0i64, 1 => -300..300i64, 1 => -9_000..9_000i64],
                -1_000..1_000i64,
            ), 1..100),
        ) {
            let mut timer = timer_from(MS(5_000));
            let mut model = Model { latest: 5_000, known: 5_000, ..Model::default() };
            let (mut sum, mut host) = (MS(0), 5_000u64);
            for (is_frame, later, stamped) in calls {
                host = host.saturating_add_signed(later);
                model.call(is_frame, host);
                let before = timer.stamp(MS(host));
                if is_frame {
                    sum += timer.frame(MS(host));
                    prop_assert!(sum >= before);
                } else {
                    timer.resume(MS(host));
                }
                prop_assert_eq!((timer.now, sum), (sum, MS(model.real_time)));
                prop_assert!(timer.stamp(MS(host)) <= sum);
                // Stamps keep the order of events, and advance no faster than the clock.
                let stamped = host.saturating_add_signed(stamped);
                let two = [stamped, stamped + 7].map(|host| timer.stamp(MS(host)));
                prop_assert!(two[0] <= two[1] && two[1] - two[0] <= MS(7));
                if stamped >= model.known {
                    prop_assert_eq!(two[0], MS(model.stamp(stamped)));
                }
                prop_assert!(timer.gap.0 <= timer.gap.1 && timer.gap.1 <= timer.latest);
            }
        }
    }
}
