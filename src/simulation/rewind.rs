//! Going back in time to stay there, and the states that are kept.

use std::ops::Range;

use super::past::{Past, RewindError};
use super::root::Simulation;
use crate::physics::Stage;
use crate::step::clear_events;

/// # Back in time
///
/// A simulation can keep the states before its last steps. Use them to [rewind](Self::rewind), for a player or a
/// debugger, or for rollback: to [resimulate steps](Self::resimulate) with late input.
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::{Physics, RewindError, Simulation};
/// # use std::collections::BTreeMap;
/// # use std::time::Duration;
/// let mut simulation = Simulation::default();
/// simulation.set_rewind_limits(20, 64 << 20); // a third of a second, in at most 64 MiB
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
/// before and after [`make_step`](Self::make_step), until it asks for the next step. So it includes the hooks. The
/// state before a step includes everything that the game did until then, even outside of hooks: between frames, or in a
/// frame before its first step or after its last one. Later changes outside of hooks (spawn, teleport, a pending force,
/// a change of gravity) are not repeated. So do everything in the hooks, based on the input of that tick. The exception
/// is the [origin](crate::Physics::shift_origin): it is not moved back, because a shift outside of a step discards
/// earlier states. Settings of the simulation (its clock, smoothing, correction, limits) are not part of the state, but
/// the smoothing and correction of a single body are.
///
/// Your game's state goes back too if it is among the [resources](crate::Physics::resources): a score, or even a whole
/// ECS world that can be cloned, such as `entities::RollbackWorld` for hecs. If your game keeps state outside of the
/// resources, restore it yourself: [`Owners::unmatched`](crate::Owners::unmatched), called right after
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
/// While states are kept, each step saves one, including the sleeping bodies. With
/// [`set_rewind_interval`](Self::set_rewind_interval) only every n-th step does. With 200 moving bodies, this makes a
/// frame with a step take 1.7 to 2.2 times as long, or 1.1 to 1.2 times if every eighth step saves a state. Going back
/// costs as much as saving a state. `cargo bench --bench rollback` measures these figures.
impl Simulation {
    /// Keeps the states before the last `ticks` steps, as long as they fit into `bytes` together. The default, 0 ticks,
    /// keeps none. The heap memory of [resources](crate::Physics::resources) does not count.
    ///
    /// The size of a state is estimated from the sizes of Rapier's sets. The oldest states are discarded first. All are
    /// discarded when ticks are [renumbered](Self::set_tick), when the
    /// [origin](crate::Physics::shift_origin) is shifted outside of a step, and when [another
    /// state](crate::Physics#the-state-as-a-value) is assigned. The state that a [rewind](Self::rewind) leaves is kept
    /// until the next step, and does not count towards these limits. A clone and a saved state hold no kept states.
    pub fn set_rewind_limits(&mut self, ticks: u64, bytes: usize) {
        self.notice_physics();
        (self.run.past).limit_snapshots(ticks, bytes, self.physics.tick());
    }

    /// Keeps only states whose tick is a multiple of `ticks`. The default is 1, and 0 counts as 1. The interval is at
    /// most the limit in ticks. It reduces the memory, and the time that saving adds to a step, by that factor.
    ///
    /// A rollback to a tick between two states goes back to the earlier state. The steps from there on are resimulated
    /// too, so repeat in them what your game did the first time. [`rewind`](Self::rewind) and
    /// [`world_at`](Self::world_at) only accept the ticks of kept states.
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.set_rewind_limits(20, usize::MAX);
    /// simulation.set_rewind_interval(4);
    /// simulation.advance(Duration::from_millis(200), |_, _| ());
    /// let mut ticks = Vec::new();
    /// simulation.resimulate(10, |_, step| ticks.push(step.tick))?;
    /// assert_eq!(ticks, [8, 9, 10, 11]);
    /// assert!(simulation.rewind(10).is_err() && simulation.rewind(4).is_ok());
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    pub fn set_rewind_interval(&mut self, ticks: u64) {
        self.run.past.set_interval(ticks);
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
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// let mut simulation = Simulation::default();
    /// simulation.set_rewind_limits(60, usize::MAX);
    /// simulation.advance(Duration::from_millis(200), |_, _| ());
    /// assert_eq!(simulation.physics.tick(), 12);
    /// for tick in [3, 12, 5] {
    ///     simulation.rewind(tick)?;
    ///     assert_eq!(simulation.physics.tick(), tick);
    /// }
    /// simulation.advance(Duration::from_millis(20), |_, _| ()); // a different run from here on
    /// assert!(simulation.rewind(12).is_err());
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    ///
    /// Rewinding can look as smooth as normal motion: during a pause, also set the
    /// [overstep](Self::set_overstep) of each frame. This needs
    /// [`Stepping::Fixed`](crate::Stepping::Fixed) and a single thread: during a pause, a `Runner` and an `Overlap`
    /// display the state itself.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Rate, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::new(Rate::hz(10)?);
    /// # simulation.physics.set_gravity(Vector::ZERO).unwrap();
    /// # simulation.set_rewind_limits(100, usize::MAX);
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
        self.notice_physics();
        let has_panicked = self.physics.stage == Stage::Poisoned;
        if self.open.is_some() && !has_panicked {
            return Err(RewindError::WithinFrame);
        }
        let here = self.physics.tick();
        let Some(state) = self.run.past.snapshot(tick) else {
            if tick == here && !has_panicked {
                // The simulation is at that tick already, for example at the beginning of a smooth rewind.
                self.release_redo();
                self.drop_redo();
                return Ok(());
            }
            let kept = self.run.past.rewindable();
            return Err(RewindError::NotKept { tick, kept });
        };
        self.physics.resources.check_whole();
        let state = state.clone();
        self.release_redo();
        self.open = None;
        self.frame.dropped += self.clock.abort_frame();
        let log = if let Some(redo) = self.run.redo.take() {
            self.abort_step();
            redo.left.log
        } else {
            if !has_panicked && self.run.past.rewindable().end <= here + 1 {
                self.run.past.push_end(&self.physics);
            }
            std::mem::take(&mut self.physics.log)
        };
        self.replace_physics(state);
        self.follow_tick();
        self.jump_from(log);
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
        self.notice_physics();
        let mut copy = self.clone();
        copy.physics.world.refresh_queries();
        std::mem::swap(&mut copy.run.past, &mut self.run.past);
        ask(&copy);
        self.run.past = copy.run.past;
    }
}
