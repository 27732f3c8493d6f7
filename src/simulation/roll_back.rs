//! Back in time, to resimulate the steps since then: rollback.

use crate::step::EventChanges;
use crate::time::Step;

use super::Simulation;
use super::advance::{BeforeStep, Hooks};
use super::rewind::RewindError;
use super::state::{State, StepStage};

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

/// # Rollback
///
/// See [Back in time](Self#back-in-time).
impl Simulation {
    /// Goes back to the state before the step of `tick`, to make the steps since then again: the next ones that
    /// [`next_step`](Self::next_step) gives, before any new one. [`resimulate`](Self::resimulate) does both.
    ///
    /// With an [interval](Self::set_rewind_interval) it goes back to the nearest state at or before that tick, which
    /// [`tick`](Self::tick) then is.
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
        // On the way there, from the last state before it.
        let is_ahead = self.resimulation.is_some() && self.tick() < tick && tick < present;
        if is_ahead && self.past.snapshot_tick(tick) <= self.tick() {
            return Ok(());
        }
        let kept = self.past.rewindable();
        let kept = kept.start..kept.end.min(self.tick().saturating_add(1));
        let nearest = self.past.nearest(tick);
        let Some(tick) = nearest.filter(|_| kept.contains(&tick)) else {
            return Err(RewindError::NotKept { tick, kept });
        };
        let made = if self.is_in_frame() {
            self.frame.resimulated + self.frame.steps
        } else {
            self.resimulated_between
        };
        let steps = made.saturating_add(present - tick);
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
    /// # use evenstep::rapier::prelude::*;
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
    ///         simulation.teleport(ball, Pose::from_translation(Vector::X * 9.0)).unwrap();
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
    /// since then are resimulated from it. With an [interval](Self::set_rewind_interval) first make the steps up to that
    /// tick. A state of any other tick than the present one discards the kept states and the
    /// [history](Self::set_history), and the simulation continues at its tick. A state of the present tick discards only
    /// later ones, which a [`rewind`](Self::rewind) has left.
    ///
    /// # Errors
    /// [`RewindError::WithinFrame`] for a state of another tick while a frame is open or steps are to be resimulated;
    /// nothing is changed.
    ///
    /// # Panics
    /// As [`begin_frame`](Self::begin_frame).
    pub fn replace_state(&mut self, mut state: Self) -> Result<(), RewindError> {
        self.check_world();
        state.check_world();
        self.state.resources.check_whole();
        self.catch_up();
        let is_here = state.tick() == self.tick();
        let is_outside = self.resimulation.is_none() && !self.is_in_frame;
        if !is_here && !is_outside {
            return Err(RewindError::WithinFrame);
        }
        if is_outside {
            self.clock.go_to(state.clock());
        } else if let StepStage::Before(step) = self.state.stage {
            // The step at hand is taken anew.
            self.past.abort_step(step.tick);
        }
        if let StepStage::Before(_) = std::mem::take(&mut state.state.stage) {
            // The step at hand there is taken here, and the game does its part again.
            let State { forces, world, .. } = &mut state.state;
            forces.abort_step(&mut world.physics.bodies);
        }
        let left = self.swap_state(state.state);
        if is_here {
            self.past.replace_state(&left.pairs, self.tick());
        } else {
            self.past.clear();
        }
        if self.resimulation.is_none() {
            self.show_other(left, true);
        }
        Ok(())
    }
}
