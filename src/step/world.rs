//! Rapier's sets, the keys of the bodies in them, and the only call of Rapier's step.

use crate::key::{BodyKey, Keys};
use crate::time::Step;
use rapier::dynamics::{
    ImpulseJointHandle, IntegrationParameters, RigidBody, RigidBodyHandle, RigidBodySet,
};
use rapier::geometry::{BroadPhaseBvh, ColliderHandle, ColliderSet};
use rapier::math::{Pose, Vector};
use rapier::parry::query::DefaultQueryDispatcher;
use rapier::pipeline::{
    CollisionPipeline, EventHandler, PhysicsHooks, PhysicsPipeline, PhysicsWorld, QueryFilter,
};
use std::collections::BTreeSet;

use crate::events::{Event, EventLog};
use crate::pose::Origin;

#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct World {
    pub rapier: PhysicsWorld,
    pub keys: Keys,
    /// The frames of soft bodies, with how far shifts of the origin will move them in the next step or, if they are
    /// disabled, once they are enabled. Everything else has moved at once.
    pub(super) shifts_of_frames: Vec<(RigidBodyHandle, Vector)>,
    /// Whether the origin was shifted since the last step.
    #[cfg_attr(feature = "serde", serde(skip))]
    is_translated: bool,
    /// The roots of multibodies that the last step has left beside their links, and where.
    pub(super) stopped_roots: Vec<(RigidBodyHandle, Pose)>,
    /// Whether joints or soft bodies may have changed since the last step. Rapier does not write changes that no step
    /// has seen.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub has_unstepped_changes: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    may_joint_cache_be_outdated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Insertion {
    pub tick: u64,
    user_data: u128,
}

impl Clone for World {
    fn clone(&self) -> Self {
        Self {
            rapier: copy(&self.rapier),
            keys: self.keys.clone(),
            shifts_of_frames: self.shifts_of_frames.clone(),
            is_translated: self.is_translated,
            stopped_roots: self.stopped_roots.clone(),
            has_unstepped_changes: self.has_unstepped_changes,
            may_joint_cache_be_outdated: self.may_joint_cache_be_outdated,
        }
    }
}

impl World {
    pub fn new(rapier: PhysicsWorld) -> Self {
        // In an existing world, joints may have changed since the last step. Rapier does not save such changes.
        let has_unstepped_changes = !rapier.bodies.is_empty();
        Self {
            rapier,
            keys: Keys::default(),
            shifts_of_frames: Vec::new(),
            is_translated: false,
            stopped_roots: Vec::new(),
            has_unstepped_changes,
            may_joint_cache_be_outdated: false,
        }
    }

    /// Runs Rapier's step, with the game's hooks. `log` collects the step's events, and then adds them to `events` in
    /// an order that does not depend on threads. `origin` is the origin of their coordinates. After a shift of the
    /// origin, `may_wake` are the bodies that something else may wake.
    pub fn step(
        &mut self,
        step: Step,
        may_wake: &[RigidBodyHandle],
        hooks: &dyn PhysicsHooks,
        log: &mut EventLog,
        events: &mut Vec<Event>,
        origin: Origin,
    ) {
        span!("rapier", tick = step.tick);
        self.rapier.integration_parameters.dt = step.dt;
        // Rapier caches joint data between steps. Those that may be out of date are dropped, because a copied or loaded
        // world has none, and has to continue with the same bits.
        if std::mem::take(&mut self.has_unstepped_changes) || self.may_joint_cache_be_outdated {
            self.prepare_joints_again();
        }
        let frames_before = self.shifted_frames();
        let handler = log.handler(step, &self.keys);
        // A shift of the origin since the last step has translated the world, so kept contact points in world space are
        // out of date.
        if std::mem::take(&mut self.is_translated) {
            step_after_translation(&mut self.rapier, may_wake, hooks, &handler);
        } else {
            step_rapier(&mut self.rapier, hooks, &handler);
        }
        drop(handler);
        // The step has moved the frames, except those of disabled soft bodies.
        let mut frames = frames_before.into_iter().zip(self.shifted_frames());
        self.shifts_of_frames.retain(|(_, by)| {
            let stays = frames
                .next()
                .is_some_and(|(before, after)| before.is_some() && before == after);
            stays && *by != Vector::ZERO
        });
        // The log reports the bodies that Rapier has disabled, because they were not finite.
        let quarantined = self.rapier.quarantine().bodies().iter();
        let keys = quarantined.filter_map(|handle| self.keys.key(*handle));
        log.end_step(events, step.tick, keys, &self.rapier, origin);
        let has_joints = !self.rapier.impulse_joints.is_empty();
        self.may_joint_cache_be_outdated = has_joints && self.may_joint_cache_be_outdated();
        if self.has_multibodies() {
            self.record_stopped_roots();
        }
    }

    /// Returns where the frames in `shifts_of_frames` are, or `None` for a removed one.
    fn shifted_frames(&self) -> Vec<Option<Pose>> {
        let position = |frame| Some(*self.rapier.bodies.get(frame)?.position());
        let shifted = self.shifts_of_frames.iter();
        shifted.map(|(frame, _)| position(*frame)).collect()
    }

    /// Returns whether the origin was shifted since the last step.
    pub fn is_translated(&self) -> bool {
        self.is_translated
    }

    fn has_multibodies(&self) -> bool {
        self.rapier.multibody_joints.multibodies().next().is_some()
    }

    /// Makes Rapier prepare its joints again in the next step, as with a fresh pipeline, which any call that removes a
    /// joint does, even if there is no such joint.
    fn prepare_joints_again(&mut self) {
        (self.rapier.impulse_joints).remove(ImpulseJointHandle::invalid(), false);
    }

    /// Returns whether the joint data cached by Rapier's pipeline may be out of date. The joints would then continue
    /// differently than in a copy, which has no such data.
    ///
    /// While the pipeline knows of no change, it keeps its selection of joints to solve, and the world positions of
    /// joint ends that do not move. Bodies that were put to sleep by hand or became fixed may still be in Rapier's list
    /// of active bodies. The pipeline does not learn that a step rounds their poses, or that a contact wakes them.
    fn may_joint_cache_be_outdated(&self) -> bool {
        let PhysicsWorld {
            bodies,
            islands,
            impulse_joints,
            ..
        } = &self.rapier;
        let is_still = |body: &RigidBody| body.is_sleeping() || body.is_fixed();
        (islands.active_bodies()).any(|handle| {
            is_still(&bodies[handle]) && impulse_joints.attached_joints(handle).next().is_some()
        })
    }

    /// Returns whether bodies, colliders and joints refer to each other consistently. It starts from the keys, because
    /// Rapier's own iterators trust the loaded data.
    #[cfg(feature = "serde")]
    pub fn is_consistent(&self) -> bool {
        let PhysicsWorld {
            bodies,
            colliders,
            impulse_joints,
            multibody_joints,
            ..
        } = &self.rapier;
        let parent = |collider: &ColliderHandle| colliders.get(*collider)?.parent();
        let has_its_colliders = |handle| {
            let attached = bodies.get(handle).map_or(&[][..], RigidBody::colliders);
            attached.iter().all(|it| parent(it) == Some(handle))
        };
        let is_its_link = |handle| {
            multibody_joints.rigid_body_link(handle).is_none_or(|link| {
                let multibody = multibody_joints.get_multibody(link.multibody);
                let link = multibody.and_then(|multibody| multibody.link(link.id));
                link.is_some_and(|link| link.rigid_body_handle() == handle)
            })
        };
        let mut ends =
            (impulse_joints.iter()).flat_map(|(_, joint)| [joint.body1(), joint.body2()]);
        ends.all(|end| bodies.contains(end))
            && (self.keys.iter())
                .all(|(_, handle)| has_its_colliders(handle) && is_its_link(handle))
    }

    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        let handle = self.keys.handle(key)?;
        self.rapier.bodies.contains(handle).then_some(handle)
    }

    /// Returns what tells this body from others that had its key in another run of the same steps.
    pub fn insertion(&self, key: BodyKey) -> Option<Insertion> {
        let tick = self.keys.insertion(key)?;
        let user_data = self.get(key)?.user_data;
        Some(Insertion { tick, user_data })
    }

    /// Returns the bodies that do not exist at this tick yet, each with what tells it from others.
    pub fn insertions_after(&self, tick: u64) -> impl Iterator<Item = (BodyKey, Insertion)> {
        let keys = self.keys.iter().map(|(key, _)| key);
        let later = keys.filter(move |key| !self.keys.was_inserted_by(*key, tick));
        later.filter_map(|key| Some((key, self.insertion(key)?)))
    }

    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.key(self.rapier.colliders.get(handle)?.parent()?)
    }

    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        let key = self.keys.key(handle)?;
        self.rapier.bodies.contains(handle).then_some(key)
    }

    pub fn get(&self, key: BodyKey) -> Option<&RigidBody> {
        self.rapier.bodies.get(self.keys.handle(key)?)
    }

    pub fn get_mut(&mut self, key: BodyKey) -> Option<&mut RigidBody> {
        self.rapier.bodies.get_mut(self.keys.handle(key)?)
    }

    /// Translates everything by the same vector: bodies, their colliders and the poses that queries use, and everything
    /// that belongs to no body. Joints are fixed to their bodies and move with them, multibodies with their root.
    pub fn translate(&mut self, by: Vector) {
        self.is_translated = true;
        let shifts_of_frames = &mut self.shifts_of_frames;
        // Rapier's cached joint data have world positions of joint ends, and the particles of soft bodies move, too.
        self.has_unstepped_changes = true;
        let PhysicsWorld {
            bodies,
            colliders,
            soft_bodies,
            ..
        } = &mut self.rapier;
        for (handle, body) in bodies.iter_mut() {
            if body.is_soft_frame() {
                match shifts_of_frames.iter_mut().find(|(it, _)| *it == handle) {
                    Some((_, shift)) => *shift += by,
                    None => shifts_of_frames.push((handle, by)),
                }
            }
            let next = body.next_position().append_translation(by);
            body.set_position(body.position().append_translation(by), false);
            // A kinematic body also has its pose after the next step.
            if next != *body.position() {
                body.set_next_kinematic_position(next);
            }
            // If the origin follows a body in every step, Rapier does not see that it moves, and would put it to sleep.
            if !body.is_sleeping() {
                body.activation_mut().time_since_can_sleep = 0.0;
            }
        }
        for (_, soft_body) in soft_bodies.iter_mut() {
            for i in 0..soft_body.num_particles() {
                let position = soft_body.particle_position(i) + by;
                // Rapier forgets the target of a pinned particle whose position is set.
                let target = soft_body.particles()[i].kinematic_target();
                soft_body.set_particle_position(i, position);
                if let Some(target) = target {
                    soft_body.set_particle_kinematic_target(i, target + by);
                }
            }
        }
        for (_, collider) in colliders.iter_mut() {
            if collider.parent().is_none() {
                collider.set_position(collider.position().append_translation(by));
            }
        }
        self.refresh_queries();
    }

    /// Updates what queries read: the positions of colliders, and their bounding boxes in the tree.
    pub fn refresh_queries(&mut self) {
        let PhysicsWorld {
            bodies,
            colliders,
            broad_phase,
            integration_parameters,
            ..
        } = &mut self.rapier;
        bodies.propagate_modified_body_positions_to_colliders(colliders);
        for (handle, _) in colliders.iter() {
            refresh_leaf(
                broad_phase,
                integration_parameters,
                bodies,
                colliders,
                handle,
            );
        }
    }
}

/// Updates the bounding box of a collider in the tree that queries search, or adds it.
pub(crate) fn refresh_leaf(
    tree: &mut BroadPhaseBvh,
    parameters: &IntegrationParameters,
    bodies: &RigidBodySet,
    colliders: &ColliderSet,
    handle: ColliderHandle,
) {
    let collider = &colliders[handle];
    let body = collider.parent().and_then(|parent| bodies.get(parent));
    // Rapier disables the colliders of a disabled body, and removes them from the tree, only in its next step. Until
    // then none is added.
    let may_be_in_tree = body.is_none_or(RigidBody::is_enabled) || {
        let filter = QueryFilter::default();
        let query = tree.as_query_pipeline(&DefaultQueryDispatcher, bodies, colliders, filter);
        query.bvh.leaf_node(handle.into_raw_parts().0).is_some()
    };
    // Rapier keeps disabled and non-finite colliders out of the tree.
    let aabb = collider.compute_aabb();
    if collider.is_enabled() && may_be_in_tree && aabb.mins.is_finite() && aabb.maxs.is_finite() {
        tree.set_aabb(parameters, handle, aabb);
    }
}

/// Returns a world that continues as this one does, bit for bit.
///
/// Rapier's pipelines are workspaces, and fresh ones do not change a bit of what follows. Their cached joint data is
/// [prepared again](World::prepare_joints_again) where it may be out of date. With a pipeline that has continued, a
/// restored world can panic. Each field is named, so that a field added in a later version of Rapier is not forgotten.
fn copy(world: &PhysicsWorld) -> PhysicsWorld {
    let PhysicsWorld {
        gravity,
        integration_parameters,
        physics_pipeline: _,
        collision_pipeline: _,
        islands,
        broad_phase,
        narrow_phase,
        bodies,
        colliders,
        impulse_joints,
        multibody_joints,
        soft_bodies,
        ccd_solver,
    } = world;
    PhysicsWorld {
        gravity: *gravity,
        integration_parameters: *integration_parameters,
        physics_pipeline: PhysicsPipeline::new(),
        collision_pipeline: CollisionPipeline::new(),
        islands: islands.clone(),
        broad_phase: broad_phase.clone(),
        narrow_phase: narrow_phase.clone(),
        bodies: bodies.clone(),
        colliders: colliders.clone(),
        impulse_joints: impulse_joints.clone(),
        multibody_joints: multibody_joints.clone(),
        soft_bodies: soft_bodies.clone(),
        ccd_solver: ccd_solver.clone(),
    }
}

/// Runs Rapier's step, with the feature `parallel` on the threads of the world's pool.
fn step_rapier(world: &mut PhysicsWorld, hooks: &dyn PhysicsHooks, events: &dyn EventHandler) {
    #[cfg(feature = "parallel")]
    super::pool::step(world, |world| world.step_with_events(hooks, events));
    #[cfg(not(feature = "parallel"))]
    world.step_with_events(hooks, events);
}

/// Runs the first step after a shift of the origin, which has translated everything.
///
/// Rapier keeps the contact points of pairs whose bodies did not move relative to each other. Those with a fixed body
/// are in world space, so Rapier has to find all of them again in this step.
///
/// Rapier also wakes everything that touches a moved collider. Then, before it solves, it puts islands to sleep whose
/// bodies have all been still for long enough. For sleepers that is no time in this step, so they fall asleep again and
/// do not move, unless something else keeps their island awake. `may_wake` are the bodies that something else may wake.
fn step_after_translation(
    world: &mut PhysicsWorld,
    may_wake: &[RigidBodyHandle],
    hooks: &dyn PhysicsHooks,
    events: &dyn EventHandler,
) {
    let may_wake: BTreeSet<(u32, u32)> = may_wake.iter().map(|it| it.into_raw_parts()).collect();
    let mut sleepers = Vec::new();
    for (handle, body) in world.bodies.iter_mut() {
        // A kinematic body may have a target, to which the step moves it.
        let stays = body.next_position() == body.position() && !body.is_soft_frame();
        if body.is_sleeping() && stays && !may_wake.contains(&handle.into_raw_parts()) {
            let time_until_sleep = &mut body.activation_mut().time_until_sleep;
            sleepers.push((handle, std::mem::take(time_until_sleep)));
        }
    }
    // Without recycling, Rapier finds all contacts again.
    let recycling = std::mem::take(&mut world.integration_parameters.contact_recycling);
    step_rapier(world, hooks, events);
    world.integration_parameters.contact_recycling = recycling;
    for (handle, time_until_sleep) in sleepers {
        if let Some(body) = world.bodies.get_mut(handle) {
            let activation = body.activation_mut();
            activation.time_until_sleep = time_until_sleep;
            activation.time_since_can_sleep = if activation.sleeping {
                time_until_sleep
            } else {
                0.0
            };
        }
    }
}
