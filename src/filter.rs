//! Evens out the frame times of a noisy timer, without losing time.

use std::collections::VecDeque;
use std::time::Duration;

use crate::rate::duration_from_nanos;

/// Evens out frame times before [`Simulation::advance`](crate::Simulation::advance) gets them, for
/// hosts whose timer is noisier than their display.
///
/// A display at 60 Hz shows frames 16.67 ms apart, whatever the timer of a busy machine says: motion by the
/// timer's times stutters. A filter gives out steadier times and carries the difference, so that in the long
/// run no time is lost or made up. Use it where jitter was seen, not by default: it
/// answers to a change of the frame rate a few frames late.
///
/// ```
/// use evenstep::FrameFilter;
/// use std::time::Duration;
///
/// let mut filter = FrameFilter::snapping(Duration::from_micros(16_667), Duration::from_millis(2))?;
/// let out = [16_100, 17_300, 16_600, 33_400].map(|us| filter.filter(Duration::from_micros(us)));
/// assert_eq!(out.map(|time| time.as_micros()), [16_667, 16_667, 16_667, 33_334]);
/// # Ok::<(), evenstep::FilterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameFilter {
    kind: Kind,
    /// Time taken in and not given out yet, in nanoseconds; negative if more was given out.
    carry: i128,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Snapping { period: i128, tolerance: i128 },
    Averaging { frames: usize, last: VecDeque<i128> },
}

/// Why a [`FrameFilter`] cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FilterError {
    /// A display with a period of zero.
    #[error("the period of the display is zero")]
    ZeroPeriod,
    /// A tolerance of half a period or more: every time would snap to some multiple.
    #[error("the tolerance is not below half the period of the display")]
    Tolerance,
    /// An average over no frames.
    #[error("an average over no frames")]
    NoFrames,
}

impl FrameFilter {
    /// Snaps times to whole multiples of a display's `period`, if they are within `tolerance` of one.
    /// Others pass as they are, with what was carried.
    ///
    /// # Errors
    /// [`FilterError::ZeroPeriod`], and [`FilterError::Tolerance`] if the tolerance is half a period or more.
    pub fn snapping(period: Duration, tolerance: Duration) -> Result<Self, FilterError> {
        let (period, tolerance) = (nanos(period), nanos(tolerance));
        if period == 0 {
            return Err(FilterError::ZeroPeriod);
        }
        if tolerance * 2 >= period {
            return Err(FilterError::Tolerance);
        }
        Ok(Self::new(Kind::Snapping { period, tolerance }))
    }

    /// Averages over the last `frames` frames, and pays back what that leaves over by a part in
    /// each frame.
    ///
    /// # Errors
    /// [`FilterError::NoFrames`] if `frames` is zero.
    pub fn averaging(frames: usize) -> Result<Self, FilterError> {
        if frames == 0 {
            return Err(FilterError::NoFrames);
        }
        let last = VecDeque::with_capacity(frames);
        Ok(Self::new(Kind::Averaging { frames, last }))
    }

    fn new(kind: Kind) -> Self {
        Self { kind, carry: 0 }
    }

    /// The frame time to go by, for a frame that took `elapsed` by the timer.
    pub fn filter(&mut self, elapsed: Duration) -> Duration {
        let elapsed = nanos(elapsed);
        self.carry += elapsed;
        let out = match &mut self.kind {
            Kind::Snapping { period, tolerance } => {
                let multiple = (self.carry + *period / 2).div_euclid(*period).max(0) * *period;
                let snaps = multiple > 0 && (self.carry - multiple).abs() <= *tolerance;
                if snaps { multiple } else { self.carry }
            }
            Kind::Averaging { frames, last } => {
                if last.len() == *frames {
                    last.pop_front();
                }
                last.push_back(elapsed);
                let count = i128::try_from(last.len()).unwrap_or(i128::MAX);
                let average = last.iter().sum::<i128>() / count;
                average + (self.carry - average) / count
            }
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

    proptest! {
        #[test]
        fn no_time_is_lost(
            times in prop::collection::vec(0..100_000u64, 1..300),
            frames in 1..10usize,
            tolerance in 0..8_000u64,
        ) {
            let filters = [
                FrameFilter::snapping(US(16_667), US(tolerance)).unwrap(),
                FrameFilter::averaging(frames).unwrap(),
            ];
            for mut filter in filters {
                let (mut taken, mut given) = (Duration::ZERO, Duration::ZERO);
                for &time in &times {
                    taken += US(time);
                    given += filter.filter(US(time));
                    let off = nanos(taken) - nanos(given);
                    prop_assert_eq!(off, filter.carry);
                    // At most the tolerance, or what a few of the longest frames may be off.
                    prop_assert!(off.abs() <= 100_000_000 * i128::try_from(frames).unwrap().max(1));
                }
                // With steady frames the rest is paid back.
                for _ in 0..2_000 {
                    filter.filter(US(16_667));
                }
                prop_assert!(filter.carry.abs() <= 8_000_000);
                if matches!(filter.kind, Kind::Averaging { .. }) {
                    prop_assert!(filter.carry.abs() < 20, "{}", filter.carry);
                }
            }
        }
    }

    #[test]
    fn a_hitch_passes_a_snapping_filter_as_it_is() {
        let mut filter = FrameFilter::snapping(US(10_000), US(1_000)).unwrap();
        assert_eq!(filter.filter(US(10_900)), US(10_000));
        assert_eq!(
            filter.filter(US(44_000)),
            US(44_900),
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
        let wide = FrameFilter::snapping(US(10), US(5));
        assert_eq!(wide, Err(FilterError::Tolerance));
        assert_eq!(FrameFilter::averaging(0), Err(FilterError::NoFrames));
        let mut largest = FrameFilter::averaging(3).unwrap();
        assert_eq!(largest.filter(Duration::MAX), Duration::MAX);
    }
}
