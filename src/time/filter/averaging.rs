//! Frame times, averaged over the last frames.

use std::collections::VecDeque;

/// How far the filtered time may be behind, in typical frames. With a smaller value, motion under a coarse timer would
/// stutter. With a larger one, a hitch would take longer to make up for.
const MOST_BEHIND: i128 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Averaging {
    /// The number of frames in the average.
    frames: usize,
    /// The measured times of the last frames, oldest first.
    last: VecDeque<i128>,
    /// The positive ones of these, in ascending order, for their median.
    sorted: Vec<i128>,
}

impl Averaging {
    pub(super) fn new(frames: usize) -> Self {
        Self {
            frames,
            last: VecDeque::new(),
            sorted: Vec::new(),
        }
    }

    /// Returns an average over `frames` frames that has already measured `times`.
    pub(super) fn after(frames: usize, times: impl IntoIterator<Item = i128>) -> Self {
        let mut averaging = Self::new(frames);
        for time in times {
            averaging.push(time);
        }
        averaging
    }

    /// Returns the filtered time of this frame out of `waiting`, which includes `elapsed`: the average and a part of
    /// the waiting time, [bounded] so that at most [`MOST_BEHIND`] typical frames still wait. A hitch enters the
    /// average only up to that length, because the time beyond it is returned at once.
    pub(super) fn average(&mut self, elapsed: i128, waiting: i128) -> i128 {
        self.push(elapsed);
        let typical = typical(&self.sorted);
        let bound = MOST_BEHIND * typical;
        let sum: i128 = self.last.iter().map(|time| bound.min(*time)).sum();
        let count = i128::try_from(self.last.len()).unwrap_or(i128::MAX);
        let average = sum / count;
        let even = average + (waiting - average) / count;
        bounded(even, waiting, typical)
    }

    /// Adds a frame time to the last ones, in place of the oldest one.
    fn push(&mut self, time: i128) {
        if self.last.len() == self.frames
            && let Some(oldest) = self.last.pop_front()
            && let Ok(index) = self.sorted.binary_search(&oldest)
        {
            self.sorted.remove(index);
        }
        self.last.push_back(time);
        // Frames that took no time are left out of the median, because a coarse timer has many of them.
        if time > 0 {
            let index = self.sorted.partition_point(|it| *it < time);
            self.sorted.insert(index, time);
        }
    }
}

/// Returns the time nearest to `filtered` that keeps the filter at most one typical frame ahead of the `waiting` time,
/// and at most [`MOST_BEHIND`] behind.
pub(super) fn bounded(filtered: i128, waiting: i128, typical: i128) -> i128 {
    filtered.clamp(waiting - MOST_BEHIND * typical, waiting + typical)
}

/// Returns the median of frames that took any time, or 0.
pub(super) fn typical(sorted: &[i128]) -> i128 {
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or(0)
}

/// A frame of several periods may be early by one part in this many of a period. An earlier one is one period that was
/// timed late. With a larger part, late frames would be taken for dropped ones, and with a smaller one, dropped frames
/// for late ones.
const EARLY_PARTS: i128 = 12;

/// A smaller carry than one part in this many of a period is left alone, so that small jitter disappears. With a part
/// as large as that of [`EARLY_PARTS`], dropped frames of a slightly faster display would be taken for late ones.
const QUIET_PARTS: i128 = 20;

/// Each frame gets one part in this many of a larger carry. This follows a display that is a quarter of a percent off
/// its period, and changes no frame by more than 3 %.
const CORRECTED_PARTS: i128 = 32;

/// After a frame that does not fit, this many frames have to fit before a late frame is taken as one period again. On
/// an unsteady display several in a row hardly ever do.
const FITS: u32 = 4;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapping {
    period: i128,
    tolerance: i128,
    /// How many frames have to fit before another late one is taken as one period: 1 after a late frame, [`FITS`] after
    /// a frame that fits no number of periods.
    fits_before_late: u32,
}

impl Snapping {
    pub(super) fn new(period: i128, tolerance: i128) -> Self {
        Self {
            period,
            tolerance,
            fits_before_late: 0,
        }
    }

    pub(super) fn set_period(&mut self, period: i128, tolerance: i128) {
        (self.period, self.tolerance) = (period, tolerance);
    }

    /// Returns the filtered time of this frame out of `waiting`, which includes `elapsed`: whole periods and a small
    /// correction if that fits, and otherwise all of it. The carry is between minus the tolerance and a period.
    pub(super) fn snap(&mut self, elapsed: i128, waiting: i128) -> i128 {
        // A frame may be this much shorter than a number of periods, and still counts as that many. With a longer time,
        // one period that was timed late would count as two.
        let early = (self.period / EARLY_PARTS).min(self.tolerance);
        let periods = ((waiting + early) / self.period).max(1);
        let whole = periods * self.period;
        let carry = waiting - whole;
        let fits = carry.abs() <= self.tolerance;
        // A frame of one period fits, even if time of earlier frames waits.
        let is_regular = periods == 1 && (elapsed - self.period).abs() <= self.tolerance;
        if fits || is_regular {
            let correction = self.correction(carry);
            self.count_fit(periods);
            whole + correction
        } else if periods == 1 && carry > 0 && self.fits_before_late == 0 {
            // The frame was timed late: the next one will be shorter by as much.
            self.fits_before_late = 1;
            whole
        } else {
            // The frame fits no number of periods. Until several frames fit, a late one is not taken as one period.
            self.fits_before_late = FITS;
            waiting.max(0)
        }
    }

    /// Returns the part of the carry that this frame gets in addition to its whole periods: all beyond the tolerance,
    /// or a small part, or nothing.
    fn correction(&self, carry: i128) -> i128 {
        let excess = carry - carry.clamp(-self.tolerance, self.tolerance);
        // The count is above 0 after `snap` has taken a long frame as one period that was timed late. The frame after
        // it is short by as much, which removes the carry. After a frame that fits no number of periods, the count is
        // above 0 for longer, but no carry is left.
        let waits_for_early_frame = carry > 0 && self.fits_before_late > 0;
        if excess != 0 && !waits_for_early_frame {
            excess
        } else if carry.abs() > self.period / QUIET_PARTS {
            carry / CORRECTED_PARTS
        } else {
            // Correcting a small carry would pass the timer's jitter on.
            0
        }
    }

    /// Counts a frame that fits this many `periods`. After `fits_before_late` frames of one period,
    /// [`snap`](Self::snap) may again take a frame that is too long as one period that was timed late.
    fn count_fit(&mut self, periods: i128) {
        if periods == 1 {
            self.fits_before_late = self.fits_before_late.saturating_sub(1);
        } else if self.fits_before_late > 0 {
            // A frame that was timed late is followed by a short one. This one is long, so the last frame, if it was
            // taken as late, really was long. Another such guess has to wait.
            self.fits_before_late = FITS;
        }
    }
}
