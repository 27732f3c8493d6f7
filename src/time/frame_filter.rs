//! Evens out the frame times of a noisy timer, without losing time.

use std::time::Duration;

use super::automatic::Automatic;
use super::averaging::Averaging;
use super::rate::duration_from_nanos;
use super::snapping::Snapping;

/// Smooths frame times before they are passed to [`Simulation::advance`](crate::Simulation::advance), for
/// hosts whose timer is noisier than their display.
///
/// A display at 60 Hz shows frames 16.67 ms apart, however noisy the timer of a busy machine is: motion by the
/// timer's times stutters. A filter returns steadier times and carries the difference over, so that in the long
/// run no time is lost or added. Use it where you see jitter, not by default: it follows a change of the
/// frame rate a few frames late.
///
/// ```
/// use evenstep::FrameFilter;
/// use std::time::Duration;
///
/// let mut filter = FrameFilter::snapping(Duration::from_micros(16_667), Duration::from_millis(2))?;
/// let mut snap = |us| filter.filter(Duration::from_micros(us)).as_micros();
///
/// // Jitter, and a frame that was dropped.
/// assert_eq!([16_100, 17_300, 16_600, 33_400].map(&mut snap), [16_667, 16_667, 16_667, 33_334]);
/// // The timer was read late once: the next frame is shorter by as much.
/// assert_eq!([31_464, 2_482, 15_312].map(&mut snap), [16_667; 3]);
/// # Ok::<(), evenstep::FilterError>(())
/// ```
///
/// # When to take the time
/// Right after the call that presents a frame has returned. With vertical sync that call waits for the display, so no
/// other moment of the loop is as close to when a frame is seen. A time taken later in the loop also varies with
/// what the game did in between: input, a step more or less.
///
/// # Browsers
/// Browsers round the time stamps of frames. How uneven that makes the motion of a frame (root mean square), with one
/// frame in a hundred missed:
///
/// | stamps rounded to | without a filter | with one | shown late by, at most |
/// | --- | --- | --- | --- |
/// | 0.1 ms | 0.17 ms | snapping, a tolerance of 2 ms: 0.02 ms | 1.1 ms |
/// | 1 ms | 0.5 ms | snapping, a tolerance of 2 ms: 0.02 ms; at 144 Hz 0.24 ms | 1.5 ms; at 144 Hz a frame |
/// | 16.67 ms, at 60 Hz | 1.1 ms | none is better | |
/// | 16.67 ms, at 75 or 144 Hz | 7 to 8 ms | averaging over 64 frames: 1.4 ms | 35 ms |
/// | 100 ms | 25 to 37 ms | averaging over 64 frames: 2 ms | 77 ms |
///
/// An average spreads a missed frame over all its frames. Where stamps are finer than a frame, that is worse than no
/// filter. A page does not know which browser and display it has: [`automatic`](Self::automatic) finds out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameFilter {
    method: Method,
    /// Time taken in and not given out yet, in nanoseconds; negative if more was given out.
    carry: i128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Method {
    Snapping(Snapping),
    Averaging(Averaging),
    Automatic(Automatic),
}

/// Why a [`FrameFilter`] cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FilterError {
    /// A display with a period of zero.
    #[error(
        "a display with a period of zero: give the time between its frames, 16.667 ms at 60 Hz"
    )]
    ZeroPeriod,
    /// A tolerance of half a period or more: every time would snap to some multiple.
    #[error(
        "a tolerance of {tolerance:?} for a display of {period:?}: give less than half a period"
    )]
    Tolerance {
        /// The tolerance that was given.
        tolerance: Duration,
        /// The display's period.
        period: Duration,
    },
    /// An average over no frames.
    #[error("an average over 0 frames: give 1 or more")]
    NoFrames,
}

impl FrameFilter {
    /// Snaps times to whole multiples of a display's `period`.
    ///
    /// It goes by the sum of all frame times, so jitter does not add up:
    ///
    /// | the sum is | the frame is |
    /// | --- | --- |
    /// | within `tolerance` of a whole number of periods | that many periods |
    /// | between one and two periods on, after frames that fit | one period: the timer was late, and the next frame will be shorter |
    /// | anything else | as long as it was, plus what was carried: a hitch, or a display that is not steady |
    ///
    /// A frame of two or more periods may be short by a twelfth of a period at most; a shorter one counts as
    /// one period, and late. If no shorter frame follows, what is over the tolerance is returned within
    /// two frames.
    ///
    /// A period that is slightly wrong is corrected: of a difference over a twentieth of a period, a part is
    /// added in each frame. What is carried is always less than a period.
    ///
    /// For displays with a fixed rate. A display with a variable refresh rate shows each frame when it is ready;
    /// snapping would only add noise.
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

    /// Finds out what the timer and the display are like, and follows them if they change.
    ///
    /// | the last 64 frames are | it |
    /// | --- | --- |
    /// | whole periods of one display, nearly | snaps to that period, as [`snapping`](Self::snapping) does, with a tolerance of 2 ms or a quarter of the period |
    /// | zero, more than one in twenty of them: the timer is coarser than the display | averages over 64 frames |
    /// | neither, or not yet 32 | as long as they are |
    ///
    /// For a game that does not know its display: in a browser, or on a phone that changes its rate. A change is followed
    /// within two seconds. For a display with a variable refresh rate it does nothing once its frames vary.
    ///
    /// Its bounds are those of [`averaging`](Self::averaging) over 64 frames.
    #[must_use]
    pub fn automatic() -> Self {
        Self::new(Method::Automatic(Automatic::default()))
    }

    /// Averages over the last `frames` frames. What that leaves over is added back, a part in each frame. Keeps 32 bytes
    /// per frame.
    ///
    /// # Bounds
    /// The filtered times together are ahead of the frame times together by at most one typical frame, and behind by at most
    /// two. A typical frame is the median of the last `frames` frames, without those that took no time: 16.7 ms at 60 Hz, and
    /// 100 ms of a timer that is rounded to 100 ms. So most of a hitch is returned at once. If frames suddenly become much
    /// shorter, filtered times are zero until that is so again.
    ///
    /// ```
    /// use evenstep::FrameFilter;
    /// use std::time::Duration;
    ///
    /// let ms = Duration::from_millis;
    /// let mut filter = FrameFilter::averaging(64)?;
    /// for _ in 0..100 {
    ///     filter.filter(ms(10));
    /// }
    /// assert!(filter.filter(ms(250)) > ms(229)); // a hitch
    /// # Ok::<(), evenstep::FilterError>(())
    /// ```
    ///
    /// # Errors
    /// [`FilterError::NoFrames`] if `frames` is zero.
    pub fn averaging(frames: usize) -> Result<Self, FilterError> {
        if frames == 0 {
            return Err(FilterError::NoFrames);
        }
        Ok(Self::new(Method::Averaging(Averaging::new(frames))))
    }

    fn new(method: Method) -> Self {
        Self { method, carry: 0 }
    }

    /// The filtered time of a frame that took `elapsed` by the timer.
    pub fn filter(&mut self, elapsed: Duration) -> Duration {
        let elapsed = nanos(elapsed);
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

/// A duration has less than 2⁹⁴ nanoseconds.
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
        fn no_time_is_lost(
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
                // How many frames it averages over, if it does, and what that may leave over at last.
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
                        // What a few of the longest frames may be off.
                        prop_assert!(off.abs() <= 100_000_000 * i128::try_from(frames).unwrap());
                    } else {
                        prop_assert!((-nanos(US(tolerance))..PERIOD).contains(&off), "{}", off);
                    }
                }
                // With steady frames the rest is paid back.
                for _ in 0..2_000 {
                    filter.filter(US(16_667));
                }
                prop_assert!(filter.carry.abs() <= rest, "{}", filter.carry);
            }
        }

        /// A display at 60 Hz, give or take 0.1 %, whose timer is read up to 0.6 ms off, now and then late
        /// by up to 14 ms; some frames are dropped.
        #[test]
        fn late_frames_are_one_period_and_dropped_ones_two(
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
    fn a_late_frame_and_the_early_one_after_it_are_one_period_each() {
        let one = 16_667;
        assert_eq!(micros(&mut snapping(), &[31_464, 2_482, 15_312]), [one; 3]);
        assert_eq!(micros(&mut snapping(), &[16_667, 25_000, 8_300]), [one; 3]);
    }

    #[test]
    fn a_dropped_frame_is_two_periods() {
        for dropped in [32_700, 33_334, 34_000] {
            let out = micros(&mut snapping(), &[16_667, dropped, 16_667]);
            assert_eq!(out[..2], [16_667, 33_334]);
        }
    }

    #[test]
    fn a_late_frame_without_an_early_one_after_it_is_paid_within_two_frames() {
        let mut filter = snapping();
        let out = micros(&mut filter, &[16_667, 31_000, 16_667, 16_667, 16_667]);
        assert_eq!(out[1], 16_667);
        assert!(filter.carry <= 2_000_000, "{out:?}");
    }

    #[test]
    fn frames_that_do_not_fit_the_display_soon_pass() {
        for times in [[20_000; 9], [25_000; 9], [13_000; 9], [7_000; 9]] {
            let out = micros(&mut snapping(), &times);
            assert_eq!(out[3..], times.map(u128::from)[3..]);
        }
        // 18 ms are within the tolerance of a period: the display is another one, and soon followed.
        let out = micros(&mut snapping(), &[18_000; 9]);
        assert_eq!(out[2..], [18_000; 7]);
    }

    #[test]
    fn a_hitch_passes_a_snapping_filter_as_it_is() {
        let mut filter = FrameFilter::snapping(US(10_000), US(1_000)).unwrap();
        assert_eq!(filter.filter(US(10_400)), US(10_000));
        assert_eq!(
            filter.filter(US(44_000)),
            US(44_400),
            "with what was carried"
        );
        assert_eq!(filter.filter(US(0)), US(0));
    }

    #[test]
    fn an_average_is_steadier_than_what_it_averages() {
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
    fn bad_values_are_errors() {
        let zero = FrameFilter::snapping(Duration::ZERO, Duration::ZERO);
        assert_eq!(zero, Err(FilterError::ZeroPeriod));
        let wide = FrameFilter::snapping(US(10), US(5)).unwrap_err();
        assert_eq!(
            wide.to_string(),
            "a tolerance of 5µs for a display of 10µs: give less than half a period"
        );
        assert_eq!(FrameFilter::averaging(0), Err(FilterError::NoFrames));
    }

    #[test]
    fn the_largest_values_are_good() {
        let mut largest = FrameFilter::averaging(3).unwrap();
        assert_eq!(largest.filter(Duration::MAX), Duration::MAX);
        let mut all = FrameFilter::averaging(usize::MAX).unwrap();
        assert_eq!(micros(&mut all, &[10_000, 10_000]), [10_000; 2]);
        let hitch = snapping().filter(Duration::MAX);
        assert!(Duration::MAX - hitch < US(16_667));
    }
}
