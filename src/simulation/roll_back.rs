//! Rollback: going back in time to resimulate the steps since then.

use std::collections::{BTreeSet, VecDeque};

use crate::events::{ChangedEvents, Event, EventChanges, SharedEvents};
use crate::key::BodyKey;
use crate::physics::{PastEdits, Physics, Stage};
use crate::pose::{Changes, Origin, Pairs};
use crate::step::{Birth, World};
use crate::time::{ExactTime, Step};

use super::hooks::{BeforeStep, Hooks};
use super::past::{Record, RewindError};
use super::simulation::Simulation;

/// Why [`Simulation::resimulate_with`] failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResimulateError<E> {
    /// The simulation cannot go back that far.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// A hook failed. The simulation stays where it is: before that step, or after it if `after_step` failed. The
    /// remaining steps are still due. To drop them, [`rewind`](Simulation::rewind) to the tick that [`Physics::tick`]
    /// returns.
    #[error(
        "a hook failed in a resimulated step: the remaining steps are still due; call `rewind` to drop them"
    )]
    Hook(#[source] E),
}

/// Why [`Simulation::correct`] failed: the state is of an earlier tick.
#[derive(Debug, thiserror::Error)]
#[error(
    "the state has tick {}, but the simulation is at tick {tick}: roll back to the state's tick, or assign the state",
    state.tick()
)]
pub struct CorrectError {
    /// The tick of the simulation.
    pub tick: u64,
    /// The rejected state.
    pub state: Box<Physics>,
}

/// # Rollback
///
/// See [Back in time](Self#back-in-time).
impl Simulation {
    /// Goes back to the state before the step of `tick`, to resimulate the steps since then in your own loop.
    /// [`next_step`](Self::next_step) returns these steps before any new one.
    ///
    /// With an [interval](crate::rewind::Kept::interval), it goes back to the nearest state at or before that tick, and
    /// [`Physics::tick`] returns the tick of that state. The call does nothing if the steps from `tick` on are due
    /// already: if `tick` is ahead of [`Physics::tick`], or equal to it while there is no current step. Before the
    /// present is reached, it goes back further or starts over.
    ///
    /// You may also call it within a frame, before your game's code for the current step. `next_step` then returns that
    /// step again. If the frame ends before the present is reached, or a hook fails, the remaining steps stay due.
    /// Until they have run, frames repeat the last picture, and their new steps are aborted. [`rewind`](Self::rewind)
    /// to [`Physics::tick`] drops the remaining steps and stays there.
    ///
    /// The limits of steps per frame do not apply. Compare `physics.tick() - tick` with the number of steps that a
    /// frame has time for.
    ///
    /// # Errors
    /// [`RewindError::NotKept`] if that state is not kept. Nothing is changed then.
    ///
    /// # Panics
    /// Like [`begin_frame`](Self::begin_frame), and within [`resource_scope`](Self::resource_scope).
    pub fn roll_back(&mut self, tick: u64) -> Result<(), RewindError> {
        self.take_over_physics();
        self.check_world();
        let here = self.physics.tick();
        // The steps from there on are due already.
        if tick > here || (tick == here && self.physics.current_step().is_none()) {
            return Ok(());
        }
        let kept = self.run.past.rewindable();
        let kept = kept.start..kept.end.min(here.saturating_add(1));
        let nearest = self.run.past.nearest(tick);
        let Some(nearest) = nearest.filter(|_| kept.contains(&tick)) else {
            return Err(RewindError::NotKept { tick, kept });
        };
        self.end_finished_rollback();
        if matches!(self.physics.stage, Stage::After(_)) {
            self.leave_step();
        }
        self.make_due_again(nearest, tick);
        Ok(())
    }

    /// Resimulates the steps from `tick` to the present, and calls `before_step` before each, as
    /// [`advance`](Self::advance) does. No time passes. [`event_changes`](Self::event_changes) reports how the events
    /// changed.
    ///
    /// # Errors
    /// Like [`roll_back`](Self::roll_back).
    ///
    /// # Panics
    /// Like [`roll_back`](Self::roll_back). A panic in `before_step` unwinds through this call. The next calls of
    /// [`next_step`](Self::next_step) then return the remaining steps.
    pub fn resimulate(
        &mut self,
        tick: u64,
        before_step: impl FnMut(&mut Physics, Step),
    ) -> Result<(), RewindError> {
        match self.resimulate_with(tick, &mut BeforeStep(before_step)) {
            Ok(()) => Ok(()),
            Err(ResimulateError::Rewind(error)) => Err(error),
        }
    }

    /// Resimulates like [`resimulate`](Self::resimulate), with hooks before and after each step, which can fail.
    ///
    /// # Errors
    /// [`ResimulateError::Rewind`] like [`roll_back`](Self::roll_back), and [`ResimulateError::Hook`] if a hook failed.
    ///
    /// # Panics
    /// Like [`resimulate`](Self::resimulate).
    pub fn resimulate_with<H: Hooks>(
        &mut self,
        tick: u64,
        hooks: &mut H,
    ) -> Result<(), ResimulateError<H::Error>> {
        self.roll_back(tick)?;
        self.resimulate_due(hooks).map_err(ResimulateError::Hook)
    }

    pub(crate) fn resimulate_due<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        while self.steps_to_resimulate() > 0
            && let Some(step) = self.next_step()
        {
            let result = self.run_step_with_hooks(hooks, step);
            if result.is_err() {
                self.detect_changes();
                self.abort_step();
            }
            result?;
        }
        // The hook after the last step may have replaced the state.
        self.take_over_physics();
        self.end_finished_rollback();
        Ok(())
    }

    /// Returns how the events changed in the last rollback: which are new, which are confirmed, and which did not
    /// happen after all. The result stays until the next rollback ends.
    #[must_use]
    pub fn event_changes(&self) -> EventChanges {
        EventChanges::of(&self.run.event_changes)
    }

    /// Replaces the state with another machine's state of this tick or a later one, such as the server's after a
    /// misprediction. The displayed poses [move smoothly](Self::correction) to the new state. To continue without
    /// smoothing, [assign](crate::Physics#the-state-as-a-value) the state.
    ///
    /// Call it after a [`roll_back`](Self::roll_back) to the tick of that state: the steps since then are resimulated
    /// from it. With an [interval](crate::rewind::Kept::interval), steps before that tick are skipped. In a frame,
    /// `next_step` returns the current step again. Real time, settings and the overstep do not change. Later states are
    /// discarded.
    ///
    /// If this machine has stalled and has not reached the tick of the state, `roll_back` does nothing, and the
    /// simulation goes ahead to the state, with its [`clock`](Self::clock). The [past](Self#back-in-time) ends.
    ///
    /// [Resources](Physics::resources) of types that the new state lacks are kept.
    ///
    /// # Errors
    /// [`CorrectError`] if the state is of an earlier tick. Nothing is changed then.
    ///
    /// # Panics
    /// Like [`roll_back`](Self::roll_back), and if Rapier panicked in a step of `state`.
    pub fn correct(&mut self, mut state: Physics) -> Result<(), CorrectError> {
        self.take_over_physics();
        self.check_world();
        assert!(
            state.stage != Stage::Poisoned,
            "Rapier panicked in a step of the new state"
        );
        self.physics.resources.check_whole();
        let (here, tick) = (self.physics.tick(), state.tick());
        if tick < here {
            let state = Box::new(state);
            return Err(CorrectError { tick: here, state });
        }
        self.end_finished_rollback();
        state.leave_step();
        state.past_edits = PastEdits::default();
        // Pending forces of the new state wait for its next step, even during a pause.
        state.forces.end_frame();
        self.abort_step();
        self.leave_step();
        let resources = std::mem::take(&mut self.physics.resources);
        state.resources.keep(resources);
        let is_ahead = tick > self.clock.tick();
        let former = self.replace_physics(state);
        if tick == here {
            self.run.past.replace_state(&former.pairs, tick);
        } else {
            self.run.past.clear();
        }
        if !is_ahead && let Some(redo) = &mut self.run.redo {
            redo.skip_to(tick);
            return Ok(());
        }
        let former = match self.run.redo.take() {
            Some(redo) => self.run.end_redo(*redo),
            None => Former::new(former, u64::MAX),
        };
        self.follow_tick();
        if is_ahead {
            self.restart_report();
        }
        self.correct_picture(former, u64::MAX);
        Ok(())
    }
}

/// The steps from the first one that is resimulated up to the present.
#[derive(Clone)]
pub(super) struct Redo {
    steps: VecDeque<Record>,
    done: usize,
    pub former: Former,
    /// The earliest tick to which the game has requested to go back.
    pub requested: u64,
    /// The steps that have run again, with their events, sorted by tick.
    pub ran: Vec<(u64, SharedEvents)>,
}

/// The displayed poses when the first rollback left the present.
#[derive(Clone)]
pub(super) struct Former {
    pub pairs: Pairs,
    pub origin: Origin,
    pub changes: Changes,
    /// The bodies that were inserted in steps that a rollback can resimulate.
    births: Vec<(BodyKey, Birth)>,
}

impl Former {
    pub fn new(mut physics: Physics, oldest: u64) -> Self {
        physics.detect_edits();
        Self {
            births: physics.world.births_after(oldest).collect(),
            pairs: physics.pairs,
            origin: physics.origin,
            changes: physics.changes,
        }
    }

    /// Returns the keys that belong to other bodies now, because of another order of insertions.
    pub fn others(&self, world: &World, first: u64) -> BTreeSet<BodyKey> {
        let later = self.births.iter().filter(|(_, birth)| birth.tick > first);
        let others = later.filter(|(key, birth)| world.birth(*key).is_some_and(|it| it != *birth));
        others.map(|(key, _)| *key).collect()
    }
}

impl Redo {
    pub fn new(former: Former, requested: u64) -> Self {
        Self {
            steps: VecDeque::new(),
            done: 0,
            former,
            requested,
            ran: Vec::new(),
        }
    }

    pub fn first_tick(&self) -> Option<u64> {
        self.steps.front().map(|record| record.step.tick)
    }

    /// Returns the next step as it first ran.
    fn next(&self) -> Option<&Record> {
        self.steps.get(self.done)
    }

    /// Returns the next step and its end. The step begins at the time of the state, which a correction may have
    /// changed.
    pub fn next_step(&self, physics: &Physics) -> Option<(Step, ExactTime)> {
        let Record { step, end, .. } = self.next()?;
        let end = physics.exact_time().after_step_of(*end);
        let step = Step {
            start_time: physics.time(),
            end_time: end.duration(),
            is_resimulated: true,
            ..*step
        };
        Some((step, end))
    }

    pub fn len(&self) -> usize {
        self.steps.len() - self.done
    }

    /// Ends the next step, which had these events.
    pub fn end_step(&mut self, tick: u64, events: SharedEvents) {
        self.done += 1;
        self.ran.push((tick, events));
    }

    /// Returns how the events changed in the steps that ran again.
    pub fn event_changes(&self) -> ChangedEvents {
        let (mut then, mut now) = (Vec::<Event>::new(), Vec::new());
        for (tick, events) in &self.ran {
            then.extend_from_slice(&self.steps[self.place(*tick)].events);
            now.extend_from_slice(events);
        }
        EventChanges::between(&then, &now)
    }

    /// Goes back to `tick`. Steps that were already resimulated keep the records of their first run.
    pub fn go_back(&mut self, tick: u64, later: VecDeque<Record>) {
        let first = self.first_tick();
        let new = later.into_iter().rev();
        for step in new.filter(|step| first.is_none_or(|first| step.step.tick < first)) {
            self.steps.push_front(step);
        }
        self.done = self.place(tick);
        self.ran.retain(|(ran, _)| *ran < tick);
    }

    /// Skips to the step of this tick. The events of skipped steps stay as they were.
    pub fn skip_to(&mut self, tick: u64) {
        self.done = self.place(tick);
    }

    fn place(&self, tick: u64) -> usize {
        self.steps.partition_point(|step| step.step.tick < tick)
    }
}
