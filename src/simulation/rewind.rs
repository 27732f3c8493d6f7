//! Back in time: for good, or to make the steps since then again.

use std::ops::Range;

use crate::step::EventChanges;
use crate::time::Step;

use super::advance::{BeforeStep, Hooks};
use super::{Phase, Simulation};

/// Why a simulation cannot go back in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// The state of that tick is not kept, or no longer.
    #[error(
        "the state of tick {tick} is not kept, those of {kept:?} are: \
         ask for one of these, or raise `set_rewind_limits` before the next run"
    )]
    NotKept {
        /// The tick that was asked for.
        tick: u64,
        /// See [`Simulation::rewindable`].
        kept: Range<u64>,
    },
    /// More steps would have to be resimulated than
    /// [`set_max_steps_per_frame`](crate::ClockSettings::set_max_steps_per_frame) or
    /// [`set_budget`](crate::ClockSettings::set_budget) allow, with one left for the frame's own step: request a full
    /// state, and call [`replace_state`](Simulation::replace_state) with that.
    #[error(
        "{steps} steps to be resimulated, where a frame may make {most}: \
         call `replace_state` with a full state, or raise that limit"
    )]
    TooManySteps {
        /// How many steps, with those that were resimulated since the last frame.
        steps: u64,
        /// The most that a frame may make.
        most: u64,
    },
    /// A frame is open: end it first.
    #[error("a frame is open, or steps are to be resimulated: call `end_frame` first")]
    WithinFrame,
}

/// Why [`Simulation::resimulate_with`] failed. The present state is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResimulateError<E> {
    /// The simulation cannot go back that far.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// A hook failed. The present state is as it was; the states kept before it are discarded.
    #[error("a hook failed in a step that was resimulated: the present state is as it was")]
    Hook(#[source] E),
}

/// # Back in time
///
/// A simulation can keep the states before its last steps: to [rewind](Self::rewind) for a player or a
/// debugger, and for rollback: to [make steps again](Self::resimulate) with input that came late.
///
/// ```
/// # use evenstep::rapier3d::prelude::*;
/// # use evenstep::{RewindError, Simulation};
/// # use std::collections::BTreeMap;
/// # use std::time::Duration;
/// let mut simulation = Simulation::default();
/// simulation.set_rewind_limits(20, 64 << 20); // a third of a second, in at most 64 MiB
/// let ship = simulation.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
///
/// // The other player's input by tick, of which that of tick 3 is late.
/// let mut thrust = BTreeMap::new();
/// let apply = |simulation: &mut Simulation, thrust: &BTreeMap<u64, f32>, tick| {
///     let thrust = thrust.get(&tick).copied().unwrap_or(0.0);
///     simulation.apply_impulse(ship, Vector::X * thrust).unwrap();
/// };
/// for _ in 0..5 {
///     simulation.advance(Duration::from_millis(20), |simulation, step| {
///         apply(simulation, &thrust, step.tick);
///     });
/// }
/// assert_eq!((simulation.tick(), simulation.rewindable()), (6, 0..6));
/// thrust.insert(3, 2.0);
/// simulation.resimulate(3, |simulation, step| {
///     assert!(step.is_resimulated && simulation.tick() == step.tick);
///     apply(simulation, &thrust, step.tick);
/// })?;
/// assert_eq!(simulation.tick(), 6);
/// assert!(simulation.body(ship).unwrap().linvel().x > 0.0);
/// # Ok::<(), RewindError>(())
/// ```
///
/// # Choosing
/// | to | use |
/// | --- | --- |
/// | go back and stay there: a player who rewinds, a debugger, scrubbing | [`rewind`](Self::rewind) |
/// | make the steps since a tick again, in one call | [`resimulate`](Self::resimulate) |
/// | the same in the game's own loop, step by step | [`roll_back`](Self::roll_back), then [`next_step`](Self::next_step) |
/// | take over another machine's state, also for the steps that are resimulated | [`replace_state`](Self::replace_state) |
/// | put a copy or a saved state back | assignment: [The state as a value](Self#the-state-as-a-value) |
/// | play a recording, and check it | `Replay` |
///
/// # What is resimulated
/// Steps, not frames. A step includes what the game does from [`next_step`](Self::next_step) on, before and after
/// [`make_step`](Self::make_step), until it asks for the next one: what its hooks do. The state before a step includes all
/// that the game did until then, also elsewhere: between frames, or in a frame before its first step or after its last
/// one. What it did elsewhere after that (spawn, teleport, a pending force, a change of gravity) is not repeated. So do
/// everything in the hooks, by the input of that tick. Only the [origin](Self::shift_origin) stays where it was put: once
/// that is shifted elsewhere, earlier states are no longer kept. Settings of the clock, of smoothing, corrections and history are not part
/// of the state. What the game keeps beside the simulation, such as its components, it has to restore itself:
/// [`Owners::unmatched`](crate::Owners::unmatched), called right after [`roll_back`](Self::roll_back), finds bodies without
/// an entity, and entities without a body.
///
/// In the hooks of a step that is resimulated [`tick`](Self::tick), [`clock`](Self::clock), the [`Step`] and
/// [`events`](Self::events) are those of that step, and [`Step::is_resimulated`] is set. What frames show,
/// [`pose`](Self::pose) and [`moved`](Self::moved), stays until the present is reached; then it moves to
/// the corrected motion [smoothly](Self::set_correction). A key given out in a step that is resimulated is the
/// same if the same bodies are inserted and removed in the same order; otherwise it may belong to another
/// body.
///
/// # Cost
/// Each step is saved while states are kept: a third to two thirds of a step in a heap. Going
/// back costs as much once. Figures: `cargo bench --bench rollback`.
impl Simulation {
    /// Keeps the states before the last `ticks` steps, as far as they fit into `bytes` together; 0 ticks, the default,
    /// keeps none.
    ///
    /// A state's size is estimated from the sizes of Rapier's sets. The oldest states are discarded first. All are
    /// discarded when ticks are [renumbered](crate::ClockSettings::set_tick), and when the [origin](Self::shift_origin) is
    /// shifted outside of a step. The state that a [rewind](Self::rewind) leaves is kept until the next step, beside these
    /// limits. A [clone](Self#the-state-as-a-value) and a saved state hold none of them.
    pub fn set_rewind_limits(&mut self, ticks: u64, bytes: usize) {
        self.ring.set_limits(ticks, bytes);
    }

    /// The ticks whose states are kept. After a [rewind](Self::rewind) they include the later ones, until the next
    /// step.
    #[must_use]
    pub fn rewindable(&self) -> Range<u64> {
        self.ring.ticks()
    }

    /// The estimated size of the states that are kept, in bytes.
    #[must_use]
    pub fn rewind_bytes(&self) -> usize {
        self.ring.held()
    }

    /// Goes back to the state before the step of `tick`, and stays there: for a player who rewinds, a debugger's step
    /// back, and scrubbing. The next frame shows it.
    ///
    /// Until the next step it is possible to go forwards again, up to the state that was left. Real time, the
    /// settings and the overstep stay as they are. Pending forces are discarded. Going to the present tick is no error,
    /// whether its state is kept or not.
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// let mut simulation = Simulation::default();
    /// simulation.set_rewind_limits(60, usize::MAX);
    /// simulation.advance(Duration::from_millis(200), |_, _| ());
    /// assert_eq!(simulation.tick(), 12);
    /// for tick in [3, 12, 5] {
    ///     simulation.rewind(tick)?;
    ///     assert_eq!(simulation.tick(), tick);
    /// }
    /// simulation.advance(Duration::from_millis(20), |_, _| ()); // another run from here on
    /// assert!(simulation.rewind(12).is_err());
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    ///
    /// A player who rewinds sees motion that is as smooth backwards as forwards: in a pause, set the
    /// [overstep](crate::ClockSettings::set_overstep) of each frame too. With [`Stepping::Fixed`](crate::Stepping::Fixed) only, and in
    /// one thread: in a pause a `Runner` and an `Overlap` show the state itself.
    ///
    /// ```
    /// # use evenstep::rapier3d::prelude::*;
    /// # use evenstep::{Rate, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::new(Rate::hz(10)?);
    /// # simulation.physics_mut().gravity = Vector::ZERO;
    /// # simulation.set_rewind_limits(100, usize::MAX);
    /// let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0); // 1 m in each step
    /// let key = simulation.insert(body, ColliderBuilder::ball(0.5));
    /// simulation.advance(Duration::from_millis(1_000 / 4), |_, _| ());
    /// simulation.advance(Duration::from_millis(1_000 / 4), |_, _| ());
    /// assert_eq!(simulation.tick(), 5);
    ///
    /// simulation.pause();
    /// let frame_time = Duration::from_millis(7);
    /// for steps in [4.5_f32, 4.2, 3.9] {
    ///     simulation.rewind(steps as u64)?;
    ///     let period = simulation.clock().settings().rate().period();
    ///     simulation.clock_settings_mut().set_overstep(period.mul_f32(steps.fract()));
    ///     simulation.advance(frame_time, |_, _| ());
    ///     // As always, a frame shows one step ago.
    ///     let x = simulation.pose(key).unwrap().translation.x;
    ///     assert!((x - (steps - 1.0)).abs() < 1e-4);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// This also works after Rapier has panicked in a step: that step then was never made.
    ///
    /// # Errors
    /// [`RewindError::NotKept`], [`RewindError::WithinFrame`]; nothing is changed.
    pub fn rewind(&mut self, tick: u64) -> Result<(), RewindError> {
        let has_panicked = self.phase == Phase::Stepping;
        if (self.is_in_frame() || self.resimulation.is_some()) && !has_panicked {
            return Err(RewindError::WithinFrame);
        }
        let Some(saved) = self.ring.get(tick) else {
            // There already, as at the beginning of a smooth rewind.
            if tick == self.tick() && !has_panicked {
                return Ok(());
            }
            let kept = self.ring.ticks();
            return Err(RewindError::NotKept { tick, kept });
        };
        let (state, clock) = (saved.state.clone(), saved.clock.clone());
        if has_panicked {
            self.resimulation = None;
            self.phase = Phase::Outside;
            self.frame.dropped += self.clock.abort_frame();
        } else if self.ring.ticks().end <= self.tick() + 1 {
            self.ring.add(self.clock.clone(), self.state.clone());
        }
        self.clock.go_to(&clock);
        let left = self.swap_state(state);
        self.show_other(&left.pairs, false);
        self.events.clear();
        Ok(())
    }

    /// Goes back to the state before the step of `tick`, to make the steps since then again: the next ones that
    /// [`next_step`](Self::next_step) gives, before any new one. [`resimulate`](Self::resimulate) does both.
    ///
    /// It may be called within a frame too: before the game does its part in the current step, which is then taken
    /// again. If the frame ends before the present is reached, the simulation returns to the present as it was, and the
    /// kept states are discarded. Called again before that, it goes back further, or starts over.
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.set_rewind_limits(60, usize::MAX);
    /// simulation.advance(Duration::from_millis(100), |_, _| ());
    /// simulation.roll_back(4)?; // of six
    /// assert_eq!(simulation.steps_to_resimulate(), 2);
    /// simulation.begin_frame(Duration::from_millis(20));
    /// let mut ticks = Vec::new();
    /// while let Some(step) = simulation.next_step() {
    ///     ticks.push((step.tick, step.is_resimulated));
    ///     simulation.make_step();
    /// }
    /// assert_eq!(ticks, [(4, true), (5, true), (6, false)]);
    /// assert_eq!(simulation.end_frame().steps, 1);
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    ///
    /// # Errors
    /// [`RewindError::NotKept`], [`RewindError::TooManySteps`]; nothing is changed.
    ///
    /// # Panics
    /// As [`begin_frame`](Self::begin_frame).
    pub fn roll_back(&mut self, tick: u64) -> Result<(), RewindError> {
        self.check_world();
        self.catch_up();
        let present = self.clock.tick();
        // There already: at the present, or where an earlier call has led.
        if tick == self.tick() && (self.resimulation.is_none() || self.current_step().is_none()) {
            return Ok(());
        }
        let kept = self.ring.ticks();
        let kept = kept.start..kept.end.min(self.tick().saturating_add(1));
        if !kept.contains(&tick) {
            return Err(RewindError::NotKept { tick, kept });
        }
        let made = if self.is_in_frame() {
            self.frame.resimulated + self.frame.steps
        } else {
            self.resimulated_between
        };
        let steps = made + (present - tick);
        let most = self.clock.settings().most_steps();
        if steps >= most {
            return Err(RewindError::TooManySteps { steps, most });
        }
        self.notice_edits();
        self.leave_present(tick);
        Ok(())
    }

    /// Makes the steps from `tick` to the present again, with `before_step` called before each, as
    /// [`advance`](Self::advance) does. No time passes. [`event_changes`](Self::event_changes) reports how the
    /// events changed.
    ///
    /// # Errors
    /// As [`roll_back`](Self::roll_back).
    ///
    /// # Panics
    /// As [`roll_back`](Self::roll_back). A panic in `before_step` unwinds through this call, and leaves the rest of the
    /// steps to the next call of [`next_step`](Self::next_step).
    pub fn resimulate(
        &mut self,
        tick: u64,
        before_step: impl FnMut(&mut Simulation, Step),
    ) -> Result<(), RewindError> {
        match self.resimulate_with(tick, &mut BeforeStep(before_step)) {
            Ok(()) => Ok(()),
            Err(ResimulateError::Rewind(error)) => Err(error),
        }
    }

    /// [`resimulate`](Self::resimulate) with hooks before and after each step, which can fail.
    ///
    /// # Errors
    /// A [`ResimulateError`]; the present state is as it was.
    ///
    /// # Panics
    /// As [`resimulate`](Self::resimulate).
    pub fn resimulate_with<H: Hooks>(
        &mut self,
        tick: u64,
        hooks: &mut H,
    ) -> Result<(), ResimulateError<H::Error>> {
        self.roll_back(tick)?;
        while self.steps_to_resimulate() > 0
            && let Some(step) = self.next_step()
        {
            if let Err(error) = self.make_one(hooks, step) {
                self.abort_resimulation();
                return Err(ResimulateError::Hook(error));
            }
        }
        self.catch_up();
        Ok(())
    }

    /// How the events changed when steps were last made again: which are new, which are confirmed and which never
    /// happened. Available from the last of these steps until the next rollback ends.
    ///
    /// ```
    /// # use evenstep::rapier3d::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # simulation.set_rewind_limits(60, usize::MAX);
    /// # simulation.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
    /// # let ball = simulation.insert(
    /// #     RigidBodyBuilder::dynamic().translation(Vector::Y),
    /// #     ColliderBuilder::ball(0.5).active_events(ActiveEvents::COLLISION_EVENTS),
    /// # );
    /// simulation.advance(Duration::from_millis(40), |_, _| ());
    /// assert_eq!(simulation.events().len(), 1); // a sound is played
    ///
    /// // Late input: the ball was elsewhere by then.
    /// simulation.resimulate(0, |simulation, step| {
    ///     if step.tick == 0 {
    ///         simulation.teleport(ball, Pose::translation(9.0, 0.0, 0.0)).unwrap();
    ///     }
    /// })?;
    /// let changes = simulation.event_changes();
    /// assert_eq!(changes.retracted.collisions().count(), 1); // stop the sound
    /// assert!(changes.new.is_empty() && changes.confirmed.is_empty());
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    #[must_use]
    pub fn event_changes(&self) -> EventChanges<'_> {
        EventChanges::of(&self.event_changes)
    }

    /// Takes over a full state of another machine: a server's, for a client that was wrong. What frames show moves to it
    /// [smoothly](Self::set_correction). Real time, settings and the overstep stay as they are.
    ///
    /// A state of an earlier tick is best taken over after a [`roll_back`](Self::roll_back) to that tick: the steps
    /// since then are resimulated from it. A state of any other tick than the present one discards the kept states, and
    /// the simulation goes on at its tick.
    ///
    /// # Errors
    /// [`RewindError::WithinFrame`] for a state of another tick while a frame is open or steps are to be resimulated;
    /// nothing is changed.
    ///
    /// # Panics
    /// As [`begin_frame`](Self::begin_frame).
    pub fn replace_state(&mut self, state: Self) -> Result<(), RewindError> {
        self.check_world();
        let is_here = state.tick() == self.tick();
        let is_outside = self.resimulation.is_none() && self.phase == Phase::Outside;
        if !is_here && !is_outside {
            return Err(RewindError::WithinFrame);
        }
        if !is_here {
            self.ring.clear();
        }
        if is_outside {
            self.clock.go_to(state.clock());
        } else {
            // The step at hand is taken anew.
            self.phase = Phase::Between;
        }
        let left = self.swap_state(state.state);
        if self.resimulation.is_none() {
            self.show_other(&left.pairs, true);
        }
        Ok(())
    }

    /// Steps have other numbers from now on.
    pub(super) fn renumber(&mut self, tick: u64) {
        self.state.pairs.set_tick(tick);
        self.history.renumber(&self.state.pairs, tick);
        self.ring.clear();
    }
}
