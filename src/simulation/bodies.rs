//! Bodies and their keys, and Rapier's world that they are in.

use crate::key::BodyKey;
use crate::step::{BodyError, World};
use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::geometry::{Collider, ColliderHandle};
use rapier::math::Pose;
use rapier::pipeline::{PhysicsWorld, QueryFilter, QueryPipelineMut};

use super::Simulation;
use super::state::State;

/// # Bodies
impl Simulation {
    /// Inserts a body and its collider. It starts to move in the next step.
    ///
    /// [`moved`](Self::moved) lists it in the next frame. Until then its [`pose`](Self::pose) is its current one:
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// let body = RigidBodyBuilder::dynamic().translation(Vector::Y);
    /// let ball = simulation.insert(body, ColliderBuilder::ball(0.5));
    /// assert_eq!(simulation.pose(ball).unwrap().translation, Vector::Y);
    /// assert!(simulation.moved().is_empty());
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// assert_eq!(simulation.moved(), [(ball, Pose::from_translation(Vector::Y))]);
    /// ```
    pub fn insert(&mut self, body: impl Into<RigidBody>, collider: impl Into<Collider>) -> BodyKey {
        let (handle, _) = self.state.world.physics.insert(body, collider);
        self.key_for(handle)
    }

    /// Inserts a body without a collider: an anchor for joints, or one that gets several colliders.
    pub fn insert_body(&mut self, body: impl Into<RigidBody>) -> BodyKey {
        let handle = self.state.world.physics.insert_body(body);
        self.key_for(handle)
    }

    /// Attaches another collider to a body.
    ///
    /// A collider without a body is inserted through [`physics_mut_except_bodies()`](Self::physics_mut_except_bodies).
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn insert_collider(
        &mut self,
        key: BodyKey,
        collider: impl Into<Collider>,
    ) -> Result<ColliderHandle, BodyError> {
        let parent = self.living(key)?;
        // The body's centre of mass may be elsewhere from now on.
        self.state.edits.bodies.push(key);
        Ok(self
            .state
            .world
            .physics
            .insert_collider(collider, Some(parent)))
    }

    /// Removes a collider, with or without a body, and returns it; `None` if it was removed already.
    ///
    /// Its `Stopped` events come with the next step.
    pub fn remove_collider(&mut self, handle: ColliderHandle) -> Option<Collider> {
        let body = self.key_of_collider(handle);
        if let Some(body) = body.and_then(|key| self.handle(key)) {
            self.expect_motion_of_neighbours(body);
        }
        self.state.edits.bodies.extend(body);
        self.state.world.physics.remove_collider(handle)
    }

    /// Gives a key to a body that was inserted through Rapier's own API, and returns it. If the body has a key already,
    /// returns that one; `None` if there is no such body.
    pub fn track(&mut self, handle: RigidBodyHandle) -> Option<BodyKey> {
        if !self.state.world.physics.bodies.contains(handle) {
            return None;
        }
        if let Some(key) = self.state.world.key(handle) {
            return Some(key);
        }
        let key = self.key_for(handle);
        for collider in self.state.world.physics.bodies[handle].colliders() {
            self.state.event_log.name_owner(*collider, key);
        }
        Some(key)
    }

    /// [`track`](Self::track)s every body that has no key yet, in Rapier's order: after
    /// [`with_physics`](Self::with_physics).
    ///
    /// It looks at all bodies: if none is new, that costs 5 to 30 ns a body, of 10,000. In each step [`track`](Self::track)
    /// only those that were inserted.
    pub fn track_all(&mut self) {
        let World { physics, keys, .. } = &self.state.world;
        let handles = physics.bodies.iter().map(|(handle, _)| handle);
        let new: Vec<_> = handles.filter(|it| keys.key(*it).is_none()).collect();
        for handle in new {
            self.track(handle);
        }
    }

    /// All bodies that have a key, with their keys, in no particular order.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyKey, &RigidBody)> {
        let bodies = &self.state.world.physics.bodies;
        let keys = self.state.world.keys.iter();
        keys.filter_map(|(key, handle)| Some((key, bodies.get(handle)?)))
    }

    fn key_for(&mut self, handle: RigidBodyHandle) -> BodyKey {
        let (key, dead) = self.state.world.keys.insert(handle);
        self.introduce(key, handle, dead);
        key
    }

    /// Lends a copy whose queries know of all that was done since the last step, together with the past.
    pub(crate) fn with_fresh_queries(&mut self, ask: impl FnOnce(&Self)) {
        let mut copy = self.clone();
        copy.state.world.refresh_queries();
        std::mem::swap(&mut copy.past, &mut self.past);
        ask(&copy);
        self.past = copy.past;
    }

    /// A body has got its key, by which an earlier one may have been found dead.
    fn introduce(&mut self, key: BodyKey, handle: RigidBodyHandle, dead: Option<BodyKey>) {
        if let Some(dead) = dead {
            self.died(dead);
        }
        let position = *self.state.world.physics.bodies[handle].position();
        let position = Some(position).filter(Pose::is_finite).unwrap_or_default();
        self.state.pairs.insert(key, handle, position);
        self.past.insert(key, self.first_known_tick());
    }

    /// Removes a body with its colliders, joints and generators, and returns it; `None` if it
    /// was removed already. Its key is dead from now on.
    ///
    /// The `Stopped` events of what it touched come with the next step.
    pub fn remove(&mut self, key: BodyKey) -> Option<RigidBody> {
        let handle = self.state.world.keys.remove(key)?;
        self.died(key);
        self.expect_motion_of_neighbours(handle);
        self.state.world.has_unwritten_changes |= self.state.world.has_joints(handle);
        self.state.world.physics.remove_body(handle)
    }

    /// Rapier wakes the bodies that a removed collider touched in the next step, in which they may move and fall asleep again.
    fn expect_motion_of_neighbours(&mut self, handle: RigidBodyHandle) {
        let State { world, edits, .. } = &mut self.state;
        let neighbours = world.sleeping_neighbours(handle).into_iter();
        let keys = neighbours.filter_map(|neighbour| world.keys.key(neighbour));
        edits.woken.extend(keys);
    }

    /// The body of this key; `None` if it was removed.
    #[must_use]
    pub fn body(&self, key: BodyKey) -> Option<&RigidBody> {
        self.state.world.get(key)
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
    /// # let ball = simulation.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
    /// let x = |simulation: &Simulation| simulation.pose(ball).unwrap().translation.x;
    /// simulation.body_mut(ball).unwrap().set_translation(Vector::X, true);
    /// assert_eq!(x(&simulation), 0.0); // until the next frame
    /// simulation.advance(Duration::from_millis(1), |_, _| ());
    /// assert_eq!(x(&simulation), 1.0);
    /// ```
    ///
    /// A change between two steps of one frame is detected before the frame's last step only, so that a curve
    /// ([`Smoothing::Hermite`](crate::Smoothing::Hermite)) of a body that is kinematic by position may begin with its old
    /// velocity. [`teleport`](Self::teleport) has no such limit.
    pub fn body_mut(&mut self, key: BodyKey) -> Option<&mut RigidBody> {
        let body = self.state.world.get_mut(key)?;
        self.state.edits.bodies.push(key);
        Some(body)
    }

    /// Rapier's handle of a body, for joints, ray casts and its own API; `None` if the body was removed.
    #[must_use]
    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        self.state.world.handle(key)
    }

    /// The key of the body with this handle; `None` if the body was removed or has no key: see
    /// [`track`](Self::track).
    #[must_use]
    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        self.state.world.key(handle)
    }

    /// The key of the body that a collider is attached to: for ray casts and other queries.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.state.world.key_of_collider(handle)
    }

    /// Rapier's world: all its sets, queries and parameters.
    #[must_use]
    pub fn physics(&self) -> &PhysicsWorld {
        &self.state.world.physics
    }

    /// Rapier's world, to change anything.
    ///
    /// Rapier does not report which bodies were changed, so the next frame checks every body with a key once, and the
    /// next step reads the mass and the velocity of all that move: 66 to 104 ns a body together, of 10,000. If you know
    /// which bodies change, use [`body_mut`](Self::body_mut) or [`physics_mut_for`](Self::physics_mut_for). Do not step
    /// the world here: the clock does not count such a step. The length of a step that is set here is not used.
    ///
    /// The key of a body that is removed here is dead at once; [`removed`](Self::removed) lists it in the next frame:
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let handle = simulation.handle(ball).unwrap();
    /// simulation.physics_mut().remove_body(handle);
    /// assert!(simulation.body(ball).is_none() && simulation.removed().is_empty());
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// assert_eq!(simulation.removed(), [ball]);
    /// ```
    pub fn physics_mut(&mut self) -> &mut PhysicsWorld {
        self.state.edits.all = true;
        self.physics_mut_except_bodies()
    }

    /// Rapier's world, to change the bodies of `keys`: no other body is checked for changes.
    ///
    /// Name the bodies whose pose, type, mass or colliders may be changed. If a body that is not named is changed, the
    /// change is shown once the body moves; if it is removed, its key is dead at once, but [`removed`](Self::removed)
    /// lists it only after [`physics_mut`](Self::physics_mut) was used. Keys of removed bodies are ignored.
    pub fn physics_mut_for(&mut self, keys: &[BodyKey]) -> &mut PhysicsWorld {
        self.state.edits.bodies.extend_from_slice(keys);
        self.physics_mut_except_bodies()
    }

    /// Rapier's world, to change joints, gravity, parameters and anything else that is no body: no body is
    /// checked for changes, so there is no cost. (For character controllers and vehicles there is
    /// [`query_pipeline_mut`](Self::query_pipeline_mut).)
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use evenstep::rapier::prelude::*;
    /// # let mut simulation = Simulation::default();
    /// simulation.physics_mut_except_bodies().gravity = Vector::ZERO;
    /// ```
    pub fn physics_mut_except_bodies(&mut self) -> &mut PhysicsWorld {
        self.state.world.has_unwritten_changes = true;
        &mut self.state.world.physics
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
        } = &mut self.state.world.physics;
        let dispatcher = narrow_phase.query_dispatcher();
        broad_phase.as_query_pipeline_mut(dispatcher, bodies, colliders, filter)
    }
}
