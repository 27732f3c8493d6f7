//! Rollback: going back in time to resimulate the steps since then.

use std::sync::Arc;

use crate::events::EventChanges;
use crate::physics::Physics;
use crate::time::Step;

use super::hooks::{BeforeStep, Hooks};
use super::old_present::OldPresent;
use super::past::RewindError;
use super::simulation::Simulation;
use super::steps::Rollback;

/// A tick that no step reaches.
const NEVER: u64 = u64::MAX;

/// Why [`Simulation::resimulate_with`] failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResimulateError<E> {
    /// The simulation cannot go back that far.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// A hook failed. The remaining steps [stay due](Simulation::roll_back).
    #[error(
        "a hook failed in a resimulated step: the remaining steps are still due; call `rewind` to drop them"
    )]
    Hook(#[source] E),
}

/// Why [`Simulation::correct`] failed: the state is of an earlier tick, or of one that an unfinished rollback has not
/// reached. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[error(
    "the state has tick {}, but the simulation is at tick {tick}: {}",
    state.tick(),
    if state.tick() < *tick {
        "roll back to the state's tick, or assign the state"
    } else {
        "resimulate the steps up to the state's tick first"
    }
)]
pub struct CorrectError {
    /// The tick of the simulation.
    pub tick: u64,
    /// The rejected state.
    pub state: Box<Physics>,
}

/// # Rollback
impl Simulation {
    /// Goes back to the state before the step of `tick`, or an earlier kept one after [`confirm`](Self::confirm) or
    /// with an [interval](crate::rewind::Kept::interval), to resimulate the steps since then in your own loop.
    /// [`next_step`](Self::next_step) returns these steps before any new one.
    ///
    /// The call does nothing if the steps from `tick` on are due already. Before the present is reached, it goes back
    /// further or starts over.
    ///
    /// Within a frame, call it before your game's code for the current step, which `next_step` then returns again. If
    /// the frame ends before the present is reached, or a hook fails, the remaining steps stay due, frames repeat the
    /// last picture, and their new steps are aborted. [`rewind`](Self::rewind) to [`Physics::tick`] drops the remaining
    /// steps. The limits of steps per frame do not apply.
    ///
    /// # Errors
    /// [`RewindError::NotKept`]
    ///
    /// # Panics
    /// If Rapier [panicked](Self#after-a-panic-of-rapier), and within [`resource_scope`](Self::resource_scope).
    #[doc(alias = "rollback")]
    pub fn roll_back(&mut self, tick: u64) -> Result<(), RewindError> {
        self.take_over();
        self.check_world();
        let here = self.physics.tick();
        // No step from that tick on has run.
        if tick > here || (tick == here && self.physics.current_step().is_none()) {
            return Ok(());
        }
        let kept = self.run.past.rewindable();
        // Later states, which a rewind has left, are no goal of a rollback.
        let kept = kept.start..kept.end.min(here.saturating_add(1));
        let nearest = match self.run.past.nearest(tick) {
            Some(nearest) if kept.contains(&tick) => nearest,
            _ => return Err(RewindError::NotKept { tick, kept }),
        };
        // `finish_last_step` is called only now, because an error must change nothing.
        self.finish_last_step();
        self.make_due_again(nearest, tick);
        Ok(())
    }

    /// Resimulates the steps from where [`roll_back`](Self::roll_back) goes to the present, and calls `before_step`
    /// before each. No time passes.
    ///
    /// # Errors
    /// Like [`roll_back`](Self::roll_back).
    ///
    /// # Panics
    /// Like [`roll_back`](Self::roll_back), and if Rapier panics. After a panic in `before_step`,
    /// [`next_step`](Self::next_step) returns the remaining steps.
    #[doc(alias = "rollback")]
    pub fn resimulate(
        &mut self,
        tick: u64,
        before_step: impl FnMut(&mut Physics, Step),
    ) -> Result<(), RewindError> {
        match self.resimulate_with(tick, &mut BeforeStep(before_step)) {
            Ok(()) => Ok(()),
            // The hook is a closure, which cannot fail.
            Err(ResimulateError::Rewind(error)) => Err(error),
        }
    }

    /// Resimulates like [`resimulate`](Self::resimulate), with hooks before and after each step, which can fail.
    ///
    /// # Errors
    /// [`ResimulateError`]
    ///
    /// # Panics
    /// Like [`resimulate`](Self::resimulate).
    pub fn resimulate_with<H: Hooks + ?Sized>(
        &mut self,
        tick: u64,
        hooks: &mut H,
    ) -> Result<(), ResimulateError<H::Error>> {
        self.roll_back(tick)?;
        self.resimulate_due(hooks).map_err(ResimulateError::Hook)
    }

    /// Runs the steps that are still to be resimulated. If a hook fails, the steps that have not run stay due. They
    /// begin with the step of a failed `before_step`.
    pub(crate) fn resimulate_due<H: Hooks + ?Sized>(
        &mut self,
        hooks: &mut H,
    ) -> Result<(), H::Error> {
        if self.steps_to_resimulate() > 0 {
            // The game may have received the first of these steps in its own loop. The step begins again.
            self.abort_step();
        }
        while self.steps_to_resimulate() > 0
            && let Some(step) = self.next_step()
        {
            let result = self.run_step_with_hooks(hooks, step);
            if result.is_err() {
                // The hook may have replaced the state before it failed.
                self.take_over_state();
                self.abort_step();
                // If `after_step` of the last step failed, all steps have run, and this ends the rollback.
                self.finish_last_step();
                return result;
            }
        }
        // All steps have run, so this ends the rollback. If a hook has replaced the state, there is none any more.
        self.finish_last_step();
        Ok(())
    }

    /// Returns the number of steps that are still to be resimulated after a [rollback](Self::roll_back).
    #[must_use]
    pub fn steps_to_resimulate(&self) -> u64 {
        let rollback = self.steps.rollback.as_ref();
        let rollback = rollback.filter(|_| self.knows_physics());
        rollback.map_or(0, |rollback| rollback.remaining() as u64)
    }

    /// Returns how the events changed in the last rollback, until the next one ends or another state is assigned.
    #[must_use]
    pub fn event_changes(&self) -> EventChanges {
        EventChanges::of(&self.run.event_changes)
    }

    /// Replaces the state with another machine's state of this tick or a later one, such as the server's after a
    /// misprediction. The displayed poses [move smoothly](Self::correction) to the new state.
    ///
    /// Call it after a [`roll_back`](Self::roll_back) to the tick of that state: the steps since then are resimulated
    /// from it. With an [interval](crate::rewind::Kept::interval), `roll_back` may go to an earlier tick:
    ///
    /// ```
    /// # use evenstep::{Simulation, rewind::Kept};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # simulation.keep(Kept { ticks: 60, interval: 4, ..Kept::default() });
    /// # let mut server = simulation.clone();
    /// # for _ in 0..9 { simulation.advance(Duration::from_millis(17), |_, _| ()); }
    /// # for _ in 0..6 { server.advance(Duration::from_millis(17), |_, _| ()); }
    /// # let state = server.physics.clone();
    /// # let before_step = |_: &mut evenstep::Physics, _| ();
    /// simulation.roll_back(state.tick())?;
    /// while simulation.physics.tick() < state.tick() && let Some(step) = simulation.next_step() {
    ///     before_step(&mut simulation.physics, step);
    ///     simulation.run_step();
    /// }
    /// simulation.correct(state)?;
    /// simulation.resimulate(simulation.physics.tick(), before_step)?;
    /// # assert_eq!(simulation.physics.tick(), 9);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Other kept states are discarded, and no rollback goes back to before this one. If this machine has not reached
    /// the tick of the state, the simulation goes ahead to it, with its [`clock`](Self::clock), and a view on another
    /// thread skips the time until then. Otherwise, real time and overstep do not change.
    ///
    /// What another machine does not know stays: the [smoothing](Physics::set_body_smoothing) and the
    /// [correction](Physics::set_body_correction) of single bodies, and [resources](Physics::resources) of types that
    /// the new state lacks.
    ///
    /// # Errors
    /// [`CorrectError`]
    ///
    /// # Panics
    /// Like [`roll_back`](Self::roll_back), and if Rapier panicked in a step of `state`.
    #[doc(alias("reconcile", "server_state"))]
    pub fn correct(&mut self, mut state: Physics) -> Result<(), CorrectError> {
        self.take_over();
        self.check_world();
        assert!(
            !state.is_poisoned,
            "Rapier panicked in a step of the new state"
        );
        // A value in `resource_scope` could not return to the state that is replaced here.
        self.physics.resources.assert_no_scope();
        let (own_tick, tick) = (self.physics.tick(), state.tick());
        // In a rollback, the clock stays at the present, and this machine's state is earlier.
        let is_ahead = tick > self.steps.clock.tick();
        if tick != own_tick && !is_ahead {
            let state = Box::new(state);
            return Err(CorrectError {
                tick: own_tick,
                state,
            });
        }
        self.finish_last_step();
        self.abort_step();
        // The state may come from the middle of another simulation's loop.
        state.leave_loop();
        // This machine has never had the poses before the edits of this state, so these count as part of its last step.
        state.detect_edits();
        state.pairs.forget_paths_before_edits();
        let own_smoothing = match &self.steps.rollback {
            Some(rollback) => rollback.own_smoothing(&self.physics),
            None => Arc::clone(&self.physics.smoothing),
        };
        state.keep_own_parts(&mut self.physics, &own_smoothing);
        // Pending forces of the new state wait for its next step, even during a pause.
        state.forces.keep_pending();
        let old = self.replace_physics(state);
        if is_ahead {
            self.run.past.clear();
        } else {
            self.run.past.replace_state(&old.pairs, tick);
        }
        if !is_ahead && let Some(rollback) = &mut self.steps.rollback {
            // No rollback can go back further than to this state now.
            rollback.requested = tick;
            // The end of the rollback corrects the picture, once the other steps have run.
            return Ok(());
        }
        // A state that is ahead ends a rollback, because it is later than all steps to be resimulated.
        let old_present = match self.take_rollback(tick) {
            Some(old_present) => old_present,
            None => OldPresent::new(old, NEVER),
        };
        self.follow_tick();
        // If this has ended a rollback, the next step has the rate of the clock again.
        self.pass_settings();
        if is_ahead {
            // The steps that the frame has reported do not lead to this state.
            self.restart_report();
        }
        // The new state has the same bodies under the same keys: no resimulated step has inserted others.
        self.correct_picture(old_present, NEVER);
        Ok(())
    }
}

/// # The steps of a rollback
impl Simulation {
    /// Returns whether a rollback is unfinished.
    pub(crate) fn is_rolling_back(&self) -> bool {
        self.steps.rollback.is_some()
    }

    /// Goes back to `snapshot_tick`, of which the past has a snapshot: the steps from there on are due again.
    /// `requested` is the tick to which the game wants to go back, which may be later.
    fn make_due_again(&mut self, snapshot_tick: u64, requested: u64) {
        // A value in `resource_scope` could not return to the state that is replaced here.
        self.physics.resources.assert_no_scope();
        // The oldest tick is read first, because `take_steps` may empty the past.
        let oldest = self.run.past.rewindable().start;
        // Within a rollback, the present of the clock is later than the state.
        let present = self.steps.clock.tick();
        let taken = self.run.past.take_steps(snapshot_tick, present);
        let (snapshot, step_records) = taken.expect("the past has a snapshot of this tick");
        let restored_smoothing = Arc::clone(&snapshot.smoothing);
        // Within a rollback, `replace_physics` keeps changes of the resimulated steps. So a new rollback begins only
        // below.
        let old = self.replace_physics(snapshot);
        let new = || Box::new(Rollback::new(OldPresent::new(old, oldest), requested));
        // A rollback in a rollback keeps the first old present, from which the displayed poses then continue.
        let rollback = self.steps.rollback.get_or_insert_with(new);
        rollback.requested = rollback.requested.min(requested);
        // A correction finds with these which settings the resimulated steps have changed.
        rollback.restored_smoothing = restored_smoothing;
        rollback.go_back(snapshot_tick, step_records);
        // The game may have received the clock's current step, and gets it again after the resimulated ones.
        self.steps.clock.set_handed_out(false);
        // A resimulated step has the rate of its first run.
        self.pass_settings();
        // If only the current step begins again, no recorded step is due, and the rollback ends at once.
        self.end_rollback_if_complete();
    }

    /// Ends the rollback if all of its steps have run. The displayed poses then move smoothly to the new motion.
    pub(super) fn end_rollback_if_complete(&mut self) {
        let rollback = self.steps.rollback.as_ref();
        let Some(rollback) = rollback.filter(|it| it.remaining() == 0) else {
            return;
        };
        // A rollback that only begins the current step again has no recorded steps.
        let first_tick = rollback.first_tick();
        let first_tick = first_tick.unwrap_or_else(|| self.steps.clock.tick());
        if let Some(old_present) = self.leave_rollback() {
            self.correct_picture(old_present, first_tick);
        }
    }

    /// Drops the steps that are still to be resimulated, and leaves the physics where it is.
    pub(super) fn abandon_rollback(&mut self) {
        if let Some(old_present) = self.leave_rollback() {
            self.jump_from(old_present.changes, self.physics.tick());
        }
    }

    /// Ends the rollback, if there is one, and stays at the state that it has reached. Returns the present before it. A
    /// finished rollback then corrects the picture, and an abandoned one lets it jump.
    fn leave_rollback(&mut self) -> Option<OldPresent> {
        let old_present = self.take_rollback(NEVER)?;
        self.abort_step();
        // The result, a request to pause after this step, is ignored, because the clock is already past it.
        self.physics.end_reaction();
        // The clock takes over the tick and the time of this state. A correction may have brought another time.
        self.follow_tick();
        // The next step comes from the clock again, which may have another rate.
        self.pass_settings();
        Some(old_present)
    }

    /// Ends the rollback, if there is one. If it is unfinished, its resimulated steps from the tick `end` on do not
    /// count, because the simulation goes to that tick. Returns the present before the rollback.
    pub(super) fn take_rollback(&mut self, end: u64) -> Option<OldPresent> {
        let mut rollback = self.steps.rollback.take()?;
        // `record_step` compares the events after the last step. So they are compared here if that step has not run, or
        // if the rollback has no steps, because it only begins the current one again.
        if rollback.remaining() > 0 || rollback.first_tick().is_none() {
            rollback.forget_reruns_from(end);
            self.run.event_changes = rollback.event_changes();
        }
        Some(rollback.end(|tick| self.run.step_id(tick)))
    }
}
