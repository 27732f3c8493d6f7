//! How what frames show is smoothed.

use std::sync::Arc;

use rapier::math::Pose;

use crate::key::BodyKey;
use crate::pose::{Correction, Smoothing, SmoothingSettings};
use crate::step::BodyError;

use super::Simulation;

/// # Smoothing
///
/// Settings of what is shown. They are not part of the state that a rollback puts back.
impl Simulation {
    /// How a frame between two steps is shown: [`Smoothing::Interpolate`] by default.
    #[must_use]
    pub fn smoothing(&self) -> Smoothing {
        self.smoothing.smoothing
    }

    /// The smoothing that was set for this body; `None` if none was, or if the body was removed.
    #[must_use]
    pub fn body_smoothing(&self, key: BodyKey) -> Option<Smoothing> {
        self.state.world.handle(key)?;
        self.smoothing.body(key).smoothing
    }

    /// Sets how a frame between two steps is shown, for all bodies without a
    /// [smoothing of their own](Self::set_body_smoothing).
    ///
    /// It takes effect with the next step; until then bodies are shown as before. If the new smoothing
    /// has the same latency, nothing jumps. To and from [`Smoothing::Extrapolate`] and [`Smoothing::Latest`], which
    /// show another time, a body skips or repeats up to a step's motion. With every [`Stepping`](crate::Stepping) but
    /// `Fixed` the last state is shown, whatever the smoothing.
    pub fn set_smoothing(&mut self, smoothing: Smoothing) {
        self.smoothing_mut().smoothing = smoothing;
        self.state.pairs.doubt_all();
    }

    /// [`set_smoothing`](Self::set_smoothing) for one body; `None` to follow the general setting again.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn set_body_smoothing(
        &mut self,
        key: BodyKey,
        smoothing: Option<Smoothing>,
    ) -> Result<(), BodyError> {
        let handle = self.living(key)?;
        self.smoothing_mut().body_mut(key).smoothing = smoothing;
        self.state.pairs.doubt(key, handle);
        Ok(())
    }

    fn smoothing_mut(&mut self) -> &mut SmoothingSettings {
        Arc::make_mut(&mut self.smoothing)
    }
}

/// # Smooth correction
///
/// After a [rollback](Self::roll_back) or a [replaced state](Self::replace_state), a body may differ from where it was
/// shown. This visual error decays over the next frames, without affecting the physics.
impl Simulation {
    /// How the visual error decays: as [`Correction::default`] says, unless it was set.
    #[must_use]
    pub fn correction(&self) -> Correction {
        self.smoothing.correction
    }

    /// The correction that was set for this body; `None` if none was, or if the body was removed.
    #[must_use]
    pub fn body_correction(&self, key: BodyKey) -> Option<Correction> {
        self.state.world.handle(key)?;
        self.smoothing.body(key).correction
    }

    /// Sets how the visual error decays, for all bodies without a [correction of their own](Self::set_body_correction):
    /// from the next frame on, also of an error that is shown already. With [`Correction::OFF`] bodies jump to their
    /// corrected poses.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Correction, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # simulation.set_rewind_limits(60, usize::MAX);
    /// # let ball = simulation.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// simulation.set_correction(Correction::default());
    /// simulation.advance(Duration::from_millis(100), |_, _| ());
    /// let x = |simulation: &Simulation| simulation.pose(ball).unwrap().translation.x;
    /// assert_eq!(x(&simulation), 0.0);
    ///
    /// simulation.resimulate(0, |simulation, step| {
    ///     if step.tick == 0 {
    ///         simulation.teleport(ball, Pose::from_translation(Vector::X)).unwrap();
    ///     }
    /// })?;
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// assert!(x(&simulation).abs() < 1e-3); // shown where it was
    /// simulation.advance(Duration::from_millis(200), |_, _| ()); // the half-life
    /// assert!((x(&simulation) - 0.5).abs() < 1e-3);
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    pub fn set_correction(&mut self, correction: Correction) {
        self.smoothing_mut().correction = correction;
    }

    /// [`set_correction`](Self::set_correction) for one body; `None` to follow the general setting again.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn set_body_correction(
        &mut self,
        key: BodyKey,
        correction: Option<Correction>,
    ) -> Result<(), BodyError> {
        self.living(key)?;
        self.smoothing_mut().body_mut(key).correction = correction;
        Ok(())
    }

    /// Returns how far the picture displays a body from its corrected pose, in metres and in world axes. `None` if there is
    /// no error. The displayed pose has the rotation `error.rotation * rotation`, and `error.translation` added.
    #[must_use]
    pub fn visual_error(&self, key: BodyKey) -> Option<Pose> {
        self.screen.as_ref()?.error(key).copied()
    }
}
