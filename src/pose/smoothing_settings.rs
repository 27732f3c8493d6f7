//! How bodies are displayed: general settings, and settings of single bodies.

use slotmap::SecondaryMap;

use crate::key::BodyKey;

use super::correction::Correction;
use super::motion::Smoothing;

/// The general settings belong to the loop, which passes them to each capture. The settings of a body belong to the
/// state.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SmoothingSettings {
    pub general: GeneralSmoothing,
    bodies: SecondaryMap<BodyKey, BodySmoothing>,
}

/// The settings for all bodies that have no setting themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GeneralSmoothing {
    pub smoothing: Smoothing,
    pub correction: Correction,
}

/// The settings of one body. `None` is the general setting.
#[derive(Clone, Copy, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct BodySmoothing {
    pub smoothing: Option<Smoothing>,
    pub correction: Option<Correction>,
}

impl SmoothingSettings {
    pub fn body(&self, key: BodyKey) -> BodySmoothing {
        self.bodies.get(key).copied().unwrap_or_default()
    }

    /// Returns the settings of a body that is alive, to change them.
    pub fn body_mut(&mut self, key: BodyKey) -> &mut BodySmoothing {
        if !self.bodies.contains_key(key) {
            self.bodies.insert(key, BodySmoothing::default());
        }
        &mut self.bodies[key]
    }

    pub fn remove(&mut self, key: BodyKey) {
        self.bodies.remove(key);
    }

    /// Returns whether something was set for this body.
    pub fn has(&self, key: BodyKey) -> bool {
        self.bodies.contains_key(key)
    }

    pub fn of(&self, key: BodyKey) -> Smoothing {
        self.body(key).smoothing.unwrap_or(self.general.smoothing)
    }

    pub fn correction_of(&self, key: BodyKey) -> Correction {
        self.body(key).correction.unwrap_or(self.general.correction)
    }
}
