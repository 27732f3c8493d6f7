//! Forces for a step, and lasting ones.

use crate::key::{BodyKey, ForceGeneratorKey};
use crate::step::{BodyError, ForceGenerator, Push};
use rapier::math::{AngVector, Vector};

use super::Simulation;

/// # Forces
///
/// All of these act in the next step only, and wake the body. They have no effect on bodies that are not dynamic.
/// Forces set through Rapier's own API are left as they are.
///
/// | added | act in |
/// | --- | --- |
/// | in the hook before a step | that step; if it is not made they are discarded |
/// | in the hook after a step, or between frames | the next step, in this frame or a later one, also if a pause comes before it |
/// | in a pause, or at speed 0, but not after a step of the same frame | a step of the next frame: a [single one](crate::ClockSettings::step_once), or one after `resume`. If that frame has none, because time still stands, they are discarded and counted in [`Frame::forgotten_forces`](crate::Frame::forgotten_forces) |
///
/// Pending forces add up: a game that adds a force in every frame, not in every step, pushes in proportion to the
/// number of frames until the step. In a pause that would grow without bound, so what is added in it is discarded with
/// the frame.
///
/// ```
/// use evenstep::rapier::prelude::*;
/// use evenstep::Simulation;
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let mut simulation = Simulation::default();
/// let ball = ColliderBuilder::ball(0.5).mass(1.0);
/// let ball = simulation.insert(RigidBodyBuilder::dynamic(), ball);
/// let speed = |simulation: &Simulation| simulation.body(ball).unwrap().linvel().x;
/// for frame_time in [ms(10), ms(10)] { // the second one has a step
///     simulation.add_force(ball, Vector::X * 60.0)?;
///     simulation.advance(frame_time, |_, _| ());
/// }
/// assert!((speed(&simulation) - 2.0).abs() < 1e-3); // both acted in it
///
/// simulation.advance(ms(100), |_, _| ());
/// assert!((speed(&simulation) - 2.0).abs() < 1e-3); // and in no later one
///
/// simulation.pause();
/// simulation.add_force(ball, Vector::X * 60.0)?;
/// assert_eq!(simulation.advance(ms(20), |_, _| ()).forgotten_forces, 1);
/// # Ok::<(), evenstep::BodyError>(())
/// ```
///
/// A force changes the velocity over the step, an impulse before it: for the same momentum an
/// impulse moves a body further in that step.
///
/// Each fails with [`BodyError::Gone`] if there is no such body, and with [`BodyError::NotFinite`] if a value is
/// NaN or infinite.
#[expect(clippy::missing_errors_doc, reason = "above, once for all")]
impl Simulation {
    /// A force at the centre of mass: newtons, in world axes.
    pub fn add_force(&mut self, key: BodyKey, force: Vector) -> Result<(), BodyError> {
        self.push(key, Push::Force(force))
    }

    /// A force at a point: newtons and metres, in world space.
    pub fn add_force_at_point(
        &mut self,
        key: BodyKey,
        force: Vector,
        point: Vector,
    ) -> Result<(), BodyError> {
        self.push(key, Push::ForceAtPoint { force, point })
    }

    /// A torque about the centre of mass: newton metres, in world axes.
    pub fn add_torque(&mut self, key: BodyKey, torque: AngVector) -> Result<(), BodyError> {
        self.push(key, Push::Torque(torque))
    }

    /// An impulse at the centre of mass: newton seconds, in world axes. Unlike Rapier's own, it changes the velocity
    /// in the next step, not at once:
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let speed = |simulation: &Simulation| simulation.body(ball).unwrap().linvel().x;
    /// simulation.apply_impulse(ball, Vector::X)?;
    /// assert_eq!(speed(&simulation), 0.0);
    /// simulation.advance(Duration::from_millis(20), |_, _| ());
    /// assert!(speed(&simulation) > 0.0);
    /// # Ok::<(), evenstep::BodyError>(())
    /// ```
    pub fn apply_impulse(&mut self, key: BodyKey, impulse: Vector) -> Result<(), BodyError> {
        self.push(key, Push::Impulse(impulse))
    }

    /// An impulse at a point: newton seconds and metres, in world space.
    pub fn apply_impulse_at_point(
        &mut self,
        key: BodyKey,
        impulse: Vector,
        point: Vector,
    ) -> Result<(), BodyError> {
        self.push(key, Push::ImpulseAtPoint { impulse, point })
    }

    /// An angular impulse: newton metre seconds, in world axes.
    pub fn apply_torque_impulse(
        &mut self,
        key: BodyKey,
        impulse: AngVector,
    ) -> Result<(), BodyError> {
        self.push(key, Push::TorqueImpulse(impulse))
    }

    fn push(&mut self, key: BodyKey, push: Push) -> Result<(), BodyError> {
        if !push.is_finite() {
            return Err(BodyError::NotFinite(key));
        }
        self.living(key)?;
        // After a step of this frame time has not stood still, also if it was a single step or a resimulated one.
        let is_after_step =
            self.resimulation.is_some() || (self.is_in_frame() && self.frame.steps > 0);
        let is_of_pause = self.clock.settings().stands_still() && !is_after_step;
        self.state.forces.push(key, push, is_of_pause);
        Ok(())
    }

    /// Adds a lasting force to a body. It acts from the next step on, until it or the body is
    /// [removed](Self::remove_force_generator).
    pub fn insert_force_generator(
        &mut self,
        key: BodyKey,
        generator: ForceGenerator,
    ) -> Result<ForceGeneratorKey, BodyError> {
        self.state.world.handle(key).ok_or(BodyError::Gone(key))?;
        Ok(self.state.forces.insert_generator(key, generator))
    }

    /// Removes a lasting force and returns it; `None` if it or its body was removed.
    pub fn remove_force_generator(&mut self, key: ForceGeneratorKey) -> Option<ForceGenerator> {
        let (body, generator) = self.state.forces.remove_generator(key)?;
        self.state.world.handle(body).map(|_| generator)
    }

    /// A lasting force and the body that it acts on; `None` if one of them was removed.
    #[must_use]
    pub fn force_generator(&self, key: ForceGeneratorKey) -> Option<(BodyKey, &ForceGenerator)> {
        let (body, generator) = self.state.forces.generator(key)?;
        self.state.world.handle(*body).map(|_| (*body, generator))
    }
}
