//! Earlier poses, and the world at an earlier time.

use crate::key::BodyKey;
use crate::pose::Pair;
use rapier::math::Pose;

use super::past::{PastWorld, RewindError};
use super::root::Simulation;

/// # Earlier poses
impl Simulation {
    /// The pose of a body at an earlier time: what a frame with this [`tick`](crate::Frame::tick) and
    /// [`alpha`](crate::Frame::alpha) showed of it, to the bit.
    ///
    /// For a click or a shot, made against what the player saw: keep the [`Frame`](crate::Frame) of what is on
    /// the screen and ask for the poses in it. Any other time can be given as well: the pose is at `alpha` between the
    /// state after `tick - 1` steps and the state after `tick`. `alpha` is clamped to [0, 1]; NaN is 0. After a frame
    /// whose steps were aborted, its last tick has the latest pose at each alpha.
    ///
    /// The pose is in the coordinates of that tick, as in [`world_at`](Self::world_at): those in which the next step
    /// begins. A teleport or a [portal](crate::Physics::teleport_by) after that step does not change it, even right after
    /// it, nor does a later [shift of the origin](crate::Physics::shift_origin). To see an earlier pose from beyond a portal,
    /// apply the same isometry to it.
    ///
    /// `None` if the body was removed or did not exist yet, or if that time is not kept: only the last tick is, unless
    /// [`set_history`](Self::set_history) keeps more. Without it, between two steps of a frame no tick may be kept, because
    /// only the last step of a frame has to be displayed. Of a body that was removed since, [`world_at`](Self::world_at) has
    /// the colliders.
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

    /// Keeps the last `states` of each body for [`pose_at`](Self::pose_at): two by default, and at
    /// least. States from before this call are not available; within a step, it counts from the next step on.
    ///
    /// More than two cost 180 bytes for each state of a body that moves, and reading each such body in every step,
    /// not just in the last one of a frame. The [limits](Self::set_rewind_limits) of kept states do not shorten it.
    ///
    /// All earlier poses are discarded when ticks are [renumbered](crate::ClockSettings::set_tick), when the
    /// [origin](crate::Physics::shift_origin) is shifted outside of a step, and when
    /// [another state](crate::Physics#the-state-as-a-value) is assigned. A [clone](Self#a-copy) of the simulation keeps as
    /// many from then on and has no earlier ones. Saved bytes hold neither: call this again after loading them.
    pub fn set_history(&mut self, states: usize) {
        let ticks = (states as u64).saturating_sub(1);
        self.notice_physics();
        self.past.limit_poses(ticks, self.physics.tick());
    }

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
    /// At the present tick, the collider of a body that was moved since the step is where Rapier has it until the next step:
    /// after a [correction](Self::correct) this may differ from [`pose_at`](Self::pose_at).
    /// No query finds the collider of a disabled body. In the [`colliders`](rapier::pipeline::QueryPipeline::colliders) of the pipeline it may be
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
        Ok(PastWorld::new(state, pairs, clamp_alpha(alpha)))
    }
}

/// Into [0, 1]; NaN is 0.
fn clamp_alpha(alpha: f32) -> f32 {
    if alpha > 0.0 { alpha.min(1.0) } else { 0.0 }
}
