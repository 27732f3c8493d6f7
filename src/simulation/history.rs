//! Earlier poses, and the world at an earlier time.

use crate::key::BodyKey;
use crate::pose::Pair;
use rapier::math::Pose;

use super::displayed_world::DisplayedWorld;
use super::past::RewindError;
use super::root::Simulation;

/// # Earlier poses
impl Simulation {
    /// Returns the pose of a body at an earlier time: the pose that a frame with this [`tick`](crate::Frame::tick) and
    /// [`alpha`](crate::Frame::alpha) displayed, bit for bit.
    ///
    /// Use it for a click or a shot that was aimed at what the player saw: keep the [`Frame`](crate::Frame) that is on
    /// the screen and ask for the poses in it. You can also pass any other time: the pose is at `alpha` between the
    /// state after `tick - 1` steps and the state after `tick`. `alpha` is clamped to [0, 1]; NaN counts as 0. If the
    /// steps of a frame were aborted, the pose at its tick is the latest one, whatever `alpha` is.
    ///
    /// The pose is in the coordinates of that tick, in which the next step begins, as in [`world_at`](Self::world_at).
    /// A teleport or a [portal](crate::Physics::teleport_by) after that step does not change it, even right after the
    /// step, nor does a later [shift of the origin](crate::Physics::shift_origin). To see an earlier pose from beyond a
    /// portal, apply the same isometry to it.
    ///
    /// Returns `None` if the body was removed or did not exist yet, or if that time is not kept. Only the last tick is
    /// kept, unless [`set_history`](Self::set_history) keeps more. Without it, no tick may be kept between two steps of
    /// a frame, because only the last step of a frame has to be displayed. For a body that was removed since,
    /// [`world_at`](Self::world_at) has the colliders.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// simulation.set_history(60);
    /// let frame = simulation.advance(Duration::from_millis(25), |_, _| ());
    /// let seen = simulation.pose(ball); // and clicked
    /// simulation.advance(Duration::from_millis(100), |_, _| ()); // until the click has arrived
    /// assert_eq!(simulation.pose_at(ball, frame.tick, frame.alpha), seen);
    /// assert_ne!(simulation.pose(ball), seen);
    /// ```
    #[must_use]
    pub fn pose_at(&self, key: BodyKey, tick: u64, alpha: f32) -> Option<Pose> {
        self.physics.handle(key)?;
        let alpha = clamp_alpha(alpha);
        let pair = match self.known_past() {
            Some(past) => past.pair(&self.physics, key, tick)?,
            None if tick == self.physics.tick() => self.physics.pairs_of_step()?.of_step(key)?,
            None => return None,
        };
        Some(pair)
            .filter(Pair::is_finite)
            .map(|pair| pair.at(alpha))
    }

    /// Keeps the last `states` states of each body for [`pose_at`](Self::pose_at). The default and the minimum are two.
    /// States from before this call are not available. Within a step, the call takes effect with the next step.
    ///
    /// More than two states cost 180 bytes per state of a moving body. Each moving body is then also read in every
    /// step, not just in the last one of a frame. The [limits](Self::set_rewind_limits) of kept states do not shorten
    /// this history.
    ///
    /// All earlier poses are discarded when ticks are [renumbered](Self::set_tick), when the
    /// [origin](crate::Physics::shift_origin) is shifted outside of a step, and when [another
    /// state](crate::Physics#the-state-as-a-value) is assigned. A [clone](Self#a-copy) of the simulation has no earlier
    /// poses, and keeps the same number from then on. Saved bytes hold neither: call this again after loading.
    pub fn set_history(&mut self, states: usize) {
        let ticks = (states as u64).saturating_sub(1);
        self.notice_physics();
        self.run.past.limit_poses(ticks, self.physics.tick());
    }

    /// Returns the world at an earlier time, for queries against the world that a player saw (lag compensation).
    ///
    /// The time is the same as for [`pose_at`](Self::pose_at): colliders are where a frame with this
    /// [`tick`](crate::Frame::tick) and [`alpha`](crate::Frame::alpha) displayed them. Colliders of bodies that were
    /// removed in a later step are included. Colliders that were inserted since are not. At `alpha` 1 the result of a
    /// query is, bit for bit, the result right after that step.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.set_rewind_limits(30, usize::MAX); // half a second
    /// # simulation.physics.set_gravity(Vector::ZERO).unwrap();
    /// let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m per step
    /// let target = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// let frame = simulation.advance(Duration::from_millis(75), |_, _| ());
    /// assert_eq!((frame.tick, frame.alpha), (4, 0.5)); // the target is displayed at x = 3.5
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
    /// At `alpha` 1 the call costs nothing. Otherwise, it copies all colliders and the tree that holds them, and
    /// updates the tree for each collider that moved in that step. Use one returned value for all queries at that time.
    /// The memory is that of the [states that are kept](Self::set_rewind_limits).
    ///
    /// # Limits
    /// Shapes change at once and are not interpolated. Soft bodies and colliders without a body are where the state has
    /// them. A collider is found from the first step after its insertion on, as in all of Rapier's queries. At the
    /// present tick, the collider of a body that was moved since the step is where Rapier has it until the next step:
    /// after a [correction](Self::correct) this may differ from [`pose_at`](Self::pose_at). No query finds the collider
    /// of a disabled body. In the [`colliders`](rapier::pipeline::QueryPipeline::colliders) of the pipeline it may be
    /// far from its [`collider_pose`](Self::collider_pose): Rapier moves a disabled link with its multibody, and leaves
    /// the link's collider behind.
    ///
    /// Colliders that are removed after that step and before the next one begins (in
    /// [`after_step`](crate::Hooks::after_step), or between two frames) are missing. All other colliders are where they
    /// were at that time, in the coordinates of that tick, as in [`pose_at`](Self::pose_at), even if they were
    /// teleported or went through a portal since, or if a hook has [shifted the origin](crate::Physics::shift_origin).
    ///
    /// # Errors
    /// [`RewindError::NotKept`] if the state of that tick is not kept.
    pub fn world_at(&self, tick: u64, alpha: f32) -> Result<DisplayedWorld<'_>, RewindError> {
        let kept = self.known_past().and_then(|past| past.snapshot(tick));
        let state = kept.unwrap_or(&self.physics);
        let Some(pairs) = state.pairs_of_step().filter(|_| state.tick() == tick) else {
            let kept = self.rewindable();
            return Err(RewindError::NotKept { tick, kept });
        };
        let alpha = clamp_alpha(alpha);
        let poses = pairs.moved();
        let poses =
            poses.filter_map(|(key, pair)| Some((state.world.handle(key)?, pair.at(alpha))));
        Ok(DisplayedWorld::new(&state.world, poses))
    }
}

/// Clamps alpha to [0, 1]; NaN becomes 0.
fn clamp_alpha(alpha: f32) -> f32 {
    if alpha > 0.0 { alpha.min(1.0) } else { 0.0 }
}
