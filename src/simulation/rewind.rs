//! Going back in time to stay there, and the states that are kept.

use std::ops::Range;

use crate::events::clear_events;
use crate::key::BodyKey;
use crate::physics::Stage;
use crate::pose::Pair;
use crate::simulation::Kept;
use rapier::math::Pose;

use super::past::{Past, RewindError};
use super::picture::DisplayedWorld;
use super::simulation::Simulation;

/// # Back in time
///
/// A simulation can keep the states before its last steps. Use them to [rewind](Self::rewind), for a player or a
/// debugger, or for rollback: to [resimulate steps](Self::resimulate) with late input.
///
/// ```
/// # use evenstep::rewind::Kept;
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::{Physics, Simulation};
/// # use evenstep::rewind::RewindError;
/// # use std::collections::BTreeMap;
/// # use std::time::Duration;
/// let mut simulation = Simulation::default();
/// simulation.keep(Kept { ticks: 20, bytes: 64 << 20, ..Kept::default() }); // a third of a second, in at most 64 MiB
/// let ship = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
///
/// // The other player's input for each tick. The input of tick 3 is late.
/// let mut thrust = BTreeMap::new();
/// let apply = |physics: &mut Physics, thrust: &BTreeMap<u64, f32>, tick| {
///     let thrust = thrust.get(&tick).copied().unwrap_or(0.0);
///     physics.apply_impulse(ship, Vector::X * thrust).unwrap();
/// };
/// for _ in 0..5 {
///     simulation.advance(Duration::from_millis(20), |physics, step| {
///         apply(physics, &thrust, step.tick);
///     });
/// }
/// assert_eq!((simulation.physics.tick(), simulation.rewindable()), (6, 0..6));
/// thrust.insert(3, 2.0);
/// simulation.resimulate(3, |physics, step| {
///     assert!(step.is_resimulated && physics.tick() == step.tick);
///     apply(physics, &thrust, step.tick);
/// })?;
/// assert_eq!(simulation.physics.tick(), 6);
/// assert!(simulation.physics.body(ship).unwrap().linvel().x > 0.0);
/// # Ok::<(), RewindError>(())
/// ```
///
/// # Choosing
/// | to | use |
/// | --- | --- |
/// | go back and stay there: a player who rewinds, a debugger, scrubbing | [`rewind`](Self::rewind) |
/// | resimulate the steps since a tick, in one call | [`resimulate`](Self::resimulate) |
/// | the same in your own loop, step by step | [`roll_back`](Self::roll_back), then [`next_step`](Self::next_step) |
/// | adopt another machine's state, even in the middle of a rollback | [`correct`](Self::correct) |
/// | put a copy or a saved state back | assignment: [The state as a value](crate::Physics#the-state-as-a-value) |
/// | play a recording, and check it | `Replay` |
///
/// # What is resimulated
/// evenstep resimulates steps, not frames. A step includes what the game does from [`next_step`](Self::next_step) on,
/// before and after [`run_step`](Self::run_step), until it asks for the next step. So it includes the hooks. The
/// state before a step includes everything that the game did until then, even outside of hooks: between frames, or in a
/// frame before its first step or after its last one. Later changes outside of hooks (spawn, teleport, a pending force,
/// a change of gravity) are not repeated. So do everything in the hooks, based on the input of that tick. The exception
/// is the [origin](crate::Physics::shift_origin): it is not moved back, because a shift outside of a step discards
/// earlier states. Settings of the simulation (its clock, smoothing, correction, limits) are not part of the state, but
/// the smoothing and correction of a single body are.
///
/// Your game's state goes back too if it is among the [resources](crate::Physics::resources): a score, or even a whole
/// ECS world that can be cloned, such as `ecs::hecs::RollbackWorld` for hecs. If your game keeps state outside of the
/// resources, restore it yourself: [`EntityMap::unmatched`](crate::ecs::EntityMap::unmatched), called right after
/// [`roll_back`](Self::roll_back), finds bodies without an entity, and entities without a body.
///
/// In the hooks of a resimulated step, the [`Step`](crate::Step) and the whole [`Physics`](crate::Physics) belong to
/// that step, and [`Step::is_resimulated`](crate::Step::is_resimulated) is set. The [`clock`](Self::clock) stays at the
/// present. The displayed poses, in [`pose`](Self::pose) and [`moved`](Self::moved), stay the same until the present is
/// reached. Then they move to the corrected motion [smoothly](Self::correction). A body that is inserted in a
/// resimulated step gets the same key as before if the same bodies are inserted and removed in the same order. In
/// another order, it may get a key that belonged to another body.
///
/// # Cost
/// While states are kept, each step saves one, including the sleeping bodies. With an
/// [`interval`](crate::rewind::Kept::interval) only every n-th step does. With 200 moving bodies, this makes a
/// frame with a step take 1.7 to 2.2 times as long, or 1.1 times if every eighth step saves a state. Going back costs
/// as much as saving a state. `cargo bench --bench rollback` measures these figures.
impl Simulation {
    /// Keeps states and poses of the past within these limits, which replace the previous ones. Kept states and poses
    /// beyond the new limits are discarded at once. Within a step, the call takes effect with the next step.
    ///
    /// ```
    /// # use evenstep::rewind::{Kept, RewindError};
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.keep(Kept { ticks: 20, interval: 4, ..Kept::default() });
    /// simulation.advance(Duration::from_millis(200), |_, _| ());
    /// let mut ticks = Vec::new();
    /// simulation.resimulate(10, |_, step| ticks.push(step.tick))?;
    /// assert_eq!(ticks, [8, 9, 10, 11]);
    /// assert!(simulation.rewind(9).is_err() && simulation.rewind(4).is_ok());
    /// # Ok::<(), RewindError>(())
    /// ```
    ///
    /// All kept states and poses are discarded when ticks are [renumbered](Self::set_tick), when the
    /// [origin](crate::Physics::shift_origin) is shifted outside of a step, and when [another
    /// state](crate::Physics#the-state-as-a-value) is assigned. The state that a [rewind](Self::rewind) leaves is kept
    /// until the next step, and does not count towards the limits. A [clone](Self#a-copy) of the simulation holds no
    /// kept states and poses, and keeps as much from then on. Saved bytes hold neither: call this again after loading.
    pub fn keep(&mut self, kept: Kept) {
        self.take_over_physics();
        self.run.past.keep(kept, self.physics.tick());
    }

    /// Returns the limits in use, for example to change one of them.
    #[must_use]
    pub fn kept(&self) -> Kept {
        self.run.past.kept()
    }

    /// Tells that all inputs before `tick` are known. Call it before the rollback that takes account of new inputs, with
    /// the first tick whose inputs are not all known: later rollbacks do not go back to before that tick.
    ///
    /// It makes rollbacks faster and frees memory. A rollback from before `tick` to the present keeps one state, at
    /// `tick`, whatever the [interval](crate::rewind::Kept::interval) is, because the next rollback begins there. The next new
    /// step discards older states. So a [`rewind`](Self::rewind) and [`world_at`](Self::world_at) find fewer ticks. Poses for
    /// [`pose_at`](Self::pose_at) stay.
    ///
    /// A lower tick than before changes nothing. A [rewind](Self::rewind) takes back what was confirmed beyond its
    /// tick, and whatever discards all states takes back everything.
    ///
    /// ```
    /// # use evenstep::rewind::{Kept, RewindError};
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.keep(Kept { ticks: 60, ..Kept::default() });
    /// simulation.advance(Duration::from_millis(200), |_, _| ());
    /// // Input for tick 5 has arrived, and was not as predicted. All earlier input is known.
    /// simulation.confirm(6);
    /// simulation.resimulate(5, |_, _| ())?;
    /// simulation.advance(Duration::from_millis(20), |_, _| ());
    /// assert_eq!(simulation.rewindable(), 6..13);
    /// # Ok::<(), RewindError>(())
    /// ```
    pub fn confirm(&mut self, tick: u64) {
        self.take_over_physics();
        self.run.past.confirm(tick);
    }

    /// Returns the ticks of the kept states, to which a [rollback](Self::roll_back) can go back. After a
    /// [rewind](Self::rewind) and until the next step, they include later ticks, which only `rewind` can go to.
    #[must_use]
    pub fn rewindable(&self) -> Range<u64> {
        self.known_past().map_or(0..0, Past::rewindable)
    }

    /// Returns the last tick up to this one whose state is kept.
    pub(crate) fn newest_kept(&self, tick: u64) -> Option<u64> {
        self.known_past()?.nearest(tick)
    }

    /// Returns the estimated size of all kept states together, in bytes.
    #[must_use]
    pub fn rewind_bytes(&self) -> usize {
        self.known_past().map_or(0, Past::bytes)
    }

    /// Goes back to the state before the step of `tick` and stays there. Use it for a player who rewinds, a debugger
    /// that steps backwards, or scrubbing. The next frame displays that state.
    ///
    /// Until the next step you can go forwards again, up to the state before the rewind. Real time, the settings and
    /// the overstep do not change. Pending forces go back too. Outside of a frame, going to the present tick succeeds
    /// even if its state is not kept, unless Rapier has panicked.
    ///
    /// ```
    /// # use evenstep::rewind::Kept;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// let mut simulation = Simulation::default();
    /// simulation.keep(Kept { ticks: 60, ..Kept::default() });
    /// simulation.advance(Duration::from_millis(200), |_, _| ());
    /// assert_eq!(simulation.physics.tick(), 12);
    /// for tick in [3, 12, 5] {
    ///     simulation.rewind(tick)?;
    ///     assert_eq!(simulation.physics.tick(), tick);
    /// }
    /// simulation.advance(Duration::from_millis(20), |_, _| ()); // a different run from here on
    /// assert!(simulation.rewind(12).is_err());
    /// # Ok::<(), evenstep::rewind::RewindError>(())
    /// ```
    ///
    /// Rewinding can look as smooth as normal motion: during a pause, also set the
    /// [overstep](Self::set_overstep) of each frame. This needs
    /// [`Stepping::Fixed`](crate::Stepping::Fixed) and a single thread: during a pause, a `Runner` and an `Overlap`
    /// display the state itself.
    ///
    /// ```
    /// # use evenstep::rewind::Kept;
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Rate, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::new(Rate::hz(10));
    /// # simulation.physics.set_gravity(Vector::ZERO).unwrap();
    /// # simulation.keep(Kept { ticks: 100, ..Kept::default() });
    /// let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0); // 1 m in each step
    /// let key = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    /// simulation.advance(Duration::from_millis(1_000 / 4), |_, _| ());
    /// simulation.advance(Duration::from_millis(1_000 / 4), |_, _| ());
    /// assert_eq!(simulation.physics.tick(), 5);
    ///
    /// simulation.pause();
    /// let frame_time = Duration::from_millis(7);
    /// for steps in [4.5_f32, 4.2, 3.9] {
    ///     simulation.rewind(steps as u64)?;
    ///     let period = simulation.clock().settings().rate().period();
    ///     simulation.set_overstep(period.mul_f32(steps.fract()));
    ///     simulation.advance(frame_time, |_, _| ());
    ///     // As always, a frame displays the time one step ago.
    ///     let x = simulation.pose(key).unwrap().translation.x;
    ///     assert!((x - (steps - 1.0)).abs() < 1e-4);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Steps that are still to be resimulated are dropped. If `tick` is the present tick and its state is not kept, the
    /// call does nothing else. This also works after Rapier has panicked in a step, even within the frame of that step.
    /// The step then counts as never run.
    ///
    /// # Errors
    /// [`RewindError::NotKept`] if that state is not kept, and [`RewindError::WithinFrame`] within a frame. In both
    /// cases nothing is changed.
    ///
    /// # Panics
    /// Within [`resource_scope`](Self::resource_scope).
    pub fn rewind(&mut self, tick: u64) -> Result<(), RewindError> {
        self.take_over_physics();
        let has_panicked = self.physics.stage == Stage::Poisoned;
        if self.open.is_some() && !has_panicked {
            return Err(RewindError::WithinFrame);
        }
        let here = self.physics.tick();
        let Some(state) = self.run.past.snapshot(tick) else {
            if tick == here && !has_panicked {
                // The simulation is at that tick already, for example at the beginning of a smooth rewind.
                self.end_finished_rollback();
                self.drop_redo();
                return Ok(());
            }
            let kept = self.run.past.rewindable();
            return Err(RewindError::NotKept { tick, kept });
        };
        self.physics.resources.check_whole();
        let state = state.clone();
        self.end_finished_rollback();
        self.open = None;
        self.frame.dropped += self.clock.abort_frame();
        let log = if let Some(log) = self.end_redo() {
            log
        } else {
            if !has_panicked && self.run.past.rewindable().end <= here + 1 {
                self.run.past.push_end(&self.physics);
            }
            std::mem::take(&mut self.physics.log)
        };
        self.replace_physics(state);
        self.follow_tick();
        self.run.past.rewind(tick);
        self.jump_from(log, tick);
        clear_events(&mut self.run.events);
        Ok(())
    }

    /// Returns the past, if it leads to the present value.
    pub(super) fn known_past(&self) -> Option<&Past> {
        let is_known = self.knows_physics() && !self.physics.past_edits.is_cut;
        is_known.then_some(&self.run.past)
    }

    /// Passes a copy to `ask` whose queries include all changes since the last step, together with the past.
    pub(crate) fn with_fresh_queries(&mut self, ask: impl FnOnce(&Self)) {
        self.take_over_physics();
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
    /// kept, unless you [`keep`](Self::keep) more [`poses`](crate::rewind::Kept::poses). Without it, no tick may be
    /// kept between two steps of a frame, because only the last step of a frame has to be displayed. For a body that
    /// was removed since, [`world_at`](Self::world_at) has the colliders.
    ///
    /// ```
    /// # use evenstep::rewind::Kept;
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// simulation.keep(Kept { poses: 60, ..Kept::default() });
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

    /// Returns the world at an earlier time, for queries against the world that a player saw (lag compensation).
    ///
    /// The time is the same as for [`pose_at`](Self::pose_at): colliders are where a frame with this
    /// [`tick`](crate::Frame::tick) and [`alpha`](crate::Frame::alpha) displayed them. Colliders of bodies that were
    /// removed in a later step are included. Colliders that were inserted since are not. At `alpha` 1 the result of a
    /// query is, bit for bit, the result right after that step.
    ///
    /// ```
    /// # use evenstep::rewind::Kept;
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.keep(Kept { ticks: 30, ..Kept::default() }); // half a second
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
    /// # Ok::<(), evenstep::rewind::RewindError>(())
    /// ```
    ///
    /// # Cost
    /// At `alpha` 1 the call costs nothing. Otherwise, it copies all colliders and the tree that holds them, and
    /// updates the tree for each collider that moved in that step. Use one returned value for all queries at that time.
    /// The memory is that of the [states that are kept](Self::keep).
    ///
    /// # Limits
    /// Shapes change at once and are not interpolated. Soft bodies and colliders without a body are where the state has
    /// them. A collider is found from the first step after its insertion on, as in all of Rapier's queries. At the
    /// present tick, the collider of a body that was moved since the step is where Rapier has it until the next step:
    /// after a [correction](Self::correct) this may differ from [`pose_at`](Self::pose_at). No query finds the collider
    /// of a disabled body. In the [`colliders`](rapier::pipeline::QueryPipeline::colliders) of the pipeline it may be
    /// far from its body: Rapier moves a disabled link with its multibody, and leaves the link's collider behind.
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
