//! Bodies that are teleported, not by a step.

use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::math::{Pose, Real};

use crate::key::BodyKey;
use crate::step::World;

use super::super::motion::{Smoothing, finite_velocity};
use super::super::movers::is_about_to_move;
use super::super::paths::extrapolated;
use super::{Pairs, Place};

impl Pairs {
    /// The game may have changed this body: the two poses may not say what is shown between them.
    pub fn recheck(&mut self, key: BodyKey, handle: RigidBodyHandle) {
        let place = self.list(key, handle);
        self.movers.recheck(place);
    }

    /// Any body may have another centre of mass from the next step on, or another smoothing.
    pub fn recheck_all(&mut self) {
        self.movers.recheck_all();
    }

    /// If the body is elsewhere than where the last step left it, shows it there at once, not blended with where
    /// it was. `tick` steps have been made. Gives whether it is.
    ///
    /// Where the last step left one that moves is not known if the pairs are older than that: all of them are
    /// read before the next captured step.
    pub fn notice(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        position: Pose,
        tick: u64,
    ) -> bool {
        let last = match self.places[key] {
            Place::Moving(_) if self.is_outdated(tick) => return false,
            Place::Moving(place) => self.movers.current(place),
            Place::Resting { pose, .. } => pose,
        };
        let is_elsewhere = position.is_finite() && position != last;
        if is_elsewhere {
            let place = self.keep_pair(key, handle);
            self.movers.put(place, position, tick);
        }
        is_elsewhere
    }

    /// Lists a resting body, whose pose after the next step is then read even if it rests again.
    pub fn list_resting(&mut self, key: BodyKey, handle: RigidBodyHandle) {
        self.list(key, handle);
    }

    /// Lists a resting body that the game has woken, so that the next step reads the velocity that its curve begins with.
    pub fn list_if_awake(&mut self, key: BodyKey, handle: RigidBodyHandle, body: &RigidBody) {
        if is_about_to_move(body) {
            self.list(key, handle);
        }
    }

    /// Lists a body that is about to be teleported.
    fn keep_pair(&mut self, key: BodyKey, handle: RigidBodyHandle) -> usize {
        let place = self.list(key, handle);
        let pair = self.movers.pair(place);
        self.teleported.entry(key).or_insert(pair);
        place
    }

    /// The body has been put to `position` after `tick` steps, to be shown there at once.
    pub fn teleport(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose, tick: u64) {
        let place = self.keep_pair(key, handle);
        self.movers.teleport(place, position, tick);
    }

    /// As [`transform`](Self::transform), through a portal: the states of the last step stay where they were.
    pub fn transport(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        by: &Pose,
        tick: u64,
    ) -> bool {
        self.keep_pair(key, handle);
        self.transform(key, handle, by, tick)
    }

    /// The world has another origin: the states of the last step are seen from there too. Each body has to be
    /// [transformed](Self::transform).
    pub fn shift(&mut self, by: &Pose) {
        self.teleported
            .values_mut()
            .for_each(|pair| pair.transform(by));
    }

    /// Moves the last two poses of a body, whose motion was moved by an isometry of the world after `tick` steps. Returns
    /// whether it is at a finite pose then.
    pub fn transform(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        by: &Pose,
        tick: u64,
    ) -> bool {
        let place = self.list(key, handle);
        let pair = self.movers.pair(place);
        let current = by * pair.current;
        if !current.is_finite() {
            return false;
        }
        // Beyond all numbers there is nothing to come from.
        let previous = Some(by * pair.previous).filter(Pose::is_finite);
        self.movers.set(place, previous.unwrap_or(current), current);
        self.movers.turn(place, by.rotation, tick);
        true
    }

    /// Sets the previous pose to the one that the body would have had a step before, by its velocity. Gives whether
    /// that is a pose.
    pub fn set_previous_from_velocity(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        world: &World,
        smoothing: Smoothing,
        dt: Real,
    ) -> bool {
        let place = self.list(key, handle);
        self.movers.recheck(place);
        let body: &RigidBody = &world.physics.bodies[handle];
        let center = body.mass_properties().local_mprops.local_com;
        let (position, velocity) = (body.position(), finite_velocity(body));
        let previous = extrapolated(position, &velocity, center, -dt);
        let is_pose = position.is_finite() && previous.is_finite();
        if is_pose {
            self.movers.set(place, previous, *position);
            let max_linear_velocity = world.physics.integration_parameters.max_linear_velocity();
            self.movers
                .set_trajectory(place, body, max_linear_velocity, smoothing, dt, self.tick);
        }
        is_pose
    }
}
