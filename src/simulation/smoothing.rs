//! How what frames show is smoothed.

use rapier::math::Pose;

use crate::key::BodyKey;
use crate::pose::{Correction, Smoothing};

use super::Simulation;

/// # Smoothing
///
/// Settings of the picture. They are not part of the state, so a rollback does not change them.
impl Simulation {
    /// How a frame between two steps is shown: [`Smoothing::Interpolate`] by default.
    #[must_use]
    pub fn smoothing(&self) -> Smoothing {
        self.smoothing.smoothing
    }

    /// Sets how a frame between two steps is shown, for all bodies without a
    /// [smoothing of their own](crate::Physics::set_body_smoothing).
    ///
    /// It takes effect with the next step; until then bodies are shown as before. If the new smoothing
    /// has the same latency, nothing jumps. To and from [`Smoothing::Extrapolate`] and [`Smoothing::Latest`], which
    /// show another time, a body skips or repeats up to a step's motion. With every [`Stepping`](crate::Stepping) but
    /// `Fixed` the last state is shown, whatever the smoothing.
    pub fn set_smoothing(&mut self, smoothing: Smoothing) {
        self.smoothing.smoothing = smoothing;
        self.stamp_physics();
    }
}

/// # Smooth correction
///
/// After a [rollback](Self::roll_back) or a [correction](Self::correct), a body may differ from where it was
/// shown. This visual error decays over the next frames, without affecting the physics.
impl Simulation {
    /// How the visual error decays: as [`Correction::default`] says, unless it was set.
    #[must_use]
    pub fn correction(&self) -> Correction {
        self.smoothing.correction
    }

    /// Sets how the visual error decays, for all bodies without a [correction of their own](crate::Physics::set_body_correction):
    /// from the next frame on, also of an error that is shown already. With [`Correction::OFF`] bodies jump to their
    /// corrected poses.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Correction, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # simulation.set_rewind_limits(60, usize::MAX);
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// simulation.set_correction(Correction::default());
    /// simulation.advance(Duration::from_millis(100), |_, _| ());
    /// let x = |simulation: &Simulation| simulation.pose(ball).unwrap().translation.x;
    /// assert_eq!(x(&simulation), 0.0);
    ///
    /// simulation.resimulate(0, |physics, step| {
    ///     if step.tick == 0 {
    ///         physics.teleport(ball, Pose::from_translation(Vector::X)).unwrap();
    ///     }
    /// })?;
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// assert!(x(&simulation).abs() < 1e-3); // shown where it was
    /// simulation.advance(Duration::from_millis(200), |_, _| ()); // the half-life
    /// assert!((x(&simulation) - 0.5).abs() < 1e-3);
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    pub fn set_correction(&mut self, correction: Correction) {
        self.smoothing.correction = correction;
        self.stamp_physics();
    }

    /// Returns how far the picture displays a body from its corrected pose, in metres and in world axes. `None` if there is
    /// no error. The displayed pose has the rotation `error.rotation * rotation`, and `error.translation` added.
    #[must_use]
    pub fn visual_error(&self, key: BodyKey) -> Option<Pose> {
        self.screen.as_ref()?.error(key).copied()
    }
}
