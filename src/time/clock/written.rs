//! A clock in serde's terms.

use super::settings::MAX_SPEED;
use super::{Clock, LONGEST_FRAME, SPEED_UNITS};

impl serde::Serialize for Clock {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The derived one.
        Self::serialize(self, serializer)
    }
}

/// Fails for values that no clock can have.
impl<'de> serde::Deserialize<'de> for Clock {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;

        // The derived one.
        let clock = Self::deserialize(deserializer)?;
        if !clock.is_consistent() {
            return Err(D::Error::custom("no clock has these values"));
        }
        Ok(clock)
    }
}

impl Clock {
    fn is_consistent(&self) -> bool {
        // Far more than any frame leaves, and far less than overflows in the next one.
        const MOST: u128 = 1 << 126;
        f64::from(self.speed) <= MAX_SPEED * f64::from(SPEED_UNITS)
            && self.max_frame_time <= LONGEST_FRAME
            && self.max_steps_per_frame != Some(0)
            && self.overstep < MOST
            && self.due.last < MOST
            && self.tick.checked_add(self.due.steps).is_some()
    }
}
