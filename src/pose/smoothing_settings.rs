//! How bodies are displayed: all, and each.

use slotmap::SecondaryMap;

use crate::key::BodyKey;

use super::correction::Correction;
use super::motion::Smoothing;

/// The settings of all bodies belong to the loop, which hands them to each capture. Those of a body belong to the state.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct SmoothingSettings {
    pub general: GeneralSmoothing,
    bodies: SecondaryMap<BodyKey, BodySmoothing>,
}

/// For all bodies without settings of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GeneralSmoothing {
    pub smoothing: Smoothing,
    pub correction: Correction,
}

/// `None`: that of all.
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

    /// Those of a body that lives, to change them.
    pub fn body_mut(&mut self, key: BodyKey) -> &mut BodySmoothing {
        if !self.bodies.contains_key(key) {
            self.bodies.insert(key, BodySmoothing::default());
        }
        &mut self.bodies[key]
    }

    pub fn remove(&mut self, key: BodyKey) {
        self.bodies.remove(key);
    }

    /// Whether something was set for this body.
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
