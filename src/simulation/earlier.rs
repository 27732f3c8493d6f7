//! Poses and worlds of earlier ticks.

use crate::key::BodyKey;
use crate::pose::Pair;
use rapier::math::Pose;

use super::past::RewindError;
use super::picture::DisplayedWorld;
use super::simulation::Simulation;

/// # Earlier poses
impl Simulation {
    /// Returns the pose of a body at an earlier time: the pose that a frame with this [`tick`](crate::Frame::tick) and
    /// [`alpha`](crate::Frame::alpha) displayed, bit for bit, except for [visual errors](Self::visual_error) and edits
    /// since the step.
    ///
    /// `alpha` is clamped to [0, 1], and NaN counts as 0. A later teleport, portal or shift of the origin in a step
    /// does not change the pose. A later change of smoothing does, if it comes before the hook of the next step.
    ///
    /// Returns `None` if the body did not exist yet or was removed since, or if that time is not kept. Only the last
    /// tick is kept, unless you [`keep`](Self::keep) more [`poses`](crate::rewind::Kept::poses). After a [shift of the
    /// origin](crate::Physics::shift_origin) between steps, no time is kept until the next frame.
    #[must_use]
    pub fn pose_at(&self, key: BodyKey, tick: u64, alpha: f32) -> Option<Pose> {
        self.physics.handle(key)?;
        let alpha = clamp_alpha(alpha);
        let pair = match self.known_past() {
            Some(past) => past.pair(&self.physics, key, tick)?,
            // Without a usable past, the state itself still has the poses of its last step.
            None if tick == self.physics.tick() && !self.physics.is_shifted_since_step() => {
                self.physics.pairs.of_step(key)?
            }
            None => return None,
        };
        // A large shift of the origin may have made a pose infinite.
        Some(pair)
            .filter(Pair::is_finite)
            .map(|pair| pair.at(alpha))
    }

    /// Returns the world at an earlier time, for queries against the world that a player saw (lag compensation).
    ///
    /// Time and coordinates are the same as for [`pose_at`](Self::pose_at). The world has the colliders of that tick.
    /// At `alpha` 1 a query has the same result, bit for bit, as right after that step. At others, the call copies all
    /// colliders, so use one returned value for all queries.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Simulation, rewind::{Kept, RewindError}};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # simulation.physics.set_gravity(Vector::ZERO).unwrap();
    /// simulation.keep(Kept { ticks: 30, ..Kept::default() });
    /// let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m per step
    /// let target = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// let frame = simulation.advance(Duration::from_millis(75), |_, _| ()); // displays x = 3.5
    /// simulation.advance(Duration::from_millis(100), |_, _| ()); // until the shot has arrived
    /// simulation.physics.remove(target);
    ///
    /// let past = simulation.world_at(frame.tick, frame.alpha)?;
    /// let ray = Ray::new(Vector::X * 3.5 + Vector::Y * 5.0, Vector::NEG_Y);
    /// let shot = past.query_pipeline(QueryFilter::default()).cast_ray(&ray, 100.0, true);
    /// assert_eq!(past.key_of_collider(shot.unwrap().0), Some(target));
    /// # Ok::<(), RewindError>(())
    /// ```
    ///
    /// # Limits
    /// - Shapes, groups, soft bodies, colliders without a body, and the positions of colliders in their bodies are
    ///   those of the state.
    /// - A collider is found from its first step on, unless its body is disabled or it is removed before the next step.
    ///   At an alpha below 1, one that was added to a moving body is found a step earlier.
    /// - After a [rewind](Self::rewind), the later ticks to which you can go forwards again are kept, too.
    /// - At the present tick, the collider of a body that was moved since the step is where Rapier has it until the
    ///   next step.
    ///
    /// # Errors
    /// [`RewindError::NotKept`] if the state of that tick is not kept.
    pub fn world_at(&self, tick: u64, alpha: f32) -> Result<DisplayedWorld<'_>, RewindError> {
        let kept = self.known_past().and_then(|past| past.snapshot(tick));
        let state = kept.unwrap_or(&self.physics);
        // After a shift of the origin, the present state has other coordinates than its tick.
        let is_shifted = kept.is_none() && self.physics.is_shifted_since_step();
        if state.tick() != tick || is_shifted {
            let kept = self.rewindable();
            return Err(RewindError::NotKept { tick, kept });
        }
        let alpha = clamp_alpha(alpha);
        // In the tuples, `false` says that queries need not find new bodies: that tick's queries did not either.
        let paths = state.pairs.step_paths();
        let poses = paths
            .iter()
            .filter_map(|(key, pair)| Some((state.world.handle(key)?, pair.at(alpha), false)));
        Ok(DisplayedWorld::new(&state.world, poses))
    }
}

fn clamp_alpha(alpha: f32) -> f32 {
    if alpha > 0.0 { alpha.min(1.0) } else { 0.0 }
}
