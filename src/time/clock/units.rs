//! The units in which a clock counts: 1 ns / (rate · speed units).

use std::time::Duration;

use crate::time::rate::{NANOS_PER_SECOND, Rate, duration_from_nanos};

use super::speed::{SPEED_UNITS, Speed};

/// The simulated time of a state without rounding, in the units of the rate with which it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ExactTime {
    units: u128,
    /// The length of the step that led here, or 0 before the first step.
    last: u128,
    rate: Rate,
}

impl ExactTime {
    pub(super) fn start(rate: Rate) -> Self {
        Self {
            rate,
            ..Self::default()
        }
    }

    /// Returns the time rounded down to a nanosecond.
    pub fn duration(self) -> Duration {
        duration_from_nanos(self.units / units_per_nano(self.rate, Speed::ONE))
    }

    /// Returns the length of the step that led here, in seconds. It is 0 before the first step.
    pub fn dt(self) -> f32 {
        if self.last == 0 {
            0.0
        } else {
            seconds(self.last, self.rate)
        }
    }

    /// Returns the same length as [`dt`](Self::dt), in `f64`.
    pub fn dt_f64(self) -> f64 {
        self.rate.dt_f64() * ratio(self.last, units_per_step(self.rate))
    }

    /// Returns the time in the units of another rate. It is rounded down to one unit.
    pub fn in_units_of(self, rate: Rate) -> Self {
        let convert = |units| in_units_of(rate, units, self.rate);
        Self {
            units: convert(self.units),
            last: convert(self.last),
            rate,
        }
    }

    /// Returns the time after a step of this length.
    pub(super) fn after(self, length: u128) -> Self {
        Self {
            units: self.units.saturating_add(length),
            last: length,
            ..self
        }
    }

    /// Returns the time after a step of the rate in which it is counted.
    pub fn after_step(self) -> Self {
        self.after(units_per_step(self.rate))
    }

    /// Returns the time this many units before.
    pub(super) fn earlier(self, units: u128) -> Self {
        let units = self.units.saturating_sub(units);
        Self { units, ..self }
    }

    /// Returns how many units have passed since another time, rounded down.
    pub(super) fn since(self, other: Self) -> u128 {
        let before = in_units_of(self.rate, other.units, other.rate);
        let is_rounded = in_units_of(other.rate, before, self.rate) < other.units;
        let before = before.saturating_add(is_rounded.into());
        self.units.saturating_sub(before)
    }

    #[cfg(any(feature = "checksum", test))]
    pub fn units(self) -> u128 {
        self.units
    }

    pub(super) fn last(self) -> u128 {
        self.last
    }

    pub(super) fn rate(self) -> Rate {
        self.rate
    }
}

/// Converts a time from the units of another rate. It is rounded down to one new unit, which is less than a
/// femtosecond.
pub(super) fn in_units_of(new: Rate, units: u128, old: Rate) -> u128 {
    if new == old {
        return units;
    }
    let (new, old) = (u128::from(new.steps()), u128::from(old.steps()));
    let whole = (units / old).saturating_mul(new);
    whole.saturating_add(units % old * new / old)
}

/// Returns how many units a nanosecond has at a speed.
pub(super) fn units_per_nano(rate: Rate, speed: Speed) -> u128 {
    u128::from(rate.steps()) * speed.units()
}

pub(super) fn units_per_step(rate: Rate) -> u128 {
    NANOS_PER_SECOND * u128::from(rate.seconds()) * u128::from(SPEED_UNITS)
}

/// Returns the length of a step in seconds, rounded to the nearest `f32`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to f32 is intended"
)]
pub(super) fn seconds(units: u128, rate: Rate) -> f32 {
    if units == units_per_step(rate) {
        return rate.dt();
    }
    let seconds = (ratio(units, units_per_step(rate)) * rate.dt_f64()) as f32;
    // No step has length zero, because Rapier's queries would miss after it.
    seconds.max(f32::MIN_POSITIVE)
}

/// Returns a part of `units`, rounded down: all of them if `part` is the whole, and none if there is no whole.
///
/// It never falls when `part` rises.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the result is positive and at most `units`"
)]
pub(super) fn scaled(units: u128, part: u128, whole: u128) -> u128 {
    if part == whole {
        return if whole == 0 { 0 } else { units };
    }
    if units == whole {
        return part;
    }
    let scaled = ratio(units, 1) * ratio(part, whole);
    (scaled as u128).min(units)
}

/// Returns a part as a fraction of the whole, rounded to the nearest `f32`. All of nothing is 1.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounding to f32 is intended"
)]
pub(super) fn fraction(part: u128, whole: u128) -> f32 {
    if whole == 0 {
        return 1.0;
    }
    ratio(part, whole) as f32
}

#[expect(clippy::cast_precision_loss, reason = "rounding to f64 is intended")]
fn ratio(part: u128, whole: u128) -> f64 {
    part as f64 / whole as f64
}
