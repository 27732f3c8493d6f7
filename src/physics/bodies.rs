//! Bodies and their keys, and Rapier's world that they are in.

use crate::key::BodyKey;
use crate::step::{BodyError, World};
use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::geometry::{Collider, ColliderHandle};
use rapier::math::Pose;
use rapier::pipeline::{PhysicsWorld, QueryFilter, QueryPipelineMut};

use super::Physics;

/// # Bodies
impl Physics {
    /// Inserts a body and its collider. It starts to move in the next step.
    ///
    /// [`Simulation::moved`](crate::Simulation::moved) lists it in the next frame. Until then its
    /// [`pose`](crate::Simulation::pose) is its current one:
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// let body = RigidBodyBuilder::dynamic().translation(Vector::Y);
    /// let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// assert_eq!(simulation.pose(ball).unwrap().translation, Vector::Y);
    /// assert!(simulation.moved().is_empty());
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// assert_eq!(simulation.moved(), [(ball, Pose::from_translation(Vector::Y))]);
    /// ```
    pub fn insert(&mut self, body: impl Into<RigidBody>, collider: impl Into<Collider>) -> BodyKey {
        let (handle, _) = self.world.physics.insert(body, collider);
        self.key_for(handle)
    }

    /// Inserts a body without a collider: an anchor for joints, or one that gets several colliders.
    pub fn insert_body(&mut self, body: impl Into<RigidBody>) -> BodyKey {
        let handle = self.world.physics.insert_body(body);
        self.key_for(handle)
    }

    /// Attaches another collider to a body.
    ///
    /// A collider without a body is inserted through [`rapier_mut_except_bodies()`](Self::rapier_mut_except_bodies).
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn insert_collider(
        &mut self,
        key: BodyKey,
        collider: impl Into<Collider>,
    ) -> Result<ColliderHandle, BodyError> {
        let parent = self.try_handle(key)?;
        // The body's centre of mass may be elsewhere from now on.
        self.edits.bodies.push(key);
        Ok(self.world.physics.insert_collider(collider, Some(parent)))
    }

    /// Removes a collider, with or without a body, and returns it; `None` if it was removed already.
    ///
    /// Its `Stopped` events come with the next step.
    pub fn remove_collider(&mut self, handle: ColliderHandle) -> Option<Collider> {
        let body = self.key_of_collider(handle);
        if let Some(body) = body.and_then(|key| self.handle(key)) {
            self.expect_motion_of_neighbours(body);
        }
        self.edits.bodies.extend(body);
        self.world.physics.remove_collider(handle)
    }

    /// Gives a key to a body that was inserted through Rapier's own API, and returns it. If the body has a key already,
    /// returns that one; `None` if there is no such body.
    pub fn track(&mut self, handle: RigidBodyHandle) -> Option<BodyKey> {
        if !self.world.physics.bodies.contains(handle) {
            return None;
        }
        if let Some(key) = self.world.key(handle) {
            return Some(key);
        }
        let key = self.key_for(handle);
        for collider in self.world.physics.bodies[handle].colliders() {
            self.event_log.name_owner(*collider, key);
        }
        Some(key)
    }

    /// [`track`](Self::track)s every body that has no key yet, in Rapier's order: after
    /// [`from_rapier`](Self::from_rapier).
    ///
    /// It looks at all bodies: if none is new, that costs 5 to 30 ns a body, of 10,000. In each step [`track`](Self::track)
    /// only those that were inserted.
    pub fn track_all(&mut self) {
        let World { physics, keys, .. } = &self.world;
        let handles = physics.bodies.iter().map(|(handle, _)| handle);
        let new: Vec<_> = handles.filter(|it| keys.key(*it).is_none()).collect();
        for handle in new {
            self.track(handle);
        }
    }

    /// All bodies that have a key, with their keys, in no particular order.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyKey, &RigidBody)> {
        let bodies = &self.world.physics.bodies;
        let keys = self.world.keys.iter();
        keys.filter_map(|(key, handle)| Some((key, bodies.get(handle)?)))
    }

    fn key_for(&mut self, handle: RigidBodyHandle) -> BodyKey {
        let born = self.first_known_tick();
        let (key, dead) = self.world.keys.insert(handle, born);
        self.introduce(key, handle, dead);
        key
    }

    /// A body has got its key, by which an earlier one may have been found dead.
    fn introduce(&mut self, key: BodyKey, handle: RigidBodyHandle, dead: Option<BodyKey>) {
        if let Some(dead) = dead {
            self.forget_body(dead);
        }
        let position = *self.world.physics.bodies[handle].position();
        let position = Some(position).filter(Pose::is_finite).unwrap_or_default();
        self.pairs.insert(key, handle, position);
    }

    /// Removes a body with its colliders, joints and generators, and returns it; `None` if it
    /// was removed already. Its key is dead from now on.
    ///
    /// The `Stopped` events of what it touched come with the next step.
    pub fn remove(&mut self, key: BodyKey) -> Option<RigidBody> {
        let handle = self.world.keys.remove(key)?;
        self.forget_body(key);
        self.expect_motion_of_neighbours(handle);
        self.world.has_unwritten_changes |= self.world.has_joints(handle);
        self.world.physics.remove_body(handle)
    }

    /// The body of this key; `None` if it was removed.
    #[must_use]
    pub fn body(&self, key: BodyKey) -> Option<&RigidBody> {
        self.world.get(key)
    }

    /// The body of this key, to change anything about it; `None` if it was removed.
    ///
    /// A position that is set here is a teleport: the next frame shows it, not blended with the old one. A rotation or a
    /// translation that is set alone leaves the other as smooth as it was.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
    /// let x = |simulation: &Simulation| simulation.pose(ball).unwrap().translation.x;
    /// simulation.physics.body_mut(ball).unwrap().set_translation(Vector::X, true);
    /// assert_eq!(x(&simulation), 0.0); // until the next frame
    /// simulation.advance(Duration::from_millis(1), |_, _| ());
    /// assert_eq!(x(&simulation), 1.0);
    /// ```
    ///
    /// A change between two steps of one frame is detected before the frame's last step only, so that a curve
    /// ([`Smoothing::Hermite`](crate::Smoothing::Hermite)) of a body that is kinematic by position may begin with its old
    /// velocity. [`teleport`](Self::teleport) has no such limit.
    pub fn body_mut(&mut self, key: BodyKey) -> Option<&mut RigidBody> {
        let body = self.world.get_mut(key)?;
        self.edits.bodies.push(key);
        Some(body)
    }

    /// Rapier's handle of a body, for joints, ray casts and its own API; `None` if the body was removed.
    #[must_use]
    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        self.world.handle(key)
    }

    /// The key of the body with this handle; `None` if the body was removed or has no key: see
    /// [`track`](Self::track).
    #[must_use]
    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        self.world.key(handle)
    }

    /// The key of the body that a collider is attached to: for ray casts and other queries.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.world.key_of_collider(handle)
    }

    /// Rapier's world: all its sets, queries and parameters.
    #[must_use]
    pub fn rapier(&self) -> &PhysicsWorld {
        &self.world.physics
    }

    /// Rapier's world, to change anything.
    ///
    /// Rapier does not report which bodies were changed, so the next frame checks every body with a key once, and the
    /// next step reads the mass and the velocity of all that move: 66 to 104 ns a body together, of 10,000. If you know
    /// which bodies change, use [`body_mut`](Self::body_mut) or [`rapier_mut_for`](Self::rapier_mut_for). Do not step
    /// the world here: the clock does not count such a step. The length of a step that is set here is not used.
    ///
    /// The key of a body that is removed here is dead at once; [`removed`](crate::Simulation::removed) lists it in the next
    /// frame:
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let handle = simulation.physics.handle(ball).unwrap();
    /// simulation.physics.rapier_mut().remove_body(handle);
    /// assert!(simulation.physics.body(ball).is_none() && simulation.removed().is_empty());
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// assert_eq!(simulation.removed(), [ball]);
    /// ```
    pub fn rapier_mut(&mut self) -> &mut PhysicsWorld {
        self.edits.all = true;
        self.rapier_mut_except_bodies()
    }

    /// Rapier's world, to change the bodies of `keys`: no other body is checked for changes.
    ///
    /// Name the bodies whose pose, type, mass or colliders may be changed. If a body that is not named is changed, the
    /// change is displayed once the body moves; if it is removed, its key is dead at once, but
    /// [`removed`](crate::Simulation::removed) lists it only after [`rapier_mut`](Self::rapier_mut) was used. Keys of removed
    /// bodies are ignored.
    pub fn rapier_mut_for(&mut self, keys: &[BodyKey]) -> &mut PhysicsWorld {
        self.edits.bodies.extend_from_slice(keys);
        self.rapier_mut_except_bodies()
    }

    /// Rapier's world, to change joints, gravity, parameters and anything else that is no body: no body is
    /// checked for changes, so there is no cost. (For character controllers and vehicles there is
    /// [`query_pipeline_mut`](Self::query_pipeline_mut).)
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use evenstep::rapier::prelude::*;
    /// # let mut simulation = Simulation::default();
    /// simulation.physics.rapier_mut_except_bodies().gravity = Vector::ZERO;
    /// ```
    pub fn rapier_mut_except_bodies(&mut self) -> &mut PhysicsWorld {
        self.world.has_unwritten_changes = true;
        &mut self.world.physics
    }

    /// Rapier's queries with mutable access, as character controllers ([`solve_character_collision_impulses`]) and
    /// vehicles (`update_vehicle`) need it in every step.
    ///
    /// They move nothing themselves, so no body is checked for changes: there is no cost.
    ///
    /// [`solve_character_collision_impulses`]: crate::rapier::control::KinematicCharacterController::solve_character_collision_impulses
    pub fn query_pipeline_mut<'a>(&'a mut self, filter: QueryFilter<'a>) -> QueryPipelineMut<'a> {
        let PhysicsWorld {
            broad_phase,
            narrow_phase,
            bodies,
            colliders,
            ..
        } = &mut self.world.physics;
        let dispatcher = narrow_phase.query_dispatcher();
        broad_phase.as_query_pipeline_mut(dispatcher, bodies, colliders, filter)
    }
}
