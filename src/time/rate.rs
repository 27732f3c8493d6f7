//! Steps per second, as an exact fraction.

use std::fmt;
use std::time::Duration;

/// The number of steps per second, as an exact fraction, so that neither 60 Hz nor 60000/1001 Hz (NTSC) drifts.
///
/// 60 Hz is right for most games, and 120 or 240 Hz for fast or stiff scenes. Below about 30 Hz, curves get visible
/// corners, unless you use [`Smoothing::Hermite`](crate::Smoothing::Hermite).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "(u32, u32)", try_from = "(u32, u32)")
)]
pub struct Rate {
    /// In lowest terms with `seconds`. Neither is zero.
    steps: u32,
    seconds: u32,
}

/// Why a pair of numbers is not a [`Rate`]: one of them is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a rate needs at least one step in at least one second")]
#[non_exhaustive]
pub struct RateError;

impl Rate {
    /// Returns a rate of a whole number of steps per second.
    ///
    /// # Panics
    /// If `hz` is zero.
    #[must_use]
    pub const fn hz(hz: u32) -> Self {
        Self::fraction(hz, 1)
    }

    /// Returns a rate of `steps` steps in `seconds` seconds. For numbers that a player typed, use `Rate::try_from`.
    ///
    /// # Panics
    /// If either is zero.
    #[must_use]
    pub const fn fraction(steps: u32, seconds: u32) -> Self {
        Self::reduced(steps as u128, seconds as u128)
    }

    /// Returns the rate for steps of this length. For 60 Hz, use [`hz`](Self::hz): a step is not a whole number of
    /// nanoseconds.
    ///
    /// # Panics
    /// If `step` is zero, or if the rate as a fraction in lowest terms does not fit into two `u32`, as for most steps
    /// longer than four seconds.
    #[must_use]
    pub const fn from_step(step: Duration) -> Self {
        Self::reduced(NANOS_PER_SECOND, step.as_nanos())
    }

    /// Returns the rate `steps` / `seconds` in lowest terms. Panics if either is zero or does not fit.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "both parts are checked to fit"
    )]
    const fn reduced(steps: u128, seconds: u128) -> Self {
        assert!(
            steps > 0 && seconds > 0,
            "a rate needs at least one step in at least one second"
        );
        let divisor = greatest_common_divisor(steps, seconds);
        let (steps, seconds) = (steps / divisor, seconds / divisor);
        let most = u32::MAX as u128;
        assert!(
            steps <= most && seconds <= most,
            "a rate in lowest terms needs numbers of 32 bits: give a rounder length of a step"
        );
        Self {
            steps: steps as u32,
            seconds: seconds as u32,
        }
    }

    /// Returns the length of a step in seconds, rounded to the nearest `f32`. Rapier gets this value.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to f32 is intended"
    )]
    pub fn dt(self) -> f32 {
        self.dt_f64() as f32
    }

    /// Returns the length of a step in seconds, rounded to the nearest `f64`.
    #[must_use]
    pub fn dt_f64(self) -> f64 {
        f64::from(self.seconds) / f64::from(self.steps)
    }

    /// Returns the length of a step, rounded down to a nanosecond, for timers and displays. As a frame time it may be
    /// too short for a step to be due.
    #[must_use]
    pub fn period(self) -> Duration {
        duration_from_nanos(NANOS_PER_SECOND * u128::from(self.seconds) / u128::from(self.steps))
    }

    /// Returns the numerator of steps per second, in lowest terms.
    #[must_use]
    pub fn steps(self) -> u32 {
        self.steps
    }

    /// Returns the denominator of steps per second, in lowest terms.
    #[must_use]
    pub fn seconds(self) -> u32 {
        self.seconds
    }
}

/// Converts from `(steps, seconds)`.
impl TryFrom<(u32, u32)> for Rate {
    type Error = RateError;

    fn try_from((steps, seconds): (u32, u32)) -> Result<Self, RateError> {
        if steps == 0 || seconds == 0 {
            return Err(RateError);
        }
        Ok(Self::fraction(steps, seconds))
    }
}

/// Converts to `(steps, seconds)`, in lowest terms.
impl From<Rate> for (u32, u32) {
    fn from(rate: Rate) -> Self {
        (rate.steps, rate.seconds)
    }
}

impl Default for Rate {
    /// Returns 60 Hz, Rapier's default, for which its contacts and joints are tuned.
    fn default() -> Self {
        Self {
            steps: 60,
            seconds: 1,
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seconds {
            1 => write!(f, "{} Hz", self.steps),
            seconds => write!(f, "{}/{seconds} Hz", self.steps),
        }
    }
}

pub(super) const NANOS_PER_SECOND: u128 = 1_000_000_000;

/// Returns this duration, or [`Duration::MAX`] if it is longer.
pub(super) fn duration_from_nanos(nanos: u128) -> Duration {
    match u64::try_from(nanos / NANOS_PER_SECOND) {
        Ok(seconds) => Duration::new(seconds, (nanos % NANOS_PER_SECOND) as u32),
        Err(_) => Duration::MAX,
    }
}

const fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_reduced_to_lowest_terms() {
        assert_eq!(Rate::fraction(120, 2), Rate::hz(60));
        assert_eq!(Rate::from_step(Duration::from_millis(4)), Rate::hz(250));
        assert_eq!(
            Rate::from_step(Duration::from_secs(10)),
            Rate::fraction(1, 10)
        );
        assert_eq!(Rate::default(), Rate::hz(60));
        assert_eq!(Rate::default().to_string(), "60 Hz");
        let ntsc = Rate::fraction(60_000, 1_001);
        assert_eq!(ntsc.to_string(), "60000/1001 Hz");
        assert_eq!(ntsc.period(), Duration::from_nanos(16_683_333));
    }

    #[test]
    fn numbers_that_are_no_rate_are_refused() {
        for parts in [(0, 1), (1, 0), (0, 0)] {
            assert_eq!(Rate::try_from(parts), Err(RateError));
        }
        assert_eq!(Rate::try_from((50, 1)), Ok(Rate::hz(50)));
        let refused: [fn() -> Rate; 5] = [
            || Rate::hz(0),
            || Rate::fraction(1, 0),
            || Rate::from_step(Duration::ZERO),
            || Rate::from_step(Duration::new(5, 1)),
            || Rate::from_step(Duration::MAX),
        ];
        for rate in refused {
            std::panic::catch_unwind(rate).unwrap_err();
        }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "both sides are the nearest f32")]
    fn dt_is_the_nearest_f32() {
        assert_eq!(Rate::hz(60).dt(), 1.0 / 60.0);
        assert_eq!(Rate::fraction(60_000, 1_001).dt(), 1_001.0 / 60_000.0);
    }
}
