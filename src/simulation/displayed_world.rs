//! The world as a frame displayed it, for queries and debug lines.

use std::borrow::Cow;
use std::fmt;

use crate::key::BodyKey;
use crate::step::{World, refresh_leaf};
use rapier::dynamics::{RigidBody, RigidBodyHandle, RigidBodySet};
use rapier::geometry::{BroadPhaseBvh, ColliderHandle, ColliderSet};
use rapier::math::Pose;
use rapier::pipeline::{QueryFilter, QueryPipeline};

/// The world as a frame displayed it, for queries and for Rapier's debug renderer.
/// [`Simulation::displayed_world`](crate::Simulation::displayed_world) returns it for the last frame, and
/// [`Simulation::world_at`](crate::Simulation::world_at) for an earlier one.
pub struct DisplayedWorld<'s> {
    world: &'s World,
    /// The bodies whose displayed pose differs from the state.
    poses: Vec<(RigidBodyHandle, Pose)>,
    colliders: Cow<'s, ColliderSet>,
    broad_phase: Cow<'s, BroadPhaseBvh>,
}

impl<'s> DisplayedWorld<'s> {
    /// Creates the world with bodies at these poses. All others keep the pose of the state.
    pub(super) fn new(
        world: &'s World,
        poses: impl Iterator<Item = (RigidBodyHandle, Pose)>,
    ) -> Self {
        let mut displayed = Self {
            world,
            poses: Vec::new(),
            colliders: Cow::Borrowed(&world.physics.colliders),
            broad_phase: Cow::Borrowed(&world.physics.broad_phase),
        };
        for (handle, pose) in poses {
            if let Some(body) = world.physics.bodies.get(handle) {
                displayed.move_colliders(body, pose);
                if *body.position() != pose {
                    displayed.poses.push((handle, pose));
                }
            }
        }
        displayed
    }
}

impl DisplayedWorld<'_> {
    /// Returns Rapier's queries.
    ///
    /// Filters can read their [bodies](QueryPipeline::bodies), which are in the state after the step.
    #[must_use]
    pub fn query_pipeline<'a>(&'a self, filter: QueryFilter<'a>) -> QueryPipeline<'a> {
        let physics = &self.world.physics;
        let dispatcher = physics.narrow_phase.query_dispatcher();
        (self.broad_phase).as_query_pipeline(dispatcher, &physics.bodies, &self.colliders, filter)
    }

    /// Returns the key of the body that a collider is attached to.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.world.key_of_collider(handle)
    }

    /// Returns the colliders at their displayed poses.
    #[must_use]
    pub fn colliders(&self) -> &ColliderSet {
        &self.colliders
    }

    /// Returns a copy of Rapier's bodies at their displayed poses, for Rapier's debug renderer: pass it to
    /// `render_rigid_bodies`, with [`colliders`](Self::colliders) to `render_colliders`, and with the joints of
    /// [`Physics::rapier`](crate::Physics::rapier) to `render_joints`. The lines are then where the models are.
    #[must_use]
    pub fn bodies(&self) -> RigidBodySet {
        let mut bodies = self.world.physics.bodies.clone();
        for (handle, pose) in &self.poses {
            if let Some(body) = bodies.get_mut(*handle) {
                body.set_position(*pose, false);
            }
        }
        bodies
    }

    fn move_colliders(&mut self, body: &RigidBody, pose: Pose) {
        for handle in body.colliders() {
            let Some(collider) = self.colliders.get(*handle) else {
                continue;
            };
            let place = collider.position_wrt_parent().map(|place| pose * *place);
            let Some(place) = place.filter(|place| place != collider.position()) else {
                continue;
            };
            let collider = &mut self.colliders.to_mut()[*handle];
            collider.set_position(place);
            let parameters = &self.world.physics.integration_parameters;
            refresh_leaf(self.broad_phase.to_mut(), parameters, *handle, collider);
        }
    }
}

impl fmt::Debug for DisplayedWorld<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DisplayedWorld")
            .field("colliders", &self.colliders.len())
            .finish_non_exhaustive()
    }
}
