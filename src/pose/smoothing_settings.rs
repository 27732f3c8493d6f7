//! How bodies are shown: all, and each.

use slotmap::SecondaryMap;

use crate::key::{BodyKey, slot_of};

use super::correction::Correction;
use super::motion::Smoothing;

/// Settings of what is shown. They are no part of the state: a rollback does not change them.
///
/// What was set for a body stays after its removal, as a rollback may bring it back, until it is set for another one in its
/// slot.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SmoothingSettings {
    pub smoothing: Smoothing,
    pub correction: Correction,
    bodies: SecondaryMap<BodyKey, BodySettings>,
}

/// `None`: that of all.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BodySettings {
    pub smoothing: Option<Smoothing>,
    pub correction: Option<Correction>,
}

impl SmoothingSettings {
    pub fn body(&self, key: BodyKey) -> BodySettings {
        self.bodies.get(key).copied().unwrap_or_default()
    }

    /// Sets those of one body.
    pub fn body_mut(&mut self, key: BodyKey) -> &mut BodySettings {
        if !self.bodies.contains_key(key) {
            self.bodies.insert(key, BodySettings::default());
            if !self.bodies.contains_key(key) {
                // A newer body had the slot before a rollback, and slotmap keeps the newer one.
                self.bodies
                    .retain(|newer, _| slot_of(newer) != slot_of(key));
                self.bodies.insert(key, BodySettings::default());
            }
        }
        &mut self.bodies[key]
    }

    /// The smoothing of a body, its own or that of all.
    pub fn of(&self, key: BodyKey) -> Smoothing {
        self.body(key).smoothing.unwrap_or(self.smoothing)
    }

    /// The correction of a body, its own or that of all.
    pub fn correction_of(&self, key: BodyKey) -> Correction {
        self.body(key).correction.unwrap_or(self.correction)
    }

    /// Whether the two poses of every body are enough to display it.
    pub fn is_plain(&self) -> bool {
        self.smoothing == Smoothing::Interpolate && self.bodies.is_empty()
    }
}
