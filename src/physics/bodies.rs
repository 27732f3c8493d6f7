//! Bodies and their keys, and access to Rapier's world.

use crate::events::{Touch, pair_order};
use crate::key::{BodyError, BodyKey};
use crate::pose::{Change, Scope};
use crate::step::World;
use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::geometry::{Collider, ColliderHandle};
use rapier::math::Pose;
use rapier::pipeline::{PhysicsWorld, QueryFilter, QueryPipelineMut};

use super::{Colliders, Physics};

/// # Bodies
impl Physics {
    /// Inserts a body with its [colliders](Colliders): one, or several in an array or a `Vec`.
    #[doc(alias("spawn", "add_body"))]
    pub fn insert(&mut self, body: impl Into<RigidBody>, colliders: impl Colliders) -> BodyKey {
        let world = &mut self.world.rapier;
        let handle = world.insert_body(body);
        for collider in colliders.into_colliders() {
            world.insert_collider(collider, Some(handle));
        }
        self.create_key(handle)
    }

    /// Returns the body with this key, or `None` if it was removed.
    #[must_use]
    pub fn body(&self, key: BodyKey) -> Option<&RigidBody> {
        self.world.get(key)
    }

    /// Returns a mutable reference to the body with this key, or `None` if it was removed.
    ///
    /// A new position is a teleport, which the next frame does not blend with the old one. If you set only the rotation
    /// or only the translation, the other is still interpolated.
    pub fn body_mut(&mut self, key: BodyKey) -> Option<&mut RigidBody> {
        let body = self.world.get_mut(key)?;
        self.edits.to_check.push(key);
        Some(body)
    }

    /// Removes a body with its colliders, joints and force generators, and returns it, or `None` if it was removed
    /// already. The next step reports that it stopped touching others, as for any collision.
    #[doc(alias = "despawn")]
    pub fn remove(&mut self, key: BodyKey) -> Option<RigidBody> {
        let handle = self.world.keys.remove(key)?;
        // The body's force generators are dropped in the next step.
        self.forget_body(key);
        self.note_neighbours_to_wake(handle);
        // Rapier does not write changes of joints that no step has seen, so the state cannot be saved before a step.
        self.world.has_unstepped_changes |= self.world.removal_may_change_joints(handle);
        let attached = self.world.rapier.bodies.get(handle)?.colliders();
        for collider in attached {
            self.event_log.record_owner(*collider, Some(key));
        }
        self.world.rapier.remove_body(handle)
    }

    /// Returns all bodies that have a key, with their keys, in no particular order.
    pub fn bodies(&self) -> impl Iterator<Item = (BodyKey, &RigidBody)> {
        let bodies = &self.world.rapier.bodies;
        let keys = self.world.keys.iter();
        keys.filter_map(|(key, handle)| Some((key, bodies.get(handle)?)))
    }

    /// Returns the pose of a body or, if that is not finite, the last finite one, because displayed poses are finite.
    pub(crate) fn finite_position(&self, key: BodyKey) -> Option<Pose> {
        let position = self.world.position(self.handle(key)?);
        let last = || Some(self.pairs.get(key)?.current);
        position.filter(Pose::is_finite).or_else(last)
    }

    /// Inserts a body without a collider.
    pub fn insert_body(&mut self, body: impl Into<RigidBody>) -> BodyKey {
        let handle = self.world.rapier.insert_body(body);
        self.create_key(handle)
    }

    /// Attaches another collider to a body.
    ///
    /// # Errors
    /// [`BodyError::Gone`]
    pub fn insert_collider(
        &mut self,
        key: BodyKey,
        collider: impl Into<Collider>,
    ) -> Result<ColliderHandle, BodyError> {
        let parent = self.try_handle(key)?;
        self.edits.to_check.push(key);
        self.renew_contacts_about_new_center(key, parent);
        let body = &mut self.world.rapier.bodies[parent];
        if !body.is_enabled() {
            // Rapier disables the new collider in its next step only if this flag was set to another value.
            body.set_enabled(true);
            body.set_enabled(false);
        }
        Ok(self.world.rapier.insert_collider(collider, Some(parent)))
    }

    /// Returns a mutable reference to a collider, or `None` if it was removed.
    pub fn collider_mut(&mut self, handle: ColliderHandle) -> Option<&mut Collider> {
        let key = self.key_of_collider(handle);
        self.edits.to_check.extend(key);
        self.note_contact_parts(handle);
        self.world.rapier.colliders.get_mut(handle)
    }

    /// Removes and returns a collider, with or without a body, like [`remove`](Self::remove).
    pub fn remove_collider(&mut self, handle: ColliderHandle) -> Option<Collider> {
        if !self.world.rapier.colliders.contains(handle) {
            return None;
        }
        let key = self.key_of_collider(handle);
        self.event_log.record_owner(handle, key);
        if let Some((key, body)) = key.and_then(|key| Some((key, self.handle(key)?))) {
            self.note_neighbours_to_wake(body);
            self.renew_contacts_about_new_center(key, body);
            self.edits.to_check.push(key);
        } else {
            self.note_woken(self.world.sleepers_at(handle).collect());
        }
        self.world.rapier.remove_collider(handle)
    }

    /// Returns the colliders that touched a body in the last step, in contact or with a sensor, except removed ones.
    ///
    /// Use it for a state, such as standing on the ground, and [`events`](Self::events) for a moment, such as a hit. It
    /// needs no active events. Rapier finds touches before it moves the bodies of the step. The order is that of
    /// [collisions](crate::events::Events#order).
    #[must_use]
    pub fn touching(&self, key: BodyKey) -> Vec<Touch> {
        let PhysicsWorld {
            narrow_phase,
            colliders,
            ..
        } = &self.world.rapier;
        let mut touches = Vec::new();
        for own in self.body(key).into_iter().flat_map(RigidBody::colliders) {
            let mut push_touch = |[one, two]: [ColliderHandle; 2]| {
                let other = if one == *own { two } else { one };
                // Rapier's pairs have a removed collider until the next step.
                if let [Some(own_collider), Some(other_collider)] =
                    [*own, other].map(|handle| colliders.get(handle))
                {
                    touches.push(Touch {
                        own: *own,
                        other,
                        body: self.key_of_collider(other),
                        sensor: own_collider.is_sensor() || other_collider.is_sensor(),
                    });
                }
            };
            for pair in narrow_phase.contact_pairs_with(*own) {
                if pair.has_any_active_contact() {
                    push_touch([pair.collider1, pair.collider2]);
                }
            }
            for (one, two, is_touching) in narrow_phase.intersection_pairs_with(*own) {
                if is_touching {
                    push_touch([one, two]);
                }
            }
        }
        touches.sort_unstable_by_key(|touch| pair_order([touch.own, touch.other]));
        touches
    }

    /// Returns the key of the body with this handle, or `None` if the body was removed or is not
    /// [tracked](Self::track).
    #[must_use]
    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        self.world.key(handle)
    }

    /// Returns Rapier's handle of a body, or `None` if the body was removed.
    #[must_use]
    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        self.world.handle(key)
    }

    /// Returns the key of the body that a collider is attached to.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.world.key_of_collider(handle)
    }

    /// Gives a key to a body that was inserted through Rapier, and returns the body's key, or `None` if there is no
    /// such body.
    pub fn track(&mut self, handle: RigidBodyHandle) -> Option<BodyKey> {
        if !self.world.rapier.bodies.contains(handle) {
            return None;
        }
        if let Some(key) = self.world.key(handle) {
            return Some(key);
        }
        let key = self.create_key(handle);
        // Colliders that began to touch something before this call are in the log without the key of their body.
        for collider in self.world.rapier.bodies[handle].colliders() {
            self.event_log.record_owner(*collider, Some(key));
        }
        Some(key)
    }

    /// Gives a key to every body that has none, in Rapier's order. It reads all bodies.
    pub fn track_all(&mut self) {
        let World { rapier, keys, .. } = &self.world;
        let handles = rapier.bodies.iter().map(|(handle, _)| handle);
        let new: Vec<_> = handles.filter(|it| keys.key(*it).is_none()).collect();
        for handle in new {
            self.track(handle);
        }
    }

    /// Creates a key for a body that has none, and poses to display it.
    fn create_key(&mut self, handle: RigidBodyHandle) -> BodyKey {
        // A body that is inserted in the hook before a step exists first in the state after that step.
        let inserted_at = self.first_tick_after_edit();
        let (key, dead) = self.world.keys.insert(handle, inserted_at);
        // Rapier has reused the index of a body that was removed through Rapier, and this removal was not detected yet.
        if let Some(dead) = dead {
            self.forget_body(dead);
        }
        let changes = &mut self.running.changes;
        if changes.scope != Scope::Listed {
            // With a wider scope, the game may have gone back in time, and another body may have had this key. Its
            // visual error and its requested pose must not pass to the new one.
            changes.list.push(Change::KeyReused(key, None));
        }
        self.insert_poses(key, handle);
        key
    }

    /// Displays a new body at its position, and lets steps read its pose until it rests. If the position is not finite,
    /// the body is displayed at the origin, because the poses of a step are finite.
    fn insert_poses(&mut self, key: BodyKey, handle: RigidBodyHandle) {
        let body = &self.world.rapier.bodies[handle];
        let position = self.world.position_of(handle, body);
        let position = Some(position).filter(Pose::is_finite);
        // A dynamic body that is inserted awake has an event when it falls asleep. Other bodies have no such events.
        let is_awake = body.is_dynamic() && !body.is_sleeping();
        (self.pairs).insert(key, handle, position.unwrap_or_default(), is_awake);
    }
}

/// # Rapier's world
///
/// # When queries find a change
/// Queries search bounding boxes that Rapier updates in each step. In the hook before a step, that is 'the next step'.
///
/// | change | queries find it |
/// | --- | --- |
/// | a step moves a body | right after that step |
/// | a body or a collider is inserted | after the next step, or at once if it replaces a removed one at the same position |
/// | a body is [teleported](Self::teleport), goes through [a portal](Self::teleport_by) or is moved through Rapier, or a collider is moved relative to its body | after the next step; until then, at its old position |
/// | a collider without a body is moved, or a collider gets another shape | at once inside its old bounding box, outside after the next step |
/// | a body or a collider is enabled or disabled | after the next step |
/// | a body or a collider is removed; a collider becomes a sensor or gets other collision groups; the [origin](Self::shift_origin) is shifted; a state is assigned | at once |
impl Physics {
    /// Returns Rapier's world, to read anything in it.
    #[must_use]
    pub fn rapier(&self) -> &PhysicsWorld {
        &self.world.rapier
    }

    /// Returns Rapier's queries with mutable access, for character controllers ([`solve_character_collision_impulses`])
    /// and vehicles (`update_vehicle`).
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

    /// Returns Rapier's world, to change joints, parameters and anything else except bodies.
    ///
    /// Rapier wakes no body when a parameter changes: see [`wake_up_all`](Self::wake_up_all).
    pub fn rapier_mut_except_bodies(&mut self) -> &mut PhysicsWorld {
        self.edits.may_joints_change = true;
        self.world.has_unstepped_changes = true;
        &mut self.world.rapier
    }

    /// Returns Rapier's world, to change the bodies of `keys`: their poses, types, masses or colliders.
    ///
    /// A change of another body is displayed once it moves, and its removal mostly after
    /// [`rapier_mut`](Self::rapier_mut) was used.
    pub fn rapier_mut_for(&mut self, keys: &[BodyKey]) -> &mut PhysicsWorld {
        self.edits.to_check.extend_from_slice(keys);
        for key in keys {
            self.note_contacts_of(*key);
        }
        self.world.has_unstepped_changes = true;
        &mut self.world.rapier
    }

    /// Returns Rapier's world, to change anything in it, at the cost of a check of every body.
    ///
    /// The check costs 57 to 128 ns per body with 10,000 bodies, in each step in which you call this method, and once
    /// for all calls between two frames. Do not step the world here. A step length that you set is not used. For another
    /// world, assign a [`Physics`] made [from it](Self::from_rapier).
    pub fn rapier_mut(&mut self) -> &mut PhysicsWorld {
        self.edits.check_all = true;
        self.rapier_mut_except_bodies()
    }
}
