//! How single bodies are displayed. The settings for all other bodies belong to the loop.

use std::sync::Arc;

use crate::key::BodyKey;
use crate::pose::{Correction, GeneralSmoothing, Smoothing, SmoothingSettings};
use crate::step::BodyError;

use super::Physics;

/// # Smoothing of single bodies
///
/// Set these where you insert the body, because they belong to the body. A rollback to before the insertion undoes
/// them, and the resimulated steps set them again.
impl Physics {
    /// Returns the smoothing that was set for this body, or `None` if there is none or the body was removed.
    #[must_use]
    pub fn body_smoothing(&self, key: BodyKey) -> Option<Smoothing> {
        self.handle(key)?;
        self.smoothing.body(key).smoothing
    }

    /// Sets how a frame between two steps displays a body. With `None` it follows the [general
    /// setting](crate::Simulation::smoothing) again.
    ///
    /// The change takes effect with the next step.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn set_body_smoothing(
        &mut self,
        key: BodyKey,
        smoothing: Option<Smoothing>,
    ) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        let settings = Arc::make_mut(&mut self.smoothing);
        settings.body_mut(key).smoothing = smoothing;
        self.pairs.recheck(key, handle);
        Ok(())
    }

    /// Returns the correction that was set for this body, or `None` if there is none or the body was removed.
    #[must_use]
    pub fn body_correction(&self, key: BodyKey) -> Option<Correction> {
        self.handle(key)?;
        self.smoothing.body(key).correction
    }

    /// Sets how the visual error of a body decays. With `None` it follows the [general
    /// setting](crate::Simulation::correction) again.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn set_body_correction(
        &mut self,
        key: BodyKey,
        correction: Option<Correction>,
    ) -> Result<(), BodyError> {
        self.try_handle(key)?;
        let settings = Arc::make_mut(&mut self.smoothing);
        settings.body_mut(key).correction = correction;
        Ok(())
    }

    /// Returns the settings of all bodies.
    pub(crate) fn smoothing_settings(&self) -> &Arc<SmoothingSettings> {
        &self.smoothing
    }

    /// Adopts the settings of the loop. If the smoothing changed, the paths of all bodies are checked again.
    pub(crate) fn set_general_smoothing(&mut self, general: GeneralSmoothing) {
        if self.smoothing.general != general {
            if self.smoothing.general.smoothing != general.smoothing {
                self.pairs.recheck_all();
            }
            Arc::make_mut(&mut self.smoothing).general = general;
        }
    }

    pub(super) fn forget_smoothing(&mut self, key: BodyKey) {
        if self.smoothing.has(key) {
            Arc::make_mut(&mut self.smoothing).remove(key);
        }
    }
}
