//! The world as a frame displayed it, for queries: lag compensation.

use std::borrow::Cow;
use std::fmt;

use crate::key::BodyKey;
use crate::physics::Physics;
use crate::pose::Pairs;
use crate::step::{World, refresh_leaf};
use rapier::dynamics::RigidBody;
use rapier::geometry::{BroadPhaseBvh, ColliderHandle, ColliderSet};
use rapier::math::Pose;
use rapier::pipeline::{QueryFilter, QueryPipeline};

/// The world at an earlier time, for queries. Returned by [`Simulation::world_at`](crate::Simulation::world_at).
pub struct PastWorld<'s> {
    world: &'s World,
    colliders: Cow<'s, ColliderSet>,
    broad_phase: Cow<'s, BroadPhaseBvh>,
}

impl<'s> PastWorld<'s> {
    /// Creates the world of the step that led to this state, with bodies at `alpha` between their `pairs`.
    pub(in crate::simulation) fn new(state: &'s Physics, pairs: &Pairs, alpha: f32) -> Self {
        let mut past = Self {
            world: &state.world,
            colliders: Cow::Borrowed(&state.world.physics.colliders),
            broad_phase: Cow::Borrowed(&state.world.physics.broad_phase),
        };
        for (key, pair) in pairs.moved() {
            if let Some(body) = state.world.get(key) {
                past.move_colliders(body, pair.at(alpha));
            }
        }
        past
    }
}

impl PastWorld<'_> {
    /// Returns Rapier's queries.
    ///
    /// Their [bodies](QueryPipeline::bodies), which filters can read, are in the state after the step.
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

impl fmt::Debug for PastWorld<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PastWorld")
            .field("colliders", &self.colliders.len())
            .finish_non_exhaustive()
    }
}
