//! Forces for one step, and lasting forces.

use crate::forces::{AtCall, ForceGenerator, Push, Pushed, Wrench};
use crate::key::{BodyError, BodyKey, ForceGeneratorKey};
use crate::step::World;
use rapier::dynamics::{RigidBody, RigidBodyHandle, SoftBody, SoftBodyHandle};
use rapier::math::{AngVector, Vector};

use super::{Physics, Stage};

/// # Forces
///
/// Forces, torques and impulses act on enabled dynamic bodies in the next step only, and wake the body unless they are
/// zero. Forces that were set through Rapier stay.
///
/// | added | act in |
/// | --- | --- |
/// | in the hook before a step | that step; if it does not run, they are discarded |
/// | in the hook after a step, or in a state that is later assigned or passed to [`correct`](crate::Simulation::correct) | the next step, even if a pause comes before it |
/// | between two frames, or in a frame outside of its steps | the next step, unless a rollback or a correction comes before it. If time is stopped in the frame and it runs no [single step](crate::Simulation::step_once), they are discarded and [counted](crate::Frame::forgotten_forces) |
///
/// Pending forces add up, so add them in each step and not in each frame:
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::Simulation;
/// # let mut simulation = Simulation::default();
/// # let ball = ColliderBuilder::ball(0.5).mass(1.0);
/// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ball);
/// for _ in 0..2 { // the second frame has a step
///     simulation.physics.add_force(ball, Vector::X * 60.0)?;
///     simulation.advance(std::time::Duration::from_millis(10), |_, _| ());
/// }
/// let speed = simulation.physics.body(ball).unwrap().linvel().x;
/// assert!((speed - 2.0).abs() < 1e-3); // both acted in it
/// # Ok::<(), evenstep::BodyError>(())
/// ```
///
/// Methods that return a result fail with [`BodyError::Gone`] and, except for
/// [`insert_force_generator`](Self::insert_force_generator), [`BodyError::NotFinite`].
#[expect(clippy::missing_errors_doc, reason = "above, once for all")]
impl Physics {
    /// Adds a force at the centre of mass, in newtons and world axes.
    pub fn add_force(&mut self, key: BodyKey, force: Vector) -> Result<(), BodyError> {
        self.push(Pushed::new(key, Push::Force(Wrench::of_force(force))))
    }

    /// Adds a force at a point, in newtons and metres, in world space. The body may be teleported before the step: the
    /// point is relative to the body at the call. The lever arm begins at the centre of mass that the body has in the
    /// step.
    pub fn add_force_at_point(
        &mut self,
        key: BodyKey,
        force: Vector,
        point: Vector,
    ) -> Result<(), BodyError> {
        self.push_at(key, force, point, Push::Force)
    }

    /// Adds a torque about the centre of mass, in newton metres and world axes.
    pub fn add_torque(&mut self, key: BodyKey, torque: AngVector) -> Result<(), BodyError> {
        self.push(Pushed::new(key, Push::Force(Wrench::of_torque(torque))))
    }

    /// Applies an impulse at the centre of mass, in newton seconds and world axes. The velocity changes in the next
    /// step, not at once.
    pub fn apply_impulse(&mut self, key: BodyKey, impulse: Vector) -> Result<(), BodyError> {
        self.push(Pushed::new(key, Push::Impulse(Wrench::of_force(impulse))))
    }

    /// Applies an impulse at a point, in newton seconds and metres, in world space, with the lever arm of
    /// [`add_force_at_point`](Self::add_force_at_point).
    pub fn apply_impulse_at_point(
        &mut self,
        key: BodyKey,
        impulse: Vector,
        point: Vector,
    ) -> Result<(), BodyError> {
        self.push_at(key, impulse, point, Push::Impulse)
    }

    /// Applies an angular impulse, in newton metre seconds and world axes.
    pub fn apply_torque_impulse(
        &mut self,
        key: BodyKey,
        impulse: AngVector,
    ) -> Result<(), BodyError> {
        self.push(Pushed::new(key, Push::Impulse(Wrench::of_torque(impulse))))
    }

    /// Adds a force or an impulse at a point in world space. `push_of` tells which of the two it is.
    fn push_at(
        &mut self,
        key: BodyKey,
        force: Vector,
        point: Vector,
        push_of: fn(Wrench) -> Push,
    ) -> Result<(), BodyError> {
        if !(force.is_finite() && point.is_finite()) {
            return Err(BodyError::NotFinite(key));
        }
        let body = self.world.get(key).ok_or(BodyError::Gone(key))?;
        let mut wrench = Wrench::at_point(body, force, point);
        if !wrench.torque.is_finite() {
            // The arguments are finite, so this is no error. Rapier would disable a body with such a torque.
            wrench = Wrench::of_force(force);
        }
        // If an edit moves the centre of mass until the step, the step corrects the torque.
        let at_call = Some(AtCall {
            center_of_mass: body.local_center_of_mass(),
            rotation: *body.rotation(),
        });
        self.push(Pushed {
            at_call,
            ..Pushed::new(key, push_of(wrench))
        })
    }

    /// Adds a force or an impulse for the current step if that has not run yet, or else for the next step.
    fn push(&mut self, pushed: Pushed) -> Result<(), BodyError> {
        if !pushed.push.is_finite() {
            return Err(BodyError::NotFinite(pushed.key));
        }
        self.try_handle(pushed.key)?;
        match self.running.stage {
            // These forces are discarded if the current step does not run.
            Stage::Before(_) => self.running.step_pushes.push(pushed),
            _ => self.forces.push(pushed),
        }
        Ok(())
    }

    /// Adds all forces to the bodies for a step. Recomputes the masses of new and `edited` bodies before, because
    /// impulses depend on them. `edited` is sorted. Returns how many force generators gave a force that is not finite.
    pub(super) fn apply_forces(&mut self, edited: &[BodyKey]) -> u64 {
        let Self {
            world: World { rapier, keys, .. },
            forces,
            edits,
            running,
            ..
        } = self;
        let may_be_changed = |key: &BodyKey| {
            edited.binary_search(key).is_ok() || keys.was_inserted_since(*key, self.tick)
        };
        let sets = (&mut rapier.bodies, &mut rapier.colliders);
        let pushes = &mut running.step_pushes;
        forces.apply(pushes, sets, keys, may_be_changed, &mut edits.woken)
    }

    /// Adds a lasting force to a body. It acts from the next step on, until it or the body is
    /// [removed](Self::remove_force_generator).
    pub fn insert_force_generator(
        &mut self,
        key: BodyKey,
        generator: ForceGenerator,
    ) -> Result<ForceGeneratorKey, BodyError> {
        self.world.handle(key).ok_or(BodyError::Gone(key))?;
        Ok(self.forces.insert_generator(key, generator))
    }

    /// Removes a lasting force and returns it, or returns `None` if it or its body was removed.
    pub fn remove_force_generator(&mut self, key: ForceGeneratorKey) -> Option<ForceGenerator> {
        let (body, generator) = self.forces.remove_generator(key)?;
        self.world.handle(body).map(|_| generator)
    }
}

/// A vector is NaN or infinite. Nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the vector {0} is NaN or infinite: check what it was computed from; nothing was changed")]
pub struct VectorError(
    /// The rejected vector.
    pub Vector,
);

/// # Gravity
impl Physics {
    /// Returns the gravity, in m/s² and world axes.
    #[must_use]
    pub fn gravity(&self) -> Vector {
        self.world.rapier.gravity
    }

    /// Sets the gravity, in m/s² and world axes, from the next step on, and wakes the sleeping bodies that it acts on:
    /// dynamic bodies, soft bodies and the bodies that touch them, except disabled bodies and bodies with a gravity
    /// scale of 0. Rapier's field `gravity` wakes none.
    ///
    /// Equal gravity changes nothing.
    ///
    /// # Errors
    /// [`VectorError`] if `gravity` is not finite.
    pub fn set_gravity(&mut self, gravity: Vector) -> Result<(), VectorError> {
        if !gravity.is_finite() {
            return Err(VectorError(gravity));
        }
        if gravity != self.gravity() {
            self.world.rapier.gravity = gravity;
            self.wake(
                |body| body.is_dynamic() && body.gravity_scale() != 0.0,
                |soft_body| soft_body.particle_settings().gravity_scale != 0.0,
            );
        }
        Ok(())
    }

    /// Wakes all sleeping bodies and soft bodies, except disabled ones. Use it after you change a parameter of the
    /// world.
    pub fn wake_up_all(&mut self) {
        self.wake(|body| !body.is_fixed(), |_| true);
    }

    /// Wakes sleeping bodies in the order of their keys, then those without a key and soft bodies in Rapier's order.
    /// The order is part of the state, because Rapier steps bodies in the order in which they woke. Skips disabled
    /// bodies, which belong to no island.
    fn wake(
        &mut self,
        is_affected: impl Fn(&RigidBody) -> bool,
        is_soft_affected: impl Fn(&SoftBody) -> bool,
    ) {
        let World { rapier, keys, .. } = &mut self.world;
        let with_key = keys.iter().map(|(_, handle)| handle);
        let all = rapier.bodies.iter().map(|(handle, _)| handle);
        let without_key = all.filter(|handle| keys.key(*handle).is_none());
        let sleepers: Vec<RigidBodyHandle> = with_key
            .chain(without_key)
            .filter(|handle| {
                let body = rapier.bodies.get(*handle);
                body.is_some_and(|it| it.is_enabled() && it.is_sleeping() && is_affected(it))
            })
            .collect();
        let soft_sleepers: Vec<SoftBodyHandle> = (rapier.soft_bodies.iter())
            .filter(|(_, it)| it.is_enabled() && it.is_sleeping() && is_soft_affected(it))
            .map(|(handle, _)| handle)
            .collect();
        // Rapier may wake more bodies together with these, so the next step reads the poses of all.
        self.edits.any_may_wake |= !sleepers.is_empty() || !soft_sleepers.is_empty();
        for handle in sleepers {
            if let Some(body) = rapier.bodies.get_mut(handle) {
                body.wake_up(true);
            }
        }
        for handle in soft_sleepers {
            (rapier.soft_bodies).wake_up(handle, &mut rapier.bodies, true);
        }
    }
}
