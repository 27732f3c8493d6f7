//! The units in which a clock counts: 1 ns / (rate · speed units).

use std::time::Duration;

use crate::time::rate::{NANOS_PER_SECOND, Rate, duration_from_nanos};

/// The simulated time of a state, in the units of the rate with which it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ExactTime {
    units: u128,
    /// The length of the step that led here, or 0 before the first step.
    last_step: u128,
    rate: Rate,
}

impl ExactTime {
    /// Returns time zero, to which no step has led.
    pub(super) fn start(rate: Rate) -> Self {
        Self {
            rate,
            ..Self::default()
        }
    }

    pub fn duration(self) -> Duration {
        duration_from_nanos(self.units / units_per_nano(self.rate, Speed::ONE))
    }

    /// Returns the length of the step that led here, in seconds, or 0 before the first step.
    pub fn dt(self) -> f32 {
        if self.last_step == 0 {
            0.0
        } else {
            seconds(self.last_step, self.rate)
        }
    }

    pub fn dt_f64(self) -> f64 {
        self.rate.dt_f64() * ratio(self.last_step, units_per_step(self.rate))
    }

    /// Returns the time after a step of this length, in units of `rate`.
    pub(super) fn after(self, length: u128, rate: Rate) -> Self {
        let units = in_units_of(rate, self.units, self.rate);
        Self {
            units: units.saturating_add(length),
            last_step: length,
            rate,
        }
    }

    pub fn after_step(self, rate: Rate) -> Self {
        self.after(units_per_step(rate), rate)
    }

    /// Returns the rate in whose units it is counted: that of the step that led here.
    pub fn rate(self) -> Rate {
        self.rate
    }

    /// Returns this time plus `units` of `rate`, as a moment that is no state.
    pub(super) fn later(self, units: u128, rate: Rate) -> Self {
        let later = in_units_of(self.rate, units, rate);
        let units = self.units.saturating_add(later);
        Self { units, ..self }
    }

    /// Returns the time after a step as long as the one that led to `end`.
    pub fn after_step_of(self, end: Self) -> Self {
        self.after(end.last_step, end.rate)
    }

    pub(super) fn earlier(self, units: u128) -> Self {
        let units = self.units.saturating_sub(units);
        Self { units, ..self }
    }

    #[cfg(feature = "checksum")]
    pub fn units(self) -> u128 {
        self.units
    }

    pub(super) fn last_step(self) -> u128 {
        self.last_step
    }
}

/// Converts `units` of the rate `old` to units of the rate `new`, rounded down to one of these, which is less than a
/// femtosecond. A unit is 1 ns / (`rate.steps()` · [`SPEED_UNITS`]), so the result is
/// `units` · `new.steps()` / `old.steps()`.
pub(super) fn in_units_of(new: Rate, units: u128, old: Rate) -> u128 {
    if new == old {
        return units;
    }
    let (new, old) = (u128::from(new.steps()), u128::from(old.steps()));
    // Dividing first keeps the product from overflowing.
    let whole = (units / old).saturating_mul(new);
    whole.saturating_add(units % old * new / old)
}

pub(super) fn units_per_nano(rate: Rate, speed: Speed) -> u128 {
    u128::from(rate.steps()) * speed.units()
}

pub(super) fn units_per_step(rate: Rate) -> u128 {
    NANOS_PER_SECOND * u128::from(rate.seconds()) * u128::from(SPEED_UNITS)
}

/// Returns the length of a step of these `units` in seconds.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to f32 is intended"
)]
pub(super) fn seconds(units: u128, rate: Rate) -> f32 {
    if units == units_per_step(rate) {
        // A whole step gets the exact `dt` of its rate.
        return rate.dt();
    }
    let seconds = (ratio(units, units_per_step(rate)) * rate.dt_f64()) as f32;
    // No step has length zero, because Rapier's queries would miss after it.
    seconds.max(f32::MIN_POSITIVE)
}

/// Returns `units` · `part` / `whole`, rounded down, or 0 if `whole` is 0. It never falls when `part` rises, because
/// the displayed time must not go back.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the result is positive and at most `units`"
)]
pub(super) fn scaled(units: u128, part: u128, whole: u128) -> u128 {
    // The usual cases are exact. The others are rounded by `f64`.
    if part == whole {
        return if whole == 0 { 0 } else { units };
    }
    if units == whole {
        return part;
    }
    let scaled = ratio(units, 1) * ratio(part, whole);
    (scaled as u128).min(units)
}

/// Returns `part` / `whole`, or 1 if `whole` is 0.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to f32 is intended"
)]
pub(super) fn fraction(part: u128, whole: u128) -> f32 {
    if whole == 0 {
        // 0 / 0 would be NaN, which is no position.
        return 1.0;
    }
    ratio(part, whole) as f32
}

#[expect(clippy::cast_precision_loss, reason = "rounding to f64 is intended")]
fn ratio(part: u128, whole: u128) -> f64 {
    part as f64 / whole as f64
}

/// Speeds are whole multiples of 1 / `SPEED_UNITS`, so that scaled time stays an integer.
///
/// The value is 2⁵·3²·5⁴·7: every speed with at most four decimals is exact, and so are 1/3, 1/7, 1/60 and 1/144. The
/// longest frame at the largest rate and speed has to fit into 128 bits: 2⁶⁴ ns · 2³² · 2³¹.
pub(super) const SPEED_UNITS: u32 = 1_260_000;

/// The largest speed, bounded by [`SPEED_UNITS`].
const MAX: f64 = 1_000.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(into = "f64", try_from = "f64")
)]
pub(super) struct Speed(u32);

/// Why a speed is refused.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpeedError {
    /// The speed is NaN or infinite.
    #[error("the speed {0} is not finite: give one from 0 to 1000")]
    NotFinite(f64),
    /// The speed is below zero.
    #[error("the speed {0} is negative: 0 stops time, and `Simulation::rewind` goes back")]
    Negative(f64),
    /// The speed is above 1000.
    #[error("the speed {0} is too large: give one from 0 to 1000")]
    TooLarge(f64),
}

impl Speed {
    pub const ONE: Self = Self(SPEED_UNITS);

    pub fn units(self) -> u128 {
        self.0.into()
    }
}

impl TryFrom<f64> for Speed {
    type Error = SpeedError;

    fn try_from(speed: f64) -> Result<Self, SpeedError> {
        if !speed.is_finite() {
            return Err(SpeedError::NotFinite(speed));
        }
        if speed < 0.0 {
            return Err(SpeedError::Negative(speed));
        }
        if speed > MAX {
            return Err(SpeedError::TooLarge(speed));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "at most 1000 · SPEED_UNITS"
        )]
        #[expect(clippy::cast_sign_loss, reason = "checked above")]
        let units = (speed * f64::from(SPEED_UNITS)).round() as u32;
        Ok(Self(units))
    }
}

impl From<Speed> for f64 {
    fn from(speed: Speed) -> Self {
        Self::from(speed.0) / Self::from(SPEED_UNITS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::clock::tests::{MS, clock, due, steps_in};
    use crate::time::rate::NANOS_PER_SECOND;
    use proptest::prelude::*;
    use std::time::Duration;

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn speed_scales_time_exactly(
            frames in prop::collection::vec((0..250_000_000u64, 0..8u32, 1..8u32), 1..100),
        ) {
            let mut clock = clock(60);
            let (mut units, mut made) = (0u128, 0);
            for (nanos, n, d) in frames {
                clock.settings_mut().set_speed(f64::from(n) / f64::from(d)).unwrap();
                made += due(&mut clock, Duration::from_nanos(nanos));
                // d divides 840, so this is exact.
                units += u128::from(nanos) * u128::from(n * 840 / d) * 60;
            }
            let step = NANOS_PER_SECOND * 840;
            prop_assert_eq!(u128::from(made), units / step);
            let rest = units % step * u128::from(SPEED_UNITS) / 840;
            prop_assert_eq!(clock.overstep, rest);
        }
    }

    #[test]
    fn a_speed_of_one_third_does_not_drift() {
        let mut clock = clock(60);
        clock.settings_mut().set_speed(1.0 / 3.0).unwrap();
        let frame = Duration::from_nanos(16_666_667);
        let made: u64 = (0..300_000).map(|_| due(&mut clock, frame)).sum();
        let (steps, rest) = steps_in(frame * 100_000, clock.settings().rate());
        assert_eq!(u128::from(made), steps);
        assert_eq!(clock.overstep, rest * u128::from(SPEED_UNITS));
    }

    #[test]
    fn invalid_speeds_are_refused_and_change_nothing() {
        let mut clock = clock(60);
        clock.settings_mut().set_speed(0.5).unwrap();
        let before = clock.clone();
        assert!(matches!(
            clock.settings_mut().set_speed(f64::NAN),
            Err(SpeedError::NotFinite(_))
        ));
        assert_eq!(
            clock.settings_mut().set_speed(f64::INFINITY),
            Err(SpeedError::NotFinite(f64::INFINITY))
        );
        assert_eq!(
            clock.settings_mut().set_speed(-0.1),
            Err(SpeedError::Negative(-0.1))
        );
        assert_eq!(
            clock.settings_mut().set_speed(1e9),
            Err(SpeedError::TooLarge(1e9))
        );
        assert_eq!(clock, before);
        clock.settings_mut().set_speed(-0.0).unwrap();
        assert_eq!(due(&mut clock, MS(250)), 0);
    }
}
