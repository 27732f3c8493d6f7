//! The units in which a clock counts: 1 ns / (rate · speed units).

use std::time::Duration;

use crate::time::rate::{NANOS_PER_SECOND, Rate, duration_from_nanos};

use super::speed::{SPEED_UNITS, Speed};

/// Simulated time without rounding, in the units of the rate with which it was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ExactTime {
    pub(super) units: u128,
    pub(super) rate: Rate,
}

impl ExactTime {
    /// Returns the time rounded down to a nanosecond.
    pub fn duration(self) -> Duration {
        duration_from_nanos(self.units / units_per_nano(self.rate, Speed::ONE))
    }

    /// Returns the time after a step of this many seconds.
    pub fn after(self, dt: f32) -> Self {
        let length = if dt.to_bits() == self.rate.dt().to_bits() {
            units_per_step(self.rate)
        } else {
            let nanos = Duration::try_from_secs_f32(dt)
                .unwrap_or_default()
                .as_nanos();
            nanos * units_per_nano(self.rate, Speed::ONE)
        };
        let units = self.units.saturating_add(length);
        Self { units, ..self }
    }

    pub fn is_zero(self) -> bool {
        self.units == 0
    }

    #[cfg(feature = "checksum")]
    pub fn units(self) -> u128 {
        self.units
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
pub(super) fn seconds(units: u128, rate: Rate) -> f32 {
    if units == units_per_step(rate) {
        return rate.dt();
    }
    #[expect(clippy::cast_precision_loss, reason = "rounding to f64 is intended")]
    let steps = units as f64 / units_per_step(rate) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to f32 is intended"
    )]
    let seconds = (steps * rate.dt_f64()) as f32;
    // No step has length zero, because Rapier's queries would miss after it.
    seconds.max(f32::MIN_POSITIVE)
}
