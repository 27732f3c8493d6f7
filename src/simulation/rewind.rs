//! Going back in time to stay there, and the states that are kept.

use std::ops::Range;

use crate::key::BodyKey;
use crate::pose::Pair;
use crate::simulation::Kept;
use rapier::math::Pose;

use super::past::{Past, RewindError};
use super::picture::DisplayedWorld;
use super::simulation::Simulation;

/// # Back in time
///
/// | to | use |
/// | --- | --- |
/// | go back and stay there, as in a debugger | [`rewind`](Self::rewind) |
/// | resimulate the steps since a tick, in one call | [`resimulate`](Self::resimulate) |
/// | the same in your own loop, step by step | [`roll_back`](Self::roll_back), then [`next_step`](Self::next_step) |
/// | adopt another machine's state | [`correct`](Self::correct) |
/// | put a copy or a saved state back | assignment: [The state as a value](crate::Physics#the-state-as-a-value) |
/// | look up where a player saw a body | [`pose_at`](Self::pose_at), [`world_at`](Self::world_at) |
///
/// The module [`rewind`](crate::rewind) says what is resimulated, and what it costs.
impl Simulation {
    /// Keeps states and poses of the past within these limits, from the next step on, and discards those beyond them.
    ///
    /// All are discarded when [`set_tick`](Self::set_tick) changes the tick, when the
    /// [origin](crate::Physics::shift_origin) is shifted outside of a step, and when [another
    /// state](crate::Physics#the-state-as-a-value) is assigned. A [correction](Self::correct) discards the states of
    /// other ticks.
    #[doc(alias("history", "snapshots"))]
    pub fn keep(&mut self, kept: Kept) {
        self.take_over();
        self.run.past.keep(kept, self.physics.tick());
    }

    /// Returns the limits of the kept states and poses.
    #[must_use]
    pub fn kept(&self) -> Kept {
        self.run.past.kept()
    }

    /// Declares that all inputs before `tick` are known, which makes rollbacks faster and frees memory.
    ///
    /// Call it before the rollback that takes account of new inputs: when the inputs of tick 5 arrive last, call
    /// `confirm(6)` and then `resimulate(5, …)`. That rollback keeps a state at `tick`, where the next one begins, and
    /// the next new step discards older states. A lower tick than before changes nothing. A [rewind](Self::rewind) to
    /// an earlier tick takes it back.
    pub fn confirm(&mut self, tick: u64) {
        self.take_over();
        self.run.past.confirm(tick);
    }

    /// Returns the ticks of the kept states. After a [rewind](Self::rewind), until the next step, they include later
    /// ticks, to which only `rewind` can go.
    #[must_use]
    pub fn rewindable(&self) -> Range<u64> {
        self.known_past().map_or(0..0, Past::rewindable)
    }

    pub(crate) fn newest_kept(&self, tick: u64) -> Option<u64> {
        self.known_past()?.nearest(tick)
    }

    /// Returns the estimated size of all kept states together, in bytes.
    #[must_use]
    pub fn rewind_bytes(&self) -> usize {
        self.known_past().map_or(0, Past::bytes)
    }

    /// Goes back to the state before the step of `tick` and stays there. The next frame displays that state.
    ///
    /// Until the next step you can go forwards again. Real time, settings and overstep do not change. Steps that are
    /// still to be resimulated are dropped. Outside of a frame, you can always go to the present tick. After a panic of
    /// Rapier, you can go back even within the frame.
    ///
    /// To rewind smoothly during a pause, also set the [overstep](Self::set_overstep) of each frame: for a time of 4.5
    /// steps, rewind to tick 4 and set the overstep to half a period. This needs
    /// [`Stepping::Fixed`](crate::Stepping::Fixed), and does not work on a thread.
    ///
    /// # Errors
    /// [`RewindError`]. Nothing is changed then.
    ///
    /// # Panics
    /// Within [`resource_scope`](Self::resource_scope).
    pub fn rewind(&mut self, tick: u64) -> Result<(), RewindError> {
        self.take_over();
        let has_panicked = self.physics.is_poisoned;
        if self.open.is_some() && !has_panicked {
            return Err(RewindError::WithinFrame);
        }
        let here = self.physics.tick();
        let Some(state) = self.run.past.snapshot(tick) else {
            if tick == here && !has_panicked {
                // The simulation is at that tick already, for example at the beginning of a smooth rewind.
                self.settle();
                self.abandon_rollback();
                return Ok(());
            }
            let kept = self.run.past.rewindable();
            return Err(RewindError::NotKept { tick, kept });
        };
        self.physics.resources.check_whole();
        let state = state.clone();
        self.settle();
        (self.open, self.run.interrupted) = (None, None);
        self.frame.dropped += self.steps.clock.abort_frame();
        self.abort_step();
        let changes = if let Some(old_present) = self.take_rollback(tick) {
            old_present.changes
        } else {
            if !has_panicked && self.run.past.rewindable().end <= here.saturating_add(1) {
                self.run.past.push_end(&self.physics);
            }
            std::mem::take(&mut self.physics.running.changes)
        };
        self.replace_physics(state);
        self.follow_tick();
        self.run.past.rewind(tick);
        self.jump_from(changes, tick);
        Ok(())
    }

    pub(super) fn known_past(&self) -> Option<&Past> {
        let is_known = self.knows_physics() && !self.physics.running.past_edits.is_cut;
        is_known.then_some(&self.run.past)
    }

    /// Passes a copy with the past to `ask`. Its queries find all changes since the last step.
    pub(crate) fn with_fresh_queries(&mut self, ask: impl FnOnce(&Self)) {
        self.take_over();
        let mut copy = self.clone();
        copy.physics.world.refresh_queries();
        std::mem::swap(&mut copy.run.past, &mut self.run.past);
        ask(&copy);
        self.run.past = copy.run.past;
    }
}

/// # Earlier poses
impl Simulation {
    /// Returns the pose of a body at an earlier time: the pose that a frame with this [`tick`](crate::Frame::tick) and
    /// [`alpha`](crate::Frame::alpha) displayed, bit for bit, except for [visual errors](Self::visual_error).
    ///
    /// Without such a frame, the pose is at `alpha` (clamped to [0, 1], or 0 for NaN) between the states before and
    /// after the step that led to `tick`. A later shift of the origin, teleport or portal does not change it. A later
    /// change of smoothing, before the next step, does.
    ///
    /// Returns `None` if the body did not exist yet or was removed since, or if that time is not kept. Only the last
    /// tick is kept, unless you [`keep`](Self::keep) more [`poses`](crate::rewind::Kept::poses).
    #[must_use]
    pub fn pose_at(&self, key: BodyKey, tick: u64, alpha: f32) -> Option<Pose> {
        self.physics.handle(key)?;
        let alpha = clamp_alpha(alpha);
        let pair = match self.known_past() {
            Some(past) => past.pair(&self.physics, key, tick)?,
            None if tick == self.physics.tick() => self.physics.pairs.of_step(key)?,
            None => return None,
        };
        Some(pair)
            .filter(Pair::is_finite)
            .map(|pair| pair.at(alpha))
    }

    /// Returns the world at an earlier time, for queries against the world that a player saw (lag compensation).
    ///
    /// Time and coordinates are the same as for [`pose_at`](Self::pose_at). Colliders that were removed in a later step
    /// are included, and later ones are not. At `alpha` 1 a query has the same result, bit for bit, as right after that
    /// step. At others, the call copies all colliders, so use one returned value for all queries at that time.
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
    /// - Shapes, soft bodies, colliders without a body, and the positions of colliders in their bodies are those of the
    ///   state.
    /// - A collider is found from its first step on. Those of disabled bodies, and those removed right after the step,
    ///   are missing.
    /// - At the present tick, the collider of a body that was moved since the step is where Rapier has it until the
    ///   next step.
    ///
    /// # Errors
    /// [`RewindError::NotKept`] if the state of that tick is not kept.
    pub fn world_at(&self, tick: u64, alpha: f32) -> Result<DisplayedWorld<'_>, RewindError> {
        let kept = self.known_past().and_then(|past| past.snapshot(tick));
        let state = kept.unwrap_or(&self.physics);
        // The state before a shift of the origin in the current step is gone.
        let is_shifted = kept.is_none()
            && self.physics.current_step().is_some()
            && self.physics.running.past_edits.replaced.is_some();
        if state.tick() != tick || is_shifted {
            let kept = self.rewindable();
            return Err(RewindError::NotKept { tick, kept });
        }
        let alpha = clamp_alpha(alpha);
        let moved = state.pairs.moved();
        let poses = moved.iter();
        let poses =
            poses.filter_map(|(key, pair)| Some((state.world.handle(key)?, pair.at(alpha))));
        Ok(DisplayedWorld::new(&state.world, poses))
    }
}

fn clamp_alpha(alpha: f32) -> f32 {
    if alpha > 0.0 { alpha.min(1.0) } else { 0.0 }
}
