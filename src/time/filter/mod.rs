//! Evens out the frame times of a noisy timer, without losing time.

// The filter that fits the frames.
mod automatic;
// Frame times averaged, or snapped to whole periods of a display.
mod averaging;

use std::time::Duration;

use crate::time::rate::duration_from_nanos;
use automatic::Automatic;
use averaging::{Averaging, Snapping};

/// A filter of frame times for [`Simulation::advance`](crate::Simulation::advance), for a timer that is noisier than
/// the display.
///
/// It carries the difference over, so that no time is lost or added in the long run. Use it where you see jitter, not
/// by default, because it adapts late to a change of the frame rate.
///
/// ```
/// use evenstep::time::FrameFilter;
/// use std::time::Duration;
///
/// let mut filter = FrameFilter::snapping(Duration::from_micros(16_667), Duration::from_millis(2))?;
/// let mut snap = |us| filter.filter(Duration::from_micros(us)).as_micros();
/// // Jitter, and a frame that was dropped.
/// assert_eq!([16_100, 17_300, 16_600, 33_400].map(&mut snap), [16_667, 16_667, 16_667, 33_334]);
/// // The timer was read late once.
/// assert_eq!([31_464, 2_482, 15_312].map(&mut snap), [16_667; 3]);
/// # Ok::<(), evenstep::time::FilterError>(())
/// ```
///
/// Take the time right after the call that presents a frame, which waits for the display. For browsers, which round
/// time stamps, use [`automatic`](Self::automatic).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameFilter {
    method: Method,
    /// Time taken in but not yet returned, in nanoseconds. Negative if more was returned than taken in.
    carry: i128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Method {
    Snapping(Snapping),
    Averaging(Averaging),
    Automatic(Automatic),
}

/// Why a [`FrameFilter`] cannot be created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// The display's period is zero.
    #[error("the display's period is zero: give the time between its frames, 16.667 ms at 60 Hz")]
    ZeroPeriod,
    /// The tolerance is half a period or more.
    #[error(
        "the tolerance {tolerance:?} is too large for the period {period:?}: give less than half the period"
    )]
    Tolerance {
        /// The given tolerance.
        tolerance: Duration,
        /// The display's period.
        period: Duration,
    },
    /// The average is over no frames.
    #[error("the average is over 0 frames: give 1 or more")]
    NoFrames,
}

impl FrameFilter {
    /// Creates a filter that snaps times to whole multiples of a display's `period`, for displays with a fixed refresh
    /// rate.
    ///
    /// At 60 Hz, 16.9 ms become 16.7 ms, and the other 0.2 ms are added to the next time, so the sum of all times is
    /// right within a period. A time that is further than `tolerance` from whole periods is returned as measured, with
    /// the time left before. But after whole periods, a time between one and two periods is one period, measured late.
    ///
    /// # Errors
    /// [`FilterError::ZeroPeriod`], and [`FilterError::Tolerance`] if the tolerance is half a period or more.
    pub fn snapping(period: Duration, tolerance: Duration) -> Result<Self, FilterError> {
        if period.is_zero() {
            return Err(FilterError::ZeroPeriod);
        }
        if nanos(tolerance) * 2 >= nanos(period) {
            return Err(FilterError::Tolerance { tolerance, period });
        }
        let (period, tolerance) = (nanos(period), nanos(tolerance));
        Ok(Self::new(Method::Snapping(Snapping::new(
            period, tolerance,
        ))))
    }

    /// Creates a filter that adapts to the timer and the display within three seconds, for games that do not know their
    /// display.
    ///
    /// If most frames are whole periods of a display, it [snaps](Self::snapping). If the timer is coarser than the
    /// display, it [averages](Self::averaging). Otherwise, it returns the measured times.
    #[must_use]
    pub fn automatic() -> Self {
        Self::new(Method::Automatic(Automatic::default()))
    }

    /// Creates a filter that averages over the last `frames` frames, at 32 bytes each.
    ///
    /// The sum of the filtered times is ahead of the sum of the frame times by at most one typical frame, and behind by
    /// at most two, while the frame rate stays. A typical frame is the median of the frames that took any time.
    ///
    /// # Errors
    /// [`FilterError::NoFrames`]
    pub fn averaging(frames: usize) -> Result<Self, FilterError> {
        if frames == 0 {
            return Err(FilterError::NoFrames);
        }
        Ok(Self::new(Method::Averaging(Averaging::new(frames))))
    }

    fn new(method: Method) -> Self {
        Self { method, carry: 0 }
    }

    /// Returns the filtered time of a frame that took `elapsed` according to the timer.
    pub fn filter(&mut self, elapsed: Duration) -> Duration {
        let elapsed = nanos(elapsed);
        // The carry has all time that was measured and not returned, so no time is lost.
        self.carry += elapsed;
        let out = match &mut self.method {
            Method::Snapping(snapping) => snapping.snap(elapsed, self.carry),
            Method::Averaging(averaging) => averaging.average(elapsed, self.carry),
            Method::Automatic(automatic) => automatic.filter(elapsed, self.carry),
        };
        let out = out.max(0);
        self.carry -= out;
        duration_from_nanos(u128::try_from(out).unwrap_or(0))
    }
}

fn nanos(time: Duration) -> i128 {
    i128::try_from(time.as_nanos()).unwrap_or(i128::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const US: fn(u64) -> Duration = Duration::from_micros;
    const PERIOD: i128 = 16_667_000;

    fn snapping() -> FrameFilter {
        FrameFilter::snapping(US(16_667), US(2_000)).unwrap()
    }

    fn micros(filter: &mut FrameFilter, times: &[u64]) -> Vec<u128> {
        let out = times.iter().map(|us| filter.filter(US(*us)).as_micros());
        out.collect()
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn no_filter_loses_or_adds_time(
            times in prop::collection::vec(
                prop_oneof![0..100_000u64, 14_000..19_000u64, 28_000..36_000u64],
                1..300,
            ),
            frames in 1..10usize,
            tolerance in 0..8_000u64,
        ) {
            let filters = [
                FrameFilter::snapping(US(16_667), US(tolerance)).unwrap(),
                FrameFilter::averaging(frames).unwrap(),
                FrameFilter::automatic(),
            ];
            for mut filter in filters {
                // The number of averaged frames, if the filter averages, and the time that may remain at the end.
                let (frames, rest) = match &filter.method {
                    Method::Snapping(_) => (None, PERIOD / 20),
                    Method::Averaging(_) => (Some(frames), 20),
                    Method::Automatic(_) => (Some(64), PERIOD / 20),
                };
                let (mut taken, mut given) = (Duration::ZERO, Duration::ZERO);
                for &time in &times {
                    taken += US(time);
                    given += filter.filter(US(time));
                    let off = nanos(taken) - nanos(given);
                    prop_assert_eq!(off, filter.carry);
                    if let Some(frames) = frames {
                        // The total may be off by a few of the longest frames.
                        prop_assert!(off.abs() <= 100_000_000 * i128::try_from(frames).unwrap());
                    } else {
                        prop_assert!((-nanos(US(tolerance))..PERIOD).contains(&off), "{}", off);
                    }
                }
                // Steady frames pay back the rest.
                for _ in 0..2_000 {
                    filter.filter(US(16_667));
                }
                prop_assert!(filter.carry.abs() <= rest, "{}", filter.carry);
            }
        }

        /// The display runs at 60 Hz ± 0.1 %. The timer is read up to 0.6 ms off, and now and then up to 14 ms late.
        /// Some frames are dropped.
        #[test]
        fn late_frames_snap_to_one_period_and_dropped_frames_to_two(
            frames in prop::collection::vec((0..100u32, 0..600u64, 3_000..14_000u64), 100..1_000),
            period in 16_650..16_684u64,
        ) {
            let mut filter = snapping();
            let (mut shown, mut last, mut since_late) = (0, 0, 0);
            for (kind, jitter, lateness) in frames {
                since_late += 1;
                let is_late = kind < 10 && since_late > 5;
                let periods = if kind >= 95 && since_late > 1 { 2 } else { 1 };
                shown += periods * period;
                let read = shown + if is_late { lateness } else { jitter };
                if is_late {
                    since_late = 0;
                }
                let out = nanos(filter.filter(US(read - last)));
                let off = out - i128::from(periods * period * 1_000);
                prop_assert!(off.abs() < 100_000, "{} periods: {}", periods, out);
                last = read;
            }
        }
    }

    #[test]
    fn a_late_frame_and_the_early_next_one_snap_to_one_period_each() {
        let one = 16_667;
        assert_eq!(micros(&mut snapping(), &[31_464, 2_482, 15_312]), [one; 3]);
        assert_eq!(micros(&mut snapping(), &[16_667, 25_000, 8_300]), [one; 3]);
    }

    #[test]
    fn a_dropped_frame_snaps_to_two_periods() {
        for dropped in [32_700, 33_334, 34_000] {
            let out = micros(&mut snapping(), &[16_667, dropped, 16_667]);
            assert_eq!(out[..2], [16_667, 33_334]);
        }
    }

    #[test]
    fn a_late_frame_is_paid_back_even_if_no_early_frame_follows() {
        let mut filter = snapping();
        let out = micros(&mut filter, &[16_667, 31_000, 16_667, 16_667, 16_667]);
        assert_eq!(out[1], 16_667);
        assert!(filter.carry <= 2_000_000, "{out:?}");
    }

    #[test]
    fn frames_that_do_not_fit_the_period_soon_pass_unchanged() {
        for times in [[20_000; 9], [25_000; 9], [13_000; 9], [7_000; 9]] {
            let out = micros(&mut snapping(), &times);
            assert_eq!(out[3..], times.map(u128::from)[3..]);
        }
        // 18 ms are within the tolerance of a period: the display is a different one, and the filter soon follows it.
        let out = micros(&mut snapping(), &[18_000; 9]);
        assert_eq!(out[2..], [18_000; 7]);
    }

    #[test]
    fn a_hitch_passes_a_snapping_filter_with_the_carried_time() {
        let mut filter = FrameFilter::snapping(US(10_000), US(1_000)).unwrap();
        assert_eq!(filter.filter(US(10_400)), US(10_000));
        assert_eq!(
            filter.filter(US(44_000)),
            US(44_400),
            "with the carried time"
        );
        assert_eq!(filter.filter(US(0)), US(0));
    }

    #[test]
    fn averaged_frame_times_are_steadier_than_the_input() {
        let mut filter = FrameFilter::averaging(4).unwrap();
        let out: Vec<Duration> = (0..100u64)
            .map(|i| filter.filter(US(if i % 2 == 0 { 14_000 } else { 18_000 })))
            .collect();
        for time in &out[20..] {
            let off = nanos(*time) - 16_000_000;
            assert!(off.abs() < 1_000_000, "{time:?}");
        }
    }

    #[test]
    fn invalid_filter_settings_are_refused() {
        let zero = FrameFilter::snapping(Duration::ZERO, Duration::ZERO);
        assert_eq!(zero, Err(FilterError::ZeroPeriod));
        let wide = FrameFilter::snapping(US(10), US(5)).unwrap_err();
        assert_eq!(
            wide.to_string(),
            "the tolerance 5µs is too large for the period 10µs: give less than half the period"
        );
        assert_eq!(FrameFilter::averaging(0), Err(FilterError::NoFrames));
    }

    #[test]
    fn maximum_frame_times_and_averages_do_not_overflow() {
        let mut largest = FrameFilter::averaging(3).unwrap();
        assert_eq!(largest.filter(Duration::MAX), Duration::MAX);
        let mut all = FrameFilter::averaging(usize::MAX).unwrap();
        assert_eq!(micros(&mut all, &[10_000, 10_000]), [10_000; 2]);
        let hitch = snapping().filter(Duration::MAX);
        assert!(Duration::MAX - hitch < US(16_667));
    }
}
