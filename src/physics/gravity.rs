//! Gravity, and waking sleeping bodies after a change of the world.

use super::Physics;
use crate::step::World;
use rapier::dynamics::{RigidBody, RigidBodyHandle, SoftBody, SoftBodyHandle};
use rapier::math::Vector;

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
        self.world.physics.gravity
    }

    /// Sets the gravity, in m/s² and world axes, and wakes the sleeping bodies that it acts on. The new gravity acts
    /// from the next step on. In the hook before a step, this is that step.
    ///
    /// Rapier wakes no body when gravity changes. If you set `gravity` through
    /// [`rapier_mut_except_bodies`](Self::rapier_mut_except_bodies), sleeping bodies stay where they are, even in
    /// mid-air. This method wakes dynamic bodies and soft bodies, and the bodies that touch them. It does not wake
    /// disabled bodies, nor bodies with a gravity scale of 0.
    ///
    /// If `gravity` equals the current gravity, the call does nothing. So you can call it in every step, and bodies
    /// still fall asleep. A change reads all bodies once.
    ///
    /// A change between two frames is not repeated in a rollback, like [any other
    /// edit](crate::Simulation#what-is-resimulated). If you use rollback, set the gravity in a hook.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Simulation, VectorError};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// let body = RigidBodyBuilder::dynamic().sleeping(true);
    /// let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// simulation.advance(Duration::from_millis(100), |_, _| ());
    /// assert_eq!(simulation.pose(ball).unwrap().translation.y, 0.0);
    ///
    /// simulation.physics.set_gravity(Vector::Y * 9.81)?; // upwards
    /// simulation.advance(Duration::from_millis(100), |_, _| ());
    /// assert!(simulation.pose(ball).unwrap().translation.y > 0.0);
    /// # Ok::<(), VectorError>(())
    /// ```
    ///
    /// # Errors
    /// [`VectorError`] if `gravity` is not finite. Rapier would disable every body.
    pub fn set_gravity(&mut self, gravity: Vector) -> Result<(), VectorError> {
        if !gravity.is_finite() {
            return Err(VectorError(gravity));
        }
        if gravity != self.gravity() {
            self.world.physics.gravity = gravity;
            self.wake(
                |body| body.is_dynamic() && body.gravity_scale() != 0.0,
                |soft_body| soft_body.particle_settings().gravity_scale != 0.0,
            );
        }
        Ok(())
    }

    /// Wakes all sleeping bodies and soft bodies, except disabled ones.
    ///
    /// Use it after you change a parameter of the world through
    /// [`rapier_mut_except_bodies`](Self::rapier_mut_except_bodies), because Rapier wakes no body then. For gravity,
    /// use [`set_gravity`](Self::set_gravity). Bodies that are woken in every step never fall asleep.
    ///
    /// The call reads all bodies once. Like [any other edit](crate::Simulation#what-is-resimulated), it is not repeated
    /// in a rollback if you call it between two frames.
    pub fn wake_up_all(&mut self) {
        self.wake(|body| !body.is_fixed(), |_| true);
    }

    /// Wakes sleeping bodies and soft bodies.
    ///
    /// The order is part of the state, because Rapier steps bodies in the order in which they woke. Bodies wake in the
    /// order of their keys, then bodies without a key and soft bodies in Rapier's order. A disabled body would be awake
    /// in no island.
    fn wake(
        &mut self,
        is_affected: impl Fn(&RigidBody) -> bool,
        is_soft_affected: impl Fn(&SoftBody) -> bool,
    ) {
        let World { physics, keys, .. } = &mut self.world;
        let with_key = keys.iter().map(|(_, handle)| handle);
        let all = physics.bodies.iter().map(|(handle, _)| handle);
        let without_key = all.filter(|handle| keys.key(*handle).is_none());
        let sleepers: Vec<RigidBodyHandle> = with_key
            .chain(without_key)
            .filter(|handle| {
                let body = physics.bodies.get(*handle);
                body.is_some_and(|it| it.is_enabled() && it.is_sleeping() && is_affected(it))
            })
            .collect();
        let soft_sleepers: Vec<SoftBodyHandle> = (physics.soft_bodies.iter())
            .filter(|(_, it)| it.is_enabled() && it.is_sleeping() && is_soft_affected(it))
            .map(|(handle, _)| handle)
            .collect();
        self.edits.any_woken |= !sleepers.is_empty() || !soft_sleepers.is_empty();
        for handle in sleepers {
            if let Some(body) = physics.bodies.get_mut(handle) {
                body.wake_up(true);
            }
        }
        for handle in soft_sleepers {
            (physics.soft_bodies).wake_up(handle, &mut physics.bodies, true);
        }
    }
}
