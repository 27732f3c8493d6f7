//! Chooses the filter that fits the last frames.

use std::collections::VecDeque;

use super::averaging::Snapping;
use super::averaging::{Averaging, bounded, typical};

/// The number of frames by which the filter is chosen.
const FRAMES: usize = 64;
/// The number of frames before a filter is chosen for the first time.
const FEWEST: usize = 32;
/// The number of frames after which the filter is chosen again.
const CHOOSE_EVERY: usize = 16;
/// If more than one in this many frames took no time, the timer counts as coarser than the display.
const ZEROS: usize = 20;
/// At most one in this many frames may fit no whole number of periods.
const MISFITS: usize = 8;
/// How far off a whole number of periods a frame may be, in nanoseconds, for the rounding and jitter of browsers.
const TOLERANCE: i128 = 2_000_000;
/// While no filter fits, each frame gets one part in this many of the waiting time.
const CORRECTED_PARTS: i128 = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Automatic {
    /// The measured times of the last frames, oldest first.
    last: VecDeque<i128>,
    frames_since_choice: usize,
    fit: Fit,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Fit {
    /// The frames have any length, or are too few to tell.
    #[default]
    Nothing,
    Period(Snapping),
    CoarseTimer(Averaging),
}

impl Automatic {
    /// Returns the filtered time of this frame out of `waiting`: the measured time `elapsed`, and the time of earlier
    /// frames that was not returned.
    pub(super) fn filter(&mut self, elapsed: i128, waiting: i128) -> i128 {
        if self.last.len() == FRAMES {
            self.last.pop_front();
        }
        self.last.push_back(elapsed);
        self.frames_since_choice += 1;
        if self.frames_since_choice >= CHOOSE_EVERY && self.last.len() >= FEWEST {
            self.frames_since_choice = 0;
            self.choose_fit();
        }
        match &mut self.fit {
            Fit::Nothing if waiting == elapsed => elapsed,
            Fit::Nothing => {
                // An earlier fit returned too much or too little. Each frame makes up for a part of that, within
                // bounds, because the difference may be longer than this frame if the earlier frames were longer.
                let corrected = elapsed + (waiting - elapsed) / CORRECTED_PARTS;
                bounded(corrected, waiting, self.typical())
            }
            Fit::Period(snapping) => snapping.snap(elapsed, waiting),
            Fit::CoarseTimer(averaging) => averaging.average(elapsed, waiting),
        }
    }

    /// Chooses the filter that fits the last frames. One that still fits keeps its state.
    fn choose_fit(&mut self) {
        let zeros = self.last.iter().filter(|time| **time == 0).count();
        // If many frames took no time, the timer is coarser than the display, so only an average is even.
        if zeros * ZEROS > self.last.len() {
            if !matches!(self.fit, Fit::CoarseTimer(_)) {
                // `filter` passes the newest frame to the average after this.
                let earlier = self.last.len() - 1;
                let earlier = self.last.iter().copied().take(earlier);
                self.fit = Fit::CoarseTimer(Averaging::after(FRAMES, earlier));
            }
            return;
        }
        match (self.period(), &mut self.fit) {
            (None, fit) => *fit = Fit::Nothing,
            (Some(period), Fit::Period(snapping)) => {
                snapping.set_period(period, tolerance(period));
            }
            (Some(period), fit) => {
                *fit = Fit::Period(Snapping::new(period, tolerance(period)));
            }
        }
    }

    /// Returns the median of the last frames that took any time, or 0.
    fn typical(&self) -> i128 {
        let mut sorted: Vec<_> = self.last.iter().copied().filter(|time| *time > 0).collect();
        sorted.sort_unstable();
        typical(&sorted)
    }

    /// Returns the period of the display, or `None` if too many of the last frames are no whole number of periods.
    fn period(&self) -> Option<i128> {
        let mut sorted: Vec<_> = self.last.iter().copied().collect();
        sorted.sort_unstable();
        let median = sorted[sorted.len() / 2];
        // The period is the mean of all frames that differ from the median by less than half of it.
        let of_one_period = sorted
            .iter()
            .filter(|time| (**time - median).abs() * 2 < median);
        let (count, sum) = of_one_period.fold((0, 0), |(count, sum), time| (count + 1, sum + time));
        // If the median is zero, no frame is counted, and there is no period.
        let period = i128::checked_div(sum, count).filter(|period| *period > 0)?;
        let misfits = self.last.iter().filter(|time| {
            // The time, rounded to a whole number of periods, at least one.
            let whole = ((*time + period / 2) / period).max(1) * period;
            (*time - whole).abs() > tolerance(period)
        });
        (misfits.count() * MISFITS <= self.last.len()).then_some(period)
    }
}

fn tolerance(period: i128) -> i128 {
    TOLERANCE.min(period / 4)
}

#[cfg(test)]
mod tests {
    use crate::time::FrameFilter;
    use std::time::Duration;

    const US: fn(u64) -> Duration = Duration::from_micros;

    /// Returns the last filtered times of one second of frames of that length, whose timer is read up to 0.5 ms late.
    fn last_times(filter: &mut FrameFilter, period: u64) -> Vec<u64> {
        let lateness = |frame: u64| frame * 7_919 % 500;
        let frames = 1_000_000 / period;
        let times = (1..=frames).map(|frame| period + lateness(frame) - lateness(frame - 1));
        let filtered: Vec<_> = times.map(|time| filter.filter(US(time))).collect();
        let last = &filtered[filtered.len() - 10..];
        let micros = |time: &Duration| u64::try_from(time.as_micros()).unwrap();
        last.iter().map(micros).collect()
    }

    #[test]
    fn the_automatic_filter_adapts_to_a_new_display_within_three_seconds() {
        let mut filter = FrameFilter::automatic();
        for period in [16_667, 6_944, 33_333, 8_333, 16_667] {
            last_times(&mut filter, period);
            last_times(&mut filter, period);
            for time in last_times(&mut filter, period) {
                assert!(time.abs_diff(period) < 40, "{time} us of {period} us");
            }
        }
    }

    #[test]
    fn the_automatic_filter_delays_irregular_frames_by_less_than_1_ms() {
        let mut filter = FrameFilter::automatic();
        let (mut taken, mut given) = (Duration::ZERO, Duration::ZERO);
        for frame in 0..500 {
            let time = US(8_000 + frame * 7_919 % 15_000);
            taken += time;
            let filtered = filter.filter(time);
            given += filtered;
            assert!(
                filtered.abs_diff(time) < US(1_000),
                "{filtered:?} of {time:?}"
            );
            assert!(given.abs_diff(taken) < US(1_000));
        }
    }
}
