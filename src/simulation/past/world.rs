//! The world as a frame displayed it, to be queried: lag compensation.

use std::borrow::Cow;
use std::fmt;

use crate::key::BodyKey;
use crate::step::{World, refresh_leaf};
use rapier::dynamics::RigidBody;
use rapier::geometry::{BroadPhaseBvh, ColliderHandle, ColliderSet};
use rapier::math::Pose;
use rapier::pipeline::{QueryFilter, QueryPipeline};

use super::super::Simulation;
use super::super::rewind::RewindError;
use super::super::shown::clamp_alpha;

/// The world at an earlier time, for queries: from [`Simulation::world_at`].
pub struct PastWorld<'s> {
    world: &'s World,
    colliders: Cow<'s, ColliderSet>,
    broad_phase: Cow<'s, BroadPhaseBvh>,
}

impl Simulation {
    /// The world at an earlier time, for queries against what a player saw: lag compensation.
    ///
    /// The time is given as for [`pose_at`](Self::pose_at): colliders are where a frame with this
    /// [`tick`](crate::Frame::tick) and [`alpha`](crate::Frame::alpha) showed them. So are those of bodies that were
    /// removed in a later step; those inserted since are not there. At `alpha` 1 a query's result is, to the bit, what it
    /// was right after that step.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.set_rewind_limits(30, usize::MAX); // half a second
    /// # simulation.physics.rapier_mut().gravity = Vector::ZERO;
    /// let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m a step
    /// let target = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// let frame = simulation.advance(Duration::from_millis(75), |_, _| ());
    /// assert_eq!((frame.tick, frame.alpha), (4, 0.5)); // the target is shown at x = 3.5
    /// simulation.advance(Duration::from_millis(100), |_, _| ()); // until the shot has arrived
    /// simulation.physics.remove(target);
    ///
    /// let past = simulation.world_at(frame.tick, frame.alpha)?;
    /// let ray = Ray::new(Vector::X * 3.5 + Vector::Y * 5.0, Vector::NEG_Y);
    /// let shot = past.query_pipeline(QueryFilter::default()).cast_ray(&ray, 100.0, true);
    /// assert_eq!(past.key_of_collider(shot.unwrap().0), Some(target));
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    ///
    /// # Cost
    /// At `alpha` 1 none. Otherwise a copy of all colliders and of the tree that holds them, and for each that moved in
    /// that step an update of the tree. Use one for all the queries of a time. The memory is that of the
    /// [states that are kept](Self::set_rewind_limits).
    ///
    /// # Limits
    /// Changes of shape take effect at once, not bit by bit. Soft bodies and colliders without a body are where the
    /// state has them. A collider is found from the first step after its insertion on, as by all of Rapier's queries.
    /// No query finds the collider of a disabled body. In the [`colliders`](QueryPipeline::colliders) of the pipeline it may be
    /// far from where [`collider_pose`](Self::collider_pose) has it: Rapier moves a disabled link with its multibody, and leaves
    /// the link's collider behind.
    ///
    /// What is removed after that step and before the next one begins (in [`after_step`](crate::Hooks::after_step), between
    /// two frames) is not there. All else is where it was then, in the coordinates of that tick, as in
    /// [`pose_at`](Self::pose_at): even if it was teleported or went through a portal since, or a hook has
    /// [shifted the origin](crate::Physics::shift_origin).
    ///
    /// # Errors
    /// [`RewindError::NotKept`].
    pub fn world_at(&self, tick: u64, alpha: f32) -> Result<PastWorld<'_>, RewindError> {
        let kept = self.known_past().and_then(|past| past.snapshot(tick));
        let state = kept.unwrap_or(&self.physics);
        let Some(pairs) = state.pairs_of_step().filter(|_| state.tick() == tick) else {
            let kept = self.rewindable();
            return Err(RewindError::NotKept { tick, kept });
        };
        let mut past = PastWorld {
            world: &state.world,
            colliders: Cow::Borrowed(&state.world.physics.colliders),
            broad_phase: Cow::Borrowed(&state.world.physics.broad_phase),
        };
        let alpha = clamp_alpha(alpha);
        for (key, pair) in pairs.moved() {
            if let Some(body) = state.world.get(key) {
                past.put(body, pair.at(alpha));
            }
        }
        Ok(past)
    }
}

impl PastWorld<'_> {
    /// Rapier's queries.
    ///
    /// The [bodies](QueryPipeline::bodies) in it, which filters ask for, are in the state after the step.
    #[must_use]
    pub fn query_pipeline<'a>(&'a self, filter: QueryFilter<'a>) -> QueryPipeline<'a> {
        let physics = &self.world.physics;
        let dispatcher = physics.narrow_phase.query_dispatcher();
        (self.broad_phase).as_query_pipeline(dispatcher, &physics.bodies, &self.colliders, filter)
    }

    /// The key of the body that a collider is attached to.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.world.key_of_collider(handle)
    }

    fn put(&mut self, body: &RigidBody, pose: Pose) {
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
