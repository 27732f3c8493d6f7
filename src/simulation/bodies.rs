//! Bodies and their keys, and Rapier's world that they are in.

use crate::key::BodyKey;
use crate::rapier::dynamics::{RigidBody, RigidBodyHandle};
use crate::rapier::geometry::{Collider, ColliderHandle};
use crate::rapier::pipeline::{PhysicsWorld, QueryFilter, QueryPipelineMut};
use crate::step::BodyError;

use super::Simulation;

/// # Bodies
impl Simulation {
    /// Inserts a body and its collider.
    ///
    /// Its pose can be asked for at once. Its first motion starts from there, in the next step.
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
    /// A collider without a body is for Rapier alone: insert it through
    /// [`physics_mut_for(&[])`](Self::physics_mut_for).
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn insert_collider(
        &mut self,
        key: BodyKey,
        collider: impl Into<Collider>,
    ) -> Result<ColliderHandle, BodyError> {
        let parent = self.living(key, true)?;
        // Its centre of mass may be elsewhere from now on.
        self.state.edits.bodies.push(key);
        Ok(self
            .state
            .world
            .physics
            .insert_collider(collider, Some(parent)))
    }

    /// Removes a collider, of a body or without one, and gives it back; `None` if it is gone already.
    ///
    /// What it touched gets its `Stopped` events in the next step.
    pub fn remove_collider(&mut self, handle: ColliderHandle) -> Option<Collider> {
        let body = self.key_of_collider(handle);
        self.state.edits.bodies.extend(body);
        self.state.world.physics.remove_collider(handle)
    }

    /// Gives a key to a body that was made through Rapier's own API; its own key if it has one,
    /// `None` if there is no such body.
    pub fn track(&mut self, handle: RigidBodyHandle) -> Option<BodyKey> {
        if !self.state.world.physics.bodies.contains(handle) {
            return None;
        }
        if let Some(key) = self.state.world.key(handle) {
            return Some(key);
        }
        let key = self.key_for(handle);
        for collider in self.state.world.physics.bodies[handle].colliders() {
            self.state.log.name_owner(*collider, key);
        }
        Some(key)
    }

    /// [`track`](Self::track)s every body that has no key yet, in Rapier's order: after
    /// [`with_physics`](Self::with_physics).
    pub fn track_all(&mut self) {
        let handles: Vec<_> = (self.state.world.physics.bodies.iter())
            .map(|(handle, _)| handle)
            .collect();
        for handle in handles {
            self.track(handle);
        }
    }

    /// All bodies that have a key, and their keys. The order has no meaning.
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

    /// A key for a body that another thread is about to insert.
    #[cfg(feature = "threads")]
    pub(crate) fn reserve_key(&mut self) -> BodyKey {
        self.state.world.keys.reserve()
    }

    /// No body will come for the keys that are still reserved.
    #[cfg(feature = "threads")]
    pub(crate) fn free_reserved_keys(&mut self) {
        self.state.world.keys.free_reserved();
    }

    /// Inserts a body under a reserved key. Gives whether that key is still there.
    #[cfg(feature = "threads")]
    pub(crate) fn insert_reserved(&mut self, key: BodyKey, body: RigidBody) -> bool {
        if !self.state.world.keys.is_reserved(key) {
            return false;
        }
        let handle = self.state.world.physics.insert_body(body);
        let dead = self.state.world.keys.use_reserved(key, handle);
        self.introduce(key, handle, dead);
        true
    }

    /// A copy whose queries know of all that was done since the last step.
    #[cfg(feature = "threads")]
    pub(crate) fn with_fresh_queries(&self) -> Self {
        let mut copy = self.clone();
        copy.state.world.refresh_queries();
        copy
    }

    /// A body has got its key, by which an earlier one may have been found dead.
    fn introduce(&mut self, key: BodyKey, handle: RigidBodyHandle, dead: Option<BodyKey>) {
        if let Some(dead) = dead {
            self.died(dead);
        }
        let position = *self.state.world.physics.bodies[handle].position();
        let since = self.tick() + u64::from(self.peek().is_some());
        self.state.poses.insert(key, handle, position, since);
        self.removals.grow(self.state.world.physics.bodies.len());
    }

    /// Removes a body with its colliders, joints and generators, and gives it back; `None` if it
    /// is gone already. Its key is dead from now on.
    ///
    /// The bodies that it touches get their `Stopped` events in the next step.
    pub fn remove(&mut self, key: BodyKey) -> Option<RigidBody> {
        let handle = self.state.world.keys.remove(key)?;
        self.died(key);
        self.state.world.has_unwritten_changes |= self.state.world.has_joints(handle);
        self.state.world.physics.remove_body(handle)
    }

    /// The body of this key; `None` if it is gone.
    #[must_use]
    pub fn body(&self, key: BodyKey) -> Option<&RigidBody> {
        self.state.world.get(key)
    }

    /// The body of this key, to change anything about it; `None` if it is gone.
    ///
    /// A position that is set here shows in the next frame, not blended with the old one; a rotation or a
    /// translation that is set alone leaves the other as smooth as it was. Set between two steps of one frame, it
    /// is seen before the frame's last step only, so that a curve ([`Smoothing::Hermite`](crate::Smoothing::Hermite))
    /// of a body that is kinematic by position may begin with its old velocity:
    /// [`teleport`](Self::teleport) is noticed at once.
    pub fn body_mut(&mut self, key: BodyKey) -> Option<&mut RigidBody> {
        let body = self.state.world.get_mut(key)?;
        self.state.edits.bodies.push(key);
        Some(body)
    }

    /// Rapier's handle of a body, for joints, ray casts and its own API; `None` if it is gone.
    #[must_use]
    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        self.state.world.handle(key)
    }

    /// The key of a body that Rapier names; `None` if the body is gone or has no key: see
    /// [`track`](Self::track).
    #[must_use]
    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        self.state.world.key(handle)
    }

    /// The key of the body that a collider is attached to: for ray casts and other queries.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.key(self.state.world.physics.colliders.get(handle)?.parent()?)
    }

    /// Rapier's world: all its sets, queries and parameters.
    #[must_use]
    pub fn physics(&self) -> &PhysicsWorld {
        &self.state.world.physics
    }

    /// Rapier's world, to change anything.
    ///
    /// Rapier does not tell which bodies were changed, so the next frame looks at every body with
    /// a key once, a few nanoseconds each: where you know better, use [`body_mut`](Self::body_mut) or
    /// [`physics_mut_for`](Self::physics_mut_for). A body that is removed here is noticed: its key is dead at
    /// once. Stepping the world here makes a step that the clock knows nothing of; the length of a step
    /// that is set here is not used.
    pub fn physics_mut(&mut self) -> &mut PhysicsWorld {
        self.state.edits.all = true;
        self.state.world.has_unwritten_changes = true;
        &mut self.state.world.physics
    }

    /// Rapier's world, to change what moves no body but those of `keys`: nothing else is looked at.
    ///
    /// For what needs `&mut` sets and moves nothing itself, such as joints, gravity and parameters: with no
    /// keys, at no cost. (For character controllers and vehicles there is
    /// [`query_pipeline_mut`](Self::query_pipeline_mut).) Name the bodies whose pose, type, mass or colliders may be
    /// changed. Of one that is not named a change is shown once the body moves, and a removal is in
    /// [`removed`](Self::removed) once [`physics_mut`](Self::physics_mut) was used; the key is dead at once
    /// all the same. Keys of bodies that are gone are left out.
    pub fn physics_mut_for(&mut self, keys: &[BodyKey]) -> &mut PhysicsWorld {
        self.state.edits.bodies.extend_from_slice(keys);
        self.state.world.has_unwritten_changes = true;
        &mut self.state.world.physics
    }

    /// Rapier's queries with access for changes, as character controllers
    /// (`solve_character_collision_impulses`) and vehicles (`update_vehicle`) want it in every step.
    ///
    /// They move nothing themselves, so no body is looked at.
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

    /// The keys that died between the last frame and the one before it, in whatever way their
    /// bodies were removed: for a host that keeps a table by key.
    ///
    /// A slotmap's `SecondaryMap` drops the entry of a dead key in silence when a later key takes
    /// its place: a table that has more to do for such an entry is better a `BTreeMap`.
    ///
    /// A body that was removed through Rapier's own API is listed in the frame after
    /// [`physics_mut`](Self::physics_mut) was used for it.
    #[must_use]
    pub fn removed(&self) -> &[BodyKey] {
        &self.removed
    }

    /// The keys that died after the frame of this [`number`](crate::Frame::number), for a host that missed the
    /// frames since: see [`moved_since`](Self::moved_since).
    #[must_use]
    pub fn removed_since(&self, frame: u64) -> Option<impl Iterator<Item = BodyKey>> {
        if frame > self.frame.number {
            return None;
        }
        let removed = self.removals.since(frame)?;
        // After a rollback some may live again.
        Some(removed.filter(|key| self.handle(*key).is_none()))
    }
}
