//! A clock in serde's terms.

use std::time::Duration;

use super::settings::MAX_SPEED;
use super::{Clock, Dropped, Due, LONGEST_FRAME, Rate, SPEED_UNITS, StepSettings};

/// All that can be set of a clock, as it is before a frame.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Settings {
    pub rate: Rate,
    pub stepping: StepSettings,
    pub speed: f64,
    pub is_paused: bool,
    pub single_steps: u32,
    pub new_tick: Option<u64>,
    pub new_overstep: Option<Duration>,
}

/// The fields of a clock. Derived on [`Clock`] itself, the two functions would be public, and check nothing.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(remote = "Clock")]
struct Written {
    rate: Rate,
    stepping: StepSettings,
    speed: u32,
    is_paused: bool,
    single_steps: u32,
    new_tick: Option<u64>,
    new_overstep: Option<Duration>,
    unit_rate: Rate,
    overstep: u128,
    simulated: u128,
    tick: u64,
    real_time: Duration,
    step_start: Duration,
    due: Due,
    dropped: Dropped,
}

impl serde::Serialize for Clock {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written::serialize(self, serializer)
    }
}

/// Fails for values that no clock can have.
impl<'de> serde::Deserialize<'de> for Clock {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;

        let clock = Written::deserialize(deserializer)?;
        if !clock.is_consistent() {
            return Err(D::Error::custom("no clock has these values"));
        }
        Ok(clock)
    }
}

impl Clock {
    pub(crate) fn settings(&self) -> Settings {
        Settings {
            rate: self.rate,
            stepping: self.stepping,
            speed: self.speed(),
            is_paused: self.is_paused,
            single_steps: self.single_steps,
            new_tick: self.new_tick,
            new_overstep: self.new_overstep,
        }
    }

    fn is_consistent(&self) -> bool {
        // Far more than any step lasts, and far less than overflows.
        const MOST: u128 = 1 << 126;
        f64::from(self.speed) <= MAX_SPEED * f64::from(SPEED_UNITS)
            && self.stepping.max_frame_time <= LONGEST_FRAME
            && self.stepping.max_steps_per_frame != Some(0)
            // As long as the longest step. More would overflow at a faster rate.
            && self.overstep() <= LONGEST_FRAME
            && self.due.last < MOST
            && self.tick.checked_add(self.due.steps).is_some()
    }
}
