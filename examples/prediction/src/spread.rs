//! A number that jitters: its mean, and how far off it is.

/// The mean of a number, and its mean deviation from that, of the last ones most: TCP measures its round trips so (RFC
/// 6298).
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// How far off the mean the number was, in the mean.
    pub deviation: f64,
}

/// How much of the latest number there is in the mean: of twenty a second, those of the last second count.
const WEIGHT: f64 = 1.0 / 16.0;

impl Spread {
    /// Of a first number, with a deviation of one until more is known.
    #[must_use]
    pub fn new(first: f64) -> Self {
        Self {
            mean: first,
            deviation: 1.0,
        }
    }

    /// Takes another number into account.
    pub fn add(&mut self, number: f64) {
        let off = number - self.mean;
        self.mean += WEIGHT * off;
        self.deviation += WEIGHT * (off.abs() - self.deviation);
    }
}
