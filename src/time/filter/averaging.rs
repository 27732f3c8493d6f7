//! Frame times, averaged over the last frames.

use std::collections::VecDeque;

/// How far the filtered time may be behind, in typical frames.
///
/// A timer that is coarser than the display gives one frame the time of the next ones, and a missed frame adds as much
/// again. With a smaller value, motion under such a timer would stutter. With a larger one, the filter would take
/// longer to make up for a hitch.
const MOST_BEHIND: i128 = 2;

/// The last frames, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Averaging {
    frames: usize,
    last: VecDeque<i128>,
    /// The last frames that took any time, the shortest first.
    sorted: Vec<i128>,
}

impl Averaging {
    /// Creates an average over one frame or more.
    pub(super) fn new(frames: usize) -> Self {
        Self {
            frames,
            last: VecDeque::new(),
            sorted: Vec::new(),
        }
    }

    /// Creates a filter as if it had averaged `last` until now.
    pub(super) fn after(frames: usize, last: impl IntoIterator<Item = i128>) -> Self {
        let mut averaging = Self::new(frames);
        for time in last {
            averaging.push(time);
        }
        averaging
    }

    /// Returns the average and a part of the waiting time, limited so that the filtered time is ahead by at most one
    /// typical frame and behind by at most [`MOST_BEHIND`].
    ///
    /// Only as much of a hitch enters the average as the filtered time may be behind. The rest would be returned twice:
    /// in the average of the next frames, and out of the waiting time.
    pub(super) fn average(&mut self, elapsed: i128, waiting: i128) -> i128 {
        self.push(elapsed);
        let typical = typical(&self.sorted);
        let behind = MOST_BEHIND * typical;
        let sum: i128 = self.last.iter().map(|time| behind.min(*time)).sum();
        let count = i128::try_from(self.last.len()).unwrap_or(i128::MAX);
        let average = sum / count;
        let even = average + (waiting - average) / count;
        bounded(even, waiting, typical)
    }

    fn push(&mut self, time: i128) {
        if self.last.len() == self.frames
            && let Some(oldest) = self.last.pop_front()
            && let Ok(place) = self.sorted.binary_search(&oldest)
        {
            self.sorted.remove(place);
        }
        self.last.push_back(time);
        if time > 0 {
            let place = self.sorted.partition_point(|other| *other < time);
            self.sorted.insert(place, time);
        }
    }
}

/// Bounds a filtered time, so that the filter is ahead by at most one typical frame, and behind by at most
/// [`MOST_BEHIND`].
pub(super) fn bounded(filtered: i128, waiting: i128, typical: i128) -> i128 {
    filtered.clamp(waiting - MOST_BEHIND * typical, waiting + typical)
}

/// Returns the median of frames that took any time: for a coarse timer, one of its steps; 0 if there is none.
pub(super) fn typical(sorted: &[i128]) -> i128 {
    let middle = sorted.len().saturating_sub(1) / 2;
    sorted.get(middle).copied().unwrap_or(0)
}

/// A frame of several periods may be early by one part in this many of a period.
///
/// A frame that is earlier than that is one period that was timed late: a timer may be read up to a period late, and is
/// hardly ever early. If the part were larger, late frames would be taken for dropped ones; if it were smaller, dropped
/// frames would be taken for late ones.
const EARLY_PARTS: i128 = 12;

/// A carry of up to one part in this many of a period is left alone, so that small jitter disappears entirely.
///
/// This part is smaller than that of [`EARLY_PARTS`]. Otherwise, if a display is slightly faster than its period, its
/// dropped frames would be taken for late ones.
const QUIET_PARTS: i128 = 20;

/// Each frame gets one part in this many of the carry, if the carry is larger than that.
///
/// This follows a display that is a quarter of a percent off its period, as 59.94 Hz is off 60 Hz, and changes no frame
/// by more than 3 %.
const PAID_PARTS: i128 = 32;

/// After a frame that does not fit, this many frames have to fit before a late frame is taken as one period again.
///
/// Frames of an unsteady display fit now and then, but several in a row hardly ever do.
const FITS: u32 = 4;

/// The state of snapping to a display, with all times in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapping {
    period: i128,
    tolerance: i128,
    /// The number of frames of one period that have to fit before a late frame is taken as one period: 0 on a steady
    /// display.
    fits_needed: u32,
}

impl Snapping {
    /// Creates the filter for a `tolerance` below half the period.
    pub(super) fn new(period: i128, tolerance: i128) -> Self {
        Self {
            period,
            tolerance,
            fits_needed: 0,
        }
    }

    /// Sets the period of a display that has changed or is known more precisely.
    pub(super) fn set_period(&mut self, period: i128, tolerance: i128) {
        (self.period, self.tolerance) = (period, tolerance);
    }

    /// Returns the time to give this frame out of `waiting`, which is the time taken in and not yet returned, including
    /// `elapsed` of this frame.
    ///
    /// What remains waiting is between minus the tolerance and less than a period.
    pub(super) fn snap(&mut self, elapsed: i128, waiting: i128) -> i128 {
        let early = (self.period / EARLY_PARTS).min(self.tolerance);
        let periods = ((waiting + early) / self.period).max(1);
        let whole = periods * self.period;
        let left = waiting - whole;
        let fits = left.abs() <= self.tolerance;
        let is_regular = periods == 1 && (elapsed - self.period).abs() <= self.tolerance;
        if fits || is_regular {
            let paid = self.payment(left);
            self.confirm(periods);
            whole + paid
        } else if periods == 1 && left > 0 && self.fits_needed == 0 {
            // The frame was timed late: the next one will be shorter by as much.
            self.fits_needed = 1;
            whole
        } else {
            self.fits_needed = FITS;
            waiting.max(0)
        }
    }

    /// Returns how much of `left`, the difference from whole periods, this frame gets as well.
    fn payment(&self, left: i128) -> i128 {
        let excess = left - left.clamp(-self.tolerance, self.tolerance);
        let waits_for_early_frame = left > 0 && self.fits_needed > 0;
        if excess != 0 && !waits_for_early_frame {
            excess
        } else if left.abs() > self.period / QUIET_PARTS {
            left / PAID_PARTS
        } else {
            0
        }
    }

    fn confirm(&mut self, periods: i128) {
        if periods == 1 {
            self.fits_needed = self.fits_needed.saturating_sub(1);
        } else if self.fits_needed > 0 {
            // The frame that was taken as late was not followed by an early one.
            self.fits_needed = FITS;
        }
    }
}
