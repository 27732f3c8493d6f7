//! The units that a clock counts in: 1 ns / (rate · speed units).

use crate::time::rate::{NANOS_PER_SECOND, Rate};

use super::speed::{SPEED_UNITS, Speed};

/// A time in units of another rate, rounded down to one of these, which is less than a femtosecond.
pub(super) fn in_units_of(new: Rate, units: u128, old: Rate) -> u128 {
    if new == old {
        return units;
    }
    let (new, old) = (u128::from(new.steps()), u128::from(old.steps()));
    let whole = (units / old).saturating_mul(new);
    whole.saturating_add(units % old * new / old)
}

/// How much a nanosecond is at a speed.
pub(super) fn units_per_nano(rate: Rate, speed: Speed) -> u128 {
    u128::from(rate.steps()) * speed.units()
}

pub(super) fn units_per_step(rate: Rate) -> u128 {
    NANOS_PER_SECOND * u128::from(rate.seconds()) * u128::from(SPEED_UNITS)
}

/// The length of a step in seconds, rounded to the nearest f32.
pub(super) fn seconds(units: u128, rate: Rate) -> f32 {
    if units == units_per_step(rate) {
        return rate.dt();
    }
    #[expect(clippy::cast_precision_loss, reason = "rounding to f64 is the point")]
    let steps = units as f64 / units_per_step(rate) as f64;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounding to f32 is the point"
    )]
    let seconds = (steps * rate.dt_f64()) as f32;
    // A step of no length is never made: Rapier's queries would miss after it.
    seconds.max(f32::MIN_POSITIVE)
}
