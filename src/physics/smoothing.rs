//! How single bodies are displayed.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::key::{BodyError, BodyKey};
use crate::pose::{
    BodySmoothing, Change, Correction, GeneralSmoothing, Smoothing, SmoothingSettings,
};
use rapier::math::Pose;

use super::Physics;
use super::placing::checked;

/// # Smoothing of single bodies
///
/// Set smoothing and correction where you insert the body, so that resimulated steps set them again.
impl Physics {
    /// Returns the smoothing that was set for this body, or `None` if there is none or the body was removed.
    #[must_use]
    pub fn body_smoothing(&self, key: BodyKey) -> Option<Smoothing> {
        self.handle(key)?;
        self.smoothing.body(key).smoothing
    }

    /// Sets how frames between two steps display a body. With `None` it follows the [general
    /// setting](crate::Simulation::smoothing) again. A change takes effect as described there. While states are kept or a
    /// thread displays them, the first change in a step copies the settings of all bodies.
    ///
    /// # Errors
    /// [`BodyError::Gone`]
    pub fn set_body_smoothing(
        &mut self,
        key: BodyKey,
        smoothing: Option<Smoothing>,
    ) -> Result<(), BodyError> {
        let handle = self.try_handle(key)?;
        let settings = BodySmoothing {
            smoothing,
            ..self.smoothing.body(key)
        };
        Arc::make_mut(&mut self.smoothing).set_body(key, settings);
        // The next step decides again whether the body's displayed path is a straight line or needs a curve.
        self.pairs.recheck_path(key, handle);
        self.detect_edits();
        self.retime(key);
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
    /// [`BodyError::Gone`]
    pub fn set_body_correction(
        &mut self,
        key: BodyKey,
        correction: Option<Correction>,
    ) -> Result<(), BodyError> {
        self.try_handle(key)?;
        let settings = BodySmoothing {
            correction,
            ..self.smoothing.body(key)
        };
        Arc::make_mut(&mut self.smoothing).set_body(key, settings);
        Ok(())
    }

    /// Displays a body at `pose` in the first frame that displays this state. From there it moves to its own pose as
    /// its visual error [decays](Self::set_body_correction).
    ///
    /// Use it for a body that you have drawn at another pose, such as one thrown from the player's hand. Call it after
    /// the edits of the body.
    ///
    /// `pose` is in world space, and its rotation is normalised. It replaces the body's visual error. With
    /// [`Correction::OFF`] the call has no effect. A later teleport cancels the call, and a portal or shift of the
    /// origin moves `pose` with it.
    ///
    /// A resimulated step ignores the call, and a clone of the `Physics` does not hold it.
    ///
    /// # Errors
    /// [`BodyError::Gone`], [`BodyError::NotFinite`] and [`BodyError::NotARotation`].
    pub fn show_from(&mut self, key: BodyKey, pose: Pose) -> Result<(), BodyError> {
        self.try_handle(key)?;
        let pose = checked(key, pose)?;
        // An earlier edit of its position that is detected after this call would cancel it, like a later teleport.
        self.detect_edits();
        let at_hand = self.running.step_at_hand();
        if at_hand.is_none_or(|at_hand| !at_hand.step.is_resimulated) {
            let change = Change::ShowFrom(key, pose, self.origin);
            self.running.changes.list.push(change);
        }
        Ok(())
    }

    pub(crate) fn smoothing_settings(&self) -> &Arc<SmoothingSettings> {
        &self.smoothing
    }

    /// Sets the general settings, for bodies without settings. If they display a body at another time, such as in the
    /// future instead of the past, a visual error keeps it from jumping.
    pub(crate) fn set_general_smoothing(&mut self, general: GeneralSmoothing) {
        let before = self.smoothing.general.smoothing;
        Arc::make_mut(&mut self.smoothing).general = general;
        if before != general.smoothing {
            // The next step decides again which paths need a curve. Bodies at rest have the same pose with any
            // smoothing.
            self.pairs.recheck_all_paths();
            self.detect_edits();
            for key in self.pairs.movers().keys().to_vec() {
                self.retime(key);
            }
        }
    }

    /// Displays a moving body with its present smoothing from the next frame on. If that displays another time than the
    /// previous smoothing, a visual error keeps the body from jumping.
    fn retime(&mut self, key: BodyKey) {
        let (smoothing, dt) = (self.smoothing.of(key), self.dt());
        if let Some(old) = self.pairs.retime(key, smoothing, dt) {
            self.running.changes.list.push(Change::Retimed(key, old));
        }
    }

    /// Completes a state from another machine with what that machine cannot know: this machine's settings of single
    /// bodies, which are `own_smoothing`, and the resources in `own`, the state that it replaces, of types that it
    /// lacks.
    pub(crate) fn keep_own_parts(&mut self, own: &mut Self, own_smoothing: &SmoothingSettings) {
        // A body that is known here gets the settings of this machine, even if these are none. A new one keeps those
        // of the other machine.
        let with_settings = [&*self.smoothing, own_smoothing];
        let keys: BTreeSet<_> = with_settings.iter().flat_map(|it| it.keys()).collect();
        for key in keys.into_iter().filter(|key| own.handle(*key).is_some()) {
            let BodySmoothing {
                smoothing,
                correction,
            } = own_smoothing.body(key);
            // This state may lack the body, which is no error.
            let _ = self.set_body_smoothing(key, smoothing);
            let _ = self.set_body_correction(key, correction);
        }
        self.resources
            .add_missing(std::mem::take(&mut own.resources));
    }

    pub(super) fn forget_smoothing(&mut self, key: BodyKey) {
        if self.smoothing.has(key) {
            Arc::make_mut(&mut self.smoothing).remove(key);
        }
    }
}
