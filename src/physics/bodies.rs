//! Bodies and their keys, and access to Rapier's world.

use crate::events::{Touch, pair_order};
use crate::key::{BodyError, BodyKey};
use crate::step::World;
use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::geometry::{Collider, ColliderHandle};
use rapier::math::Pose;
use rapier::pipeline::{PhysicsWorld, QueryFilter, QueryPipelineMut};

use super::Physics;

/// # Bodies
impl Physics {
    /// Inserts a body and its collider. The body starts to move in the next step.
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
        let (handle, _) = self.world.rapier.insert(body, collider);
        self.key_for(handle)
    }

    /// Inserts a body without a collider, such as an anchor for joints or a body that will get several colliders.
    pub fn insert_body(&mut self, body: impl Into<RigidBody>) -> BodyKey {
        let handle = self.world.rapier.insert_body(body);
        self.key_for(handle)
    }

    /// Attaches another collider to a body.
    ///
    /// To insert a collider without a body, use [`rapier_mut_except_bodies()`](Self::rapier_mut_except_bodies).
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn insert_collider(
        &mut self,
        key: BodyKey,
        collider: impl Into<Collider>,
    ) -> Result<ColliderHandle, BodyError> {
        let parent = self.try_handle(key)?;
        // The body's centre of mass may differ from now on.
        self.edits.bodies.push(key);
        Ok(self.world.rapier.insert_collider(collider, Some(parent)))
    }

    /// Removes a collider, with or without a body, and returns it, or returns `None` if it was removed already.
    ///
    /// The next step reports its `Stopped` events.
    pub fn remove_collider(&mut self, handle: ColliderHandle) -> Option<Collider> {
        let body = self.key_of_collider(handle);
        if let Some(body) = body.and_then(|key| self.handle(key)) {
            self.expect_motion_of_neighbours(body);
        }
        self.edits.bodies.extend(body);
        self.world.rapier.remove_collider(handle)
    }

    /// Gives a key to a body that was inserted through Rapier's API, unless it has one, and returns its key. Returns
    /// `None` if there is no such body.
    pub fn track(&mut self, handle: RigidBodyHandle) -> Option<BodyKey> {
        if !self.world.rapier.bodies.contains(handle) {
            return None;
        }
        if let Some(key) = self.world.key(handle) {
            return Some(key);
        }
        let key = self.key_for(handle);
        for collider in self.world.rapier.bodies[handle].colliders() {
            self.event_log.name_owner(*collider, key);
        }
        Some(key)
    }

    /// Gives a key to every body that has none yet, in Rapier's order. Use it after [`from_rapier`](Self::from_rapier).
    ///
    /// The call reads all bodies. If none is new, that costs 5 to 30 ns per body with 10,000 bodies. If you insert
    /// bodies during the run, [`track`](Self::track) only the new ones.
    pub fn track_all(&mut self) {
        let World { rapier, keys, .. } = &self.world;
        let handles = rapier.bodies.iter().map(|(handle, _)| handle);
        let new: Vec<_> = handles.filter(|it| keys.key(*it).is_none()).collect();
        for handle in new {
            self.track(handle);
        }
    }

    /// Returns all bodies that have a key, with their keys, in no particular order.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyKey, &RigidBody)> {
        let bodies = &self.world.rapier.bodies;
        let keys = self.world.keys.iter();
        keys.filter_map(|(key, handle)| Some((key, bodies.get(handle)?)))
    }

    fn key_for(&mut self, handle: RigidBodyHandle) -> BodyKey {
        let born = self.first_known_tick();
        let (key, dead) = self.world.keys.insert(handle, born);
        self.introduce(key, handle, dead);
        key
    }

    /// Registers a body that has got its key. An earlier body may have been found dead in the process.
    fn introduce(&mut self, key: BodyKey, handle: RigidBodyHandle, dead: Option<BodyKey>) {
        if let Some(dead) = dead {
            self.forget_body(dead);
        }
        let position = *self.world.rapier.bodies[handle].position();
        let position = Some(position).filter(Pose::is_finite).unwrap_or_default();
        self.pairs.insert(key, handle, position);
    }

    /// Removes a body with its colliders, joints and force generators, and returns it, or returns `None` if it was
    /// removed already. Its key is dead from now on.
    ///
    /// The next step reports the `Stopped` events of its contacts.
    pub fn remove(&mut self, key: BodyKey) -> Option<RigidBody> {
        let handle = self.world.keys.remove(key)?;
        self.forget_body(key);
        self.expect_motion_of_neighbours(handle);
        self.world.has_unwritten_changes |= self.world.has_joints(handle);
        self.world.rapier.remove_body(handle)
    }

    /// Returns the body with this key, or `None` if it was removed.
    #[must_use]
    pub fn body(&self, key: BodyKey) -> Option<&RigidBody> {
        self.world.get(key)
    }

    /// Returns a mutable reference to the body with this key, or `None` if it was removed.
    ///
    /// A new position is a teleport: the next frame displays it without blending it with the old one. If you set only
    /// the rotation or only the translation, the other is still interpolated.
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
    /// A change between two steps of one frame is detected only before the frame's last step. So a curve
    /// ([`Smoothing::Hermite`](crate::Smoothing::Hermite)) of a body that is kinematic by position may begin with its
    /// old velocity. [`teleport`](Self::teleport) has no such limit.
    pub fn body_mut(&mut self, key: BodyKey) -> Option<&mut RigidBody> {
        let body = self.world.get_mut(key)?;
        self.edits.bodies.push(key);
        Some(body)
    }

    /// Returns a mutable reference to a collider, with or without a body, or `None` if it was removed. The body is
    /// checked as after [`body_mut`](Self::body_mut), because its mass may differ from now on.
    pub fn collider_mut(&mut self, handle: ColliderHandle) -> Option<&mut Collider> {
        self.edits.bodies.extend(self.key_of_collider(handle));
        self.world.rapier.colliders.get_mut(handle)
    }

    /// Returns the colliders that touched a body in the last step, in contact or with a sensor, except those that were
    /// removed since. There are none if the body was removed.
    ///
    /// Use it for a state: whether a character stands on something, or who is in a zone. It needs no
    /// [`ActiveEvents`](crate::rapier::pipeline::ActiveEvents). For a moment, such as a hit, use
    /// [`events`](Self::events): a frame may have no step or several, so a rule that runs once per frame would see a
    /// touch twice, or miss it. Ask in each step, after it or before the next one.
    ///
    /// The pairs are in the [order](crate::events::Events#order) of collisions, which is equal in every run of the same
    /// steps, and after a load. A new collider touches nothing before its first step. Rapier finds touches before it
    /// moves the bodies of the step.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// let mut simulation = Simulation::default();
    /// let floor = simulation.physics.insert(RigidBodyBuilder::fixed(), ColliderBuilder::capsule_x(5.0, 0.5));
    /// let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 1.1);
    /// let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// assert!(simulation.physics.touching(ball).is_empty());
    /// simulation.advance(Duration::from_millis(500), |_, _| ());
    /// let touches = simulation.physics.touching(ball);
    /// assert!(touches.iter().any(|touch| touch.body == Some(floor)));
    /// ```
    #[must_use]
    pub fn touching(&self, key: BodyKey) -> Vec<Touch> {
        let PhysicsWorld {
            narrow_phase,
            colliders,
            ..
        } = &self.world.rapier;
        let mut touches = Vec::new();
        for own in self.body(key).into_iter().flat_map(RigidBody::colliders) {
            let mut touch = |[one, two]: [ColliderHandle; 2]| {
                let other = if one == *own { two } else { one };
                if let (Some(collider), Some(others)) = (colliders.get(*own), colliders.get(other))
                {
                    touches.push(Touch {
                        own: *own,
                        other,
                        body: self.key_of_collider(other),
                        sensor: collider.is_sensor() || others.is_sensor(),
                    });
                }
            };
            for pair in narrow_phase.contact_pairs_with(*own) {
                if pair.has_any_active_contact() {
                    touch([pair.collider1, pair.collider2]);
                }
            }
            for (one, two, is_touching) in narrow_phase.intersection_pairs_with(*own) {
                if is_touching {
                    touch([one, two]);
                }
            }
        }
        touches.sort_unstable_by_key(|touch| pair_order([touch.own, touch.other]));
        touches
    }

    /// Returns Rapier's handle of a body, for joints, ray casts and Rapier's API, or `None` if the body was removed.
    #[must_use]
    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        self.world.handle(key)
    }

    /// Returns the key of the body with this handle, or `None` if the body was removed or has no key: see
    /// [`track`](Self::track).
    #[must_use]
    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        self.world.key(handle)
    }

    /// Returns the key of the body that a collider is attached to, for ray casts and other queries.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.world.key_of_collider(handle)
    }

    /// Returns Rapier's world, with all its sets, queries and parameters.
    ///
    /// Queries find some changes only after the next step: see [When queries find a
    /// change](Self#when-queries-find-a-change).
    #[must_use]
    pub fn rapier(&self) -> &PhysicsWorld {
        &self.world.rapier
    }

    /// Returns Rapier's world, to change anything in it.
    ///
    /// Rapier does not report which bodies were changed. So the next frame checks every body with a key once, and the
    /// next step reads the mass and the velocity of all moving bodies. Together that costs 66 to 104 ns per body with
    /// 10,000 bodies. If you know which bodies change, use [`body_mut`](Self::body_mut) or
    /// [`rapier_mut_for`](Self::rapier_mut_for). Do not step the world here: the clock does not count such a step. A
    /// step length that you set here is not used.
    ///
    /// If you remove a body here, its key is dead at once. [`removed`](crate::Simulation::removed) lists it in the next
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

    /// Returns Rapier's world, to change the bodies of `keys`. No other body is checked for changes.
    ///
    /// List the bodies whose pose, type, mass or colliders may change. If you change a body that is not listed, the
    /// change is displayed once the body moves. If you remove one, its key is dead at once, but
    /// [`removed`](crate::Simulation::removed) lists it only after [`rapier_mut`](Self::rapier_mut) was used. Keys of
    /// removed bodies are ignored.
    pub fn rapier_mut_for(&mut self, keys: &[BodyKey]) -> &mut PhysicsWorld {
        self.edits.bodies.extend_from_slice(keys);
        self.rapier_mut_except_bodies()
    }

    /// Returns Rapier's world, to change joints, parameters and anything else except bodies. No body is checked for
    /// changes, so the call costs nothing. (For character controllers and vehicles, use
    /// [`query_pipeline_mut`](Self::query_pipeline_mut).)
    ///
    /// Rapier wakes no body when a parameter changes. Call [`wake_up_all`](Self::wake_up_all) if sleeping bodies should
    /// react. For gravity, use [`set_gravity`](Self::set_gravity), which wakes the bodies that it acts on.
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use evenstep::rapier::prelude::*;
    /// # let mut simulation = Simulation::default();
    /// let rapier = simulation.physics.rapier_mut_except_bodies();
    /// rapier.integration_parameters.num_solver_iterations = 8;
    /// ```
    pub fn rapier_mut_except_bodies(&mut self) -> &mut PhysicsWorld {
        self.world.has_unwritten_changes = true;
        &mut self.world.rapier
    }

    /// Returns Rapier's queries with mutable access, which character controllers
    /// ([`solve_character_collision_impulses`]) and vehicles (`update_vehicle`) need in every step.
    ///
    /// The queries move nothing themselves, so no body is checked for changes, and the call costs nothing. Like those
    /// of [`rapier`](Self::rapier), they find some changes only after the next step.
    ///
    /// [`solve_character_collision_impulses`]: crate::rapier::control::KinematicCharacterController::solve_character_collision_impulses
    pub fn query_pipeline_mut<'a>(&'a mut self, filter: QueryFilter<'a>) -> QueryPipelineMut<'a> {
        let PhysicsWorld {
            broad_phase,
            narrow_phase,
            bodies,
            colliders,
            ..
        } = &mut self.world.rapier;
        let dispatcher = narrow_phase.query_dispatcher();
        broad_phase.as_query_pipeline_mut(dispatcher, bodies, colliders, filter)
    }
}
