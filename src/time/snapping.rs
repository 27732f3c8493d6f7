//! Frame times as whole periods of a display.

/// A frame of several periods may come early by one part in so many of a period.
///
/// Earlier than that it is one period that was timed late: a timer may be read up to a period late, and is
/// hardly ever early. A larger part would take late frames for dropped ones, a smaller one the reverse.
const EARLY_PARTS: i128 = 12;

/// What is carried stays carried up to one part in so many of a period, so that small jitter is gone entirely.
///
/// Less than the part above, or a display a little faster than its period would have its dropped frames
/// taken for late ones.
const QUIET_PARTS: i128 = 20;

/// Of what is carried beyond that, each frame gets one part in so many.
///
/// It follows a display that is a quarter of a percent off its period, as 59.94 Hz is off 60 Hz, and changes
/// no frame by more than 3 %.
const PAID_PARTS: i128 = 32;

/// After a frame that does not fit, so many have to fit before a late frame is taken as one period again.
///
/// Frames of a display that is not steady fit now and then; several in a row hardly ever do.
const FITS: u32 = 4;

/// How the times of frames fit a display, all in nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Snapping {
    period: i128,
    tolerance: i128,
    /// How many frames of one period have to fit before a late one is taken as one: 0 at a steady display.
    fits_needed: u32,
}

impl Snapping {
    /// For a `tolerance` below half the period.
    pub(super) fn new(period: i128, tolerance: i128) -> Self {
        Self {
            period,
            tolerance,
            fits_needed: 0,
        }
    }

    /// For a display that is known better, or that has changed.
    pub(super) fn set_period(&mut self, period: i128, tolerance: i128) {
        (self.period, self.tolerance) = (period, tolerance);
    }

    /// What to give out of `waiting`: the time taken in and not given out, of which this frame took `elapsed`.
    ///
    /// It leaves from minus the tolerance to less than a period.
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
            // Timed late: the next frame will be shorter by as much.
            self.fits_needed = 1;
            whole
        } else {
            self.fits_needed = FITS;
            waiting.max(0)
        }
    }

    /// How much of what is `left` beside whole periods goes into this frame all the same.
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
            // What was taken as a late frame was not followed by an early one.
            self.fits_needed = FITS;
        }
    }
}
