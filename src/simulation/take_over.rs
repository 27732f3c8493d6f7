//! Whose state it is: the loop recognises the one that it runs, and takes any other over.

use crate::events::{ChangedEvents, StepId};
use crate::key::Id;
use crate::physics::{Physics, Stage};
use crate::pose::{Changes, GeneralSmoothing, Scope, show_from_changes};

use super::past::Past;
use super::report::Frame;
use super::simulation::Simulation;

/// The loop's knowledge of the state that it runs. Another `Run` begins when the game assigns another state.
#[derive(Default)]
pub(super) struct Run {
    /// Identifies the state. A rollback, a rewind or a correction changes it, too.
    state_id: Id,
    /// Distinguishes runs for views on other threads, which continue after a rollback or a rewind.
    timeline: Id,
    /// How often ticks were renumbered.
    numbering: u64,
    pub past: Past,
    pub event_changes: ChangedEvents,
    /// The number of steps resimulated since the last frame.
    pub resimulated: u64,
    /// The report of a frame that a panic left open, for the next one to continue.
    pub interrupted: Option<Frame>,
}

impl Run {
    /// Returns what the loop knows of another state at first. The limits of the kept states stay.
    fn another(&self) -> Self {
        Self {
            // A clone of the past has its limits and no states.
            past: self.past.clone(),
            // The next frame reports the steps that ran before it, also those of the earlier run.
            resimulated: self.resimulated,
            interrupted: self.interrupted,
            ..Self::default()
        }
    }

    /// Returns what the loop of a copied simulation knows of its state. The kept states are not copied.
    pub fn copy(&self) -> Self {
        Self {
            // The events that the copied state has not displayed yet have step ids of this numbering.
            numbering: self.numbering,
            event_changes: self.event_changes.clone(),
            ..self.another()
        }
    }

    pub fn number(&self) -> u64 {
        self.state_id.number()
    }

    pub fn timeline(&self) -> u64 {
        self.timeline.number()
    }

    pub fn begin_timeline(&mut self) {
        self.timeline = Id::default();
    }

    pub fn step_id(&self, tick: u64) -> StepId {
        (self.numbering, tick)
    }
}

/// # The state that the loop knows
impl Simulation {
    pub(crate) fn knows_physics(&self) -> bool {
        self.physics.running.run_number == Some(self.run.number())
    }

    /// Takes over what the game has changed since the last call of the loop: the state, the origin, the settings. In
    /// most calls that is nothing.
    pub(crate) fn take_over(&mut self) {
        self.take_over_state();
        self.pass_settings();
    }

    /// Takes over a state that the game has assigned, and its shifts of the origin. Unlike `take_over`, it leaves out
    /// changed settings, which wait for the end of a step.
    pub(super) fn take_over_state(&mut self) {
        if !self.knows_physics() {
            self.take_over_assigned();
        }
        // Poses have the new origin from the end of the step on, so a shift in the current step waits until the step
        // runs or is aborted.
        if self.physics.current_step().is_none() {
            self.pass_shifts_to_past();
        }
    }

    /// Passes the game's shifts of the origin to the past, whose poses before them have other coordinates.
    pub(super) fn pass_shifts_to_past(&mut self) {
        if !self.physics.running.origin_shifts.is_empty() {
            let shifts = std::mem::take(&mut self.physics.running.origin_shifts);
            let tick = self.physics.first_tick_after_edit();
            self.run.past.apply_shifts(shifts, tick);
        }
    }

    /// Takes over a state that the game has assigned. The next picture jumps to it, and a step that the game has
    /// received is dropped.
    fn take_over_assigned(&mut self) {
        // A hook may have requested a pause on the state that it has assigned. `leave_loop` forgets the request.
        let is_pause_requested = self.physics.running.pauses;
        self.run = self.run.another();
        self.steps.rollback = None;
        self.physics.leave_loop();
        self.mark_as_known();
        self.screen.begin_at(self.physics.origin);
        // The settings come before the jump, which then also ends the visual errors of a changed smoothing.
        self.pass_settings();
        self.jump_from(Changes::default(), 0);
        // Pending forces of the new state wait for its next step, even during a pause.
        self.physics.forces.keep_pending();
        self.follow_tick();
        let dropped = self.steps.clock.abort_handed_out();
        if let Some(open) = &mut self.open_report {
            open.dropped += dropped;
            if is_pause_requested {
                open.dropped += self.steps.clock.pause_and_postpone();
            }
        }
        // The steps that the frame has reported do not lead to this state.
        self.restart_report();
        // Dropping a step or pausing may have changed the rate of the next step.
        self.pass_settings();
    }

    /// Makes the state the one that the loop knows. The next picture compares all bodies, because any may have changed.
    pub(super) fn mark_as_known(&mut self) {
        // Each default id is unique. A recorder detects another state by its id.
        self.run.state_id = Id::default();
        self.physics.running.run_number = Some(self.run.number());
        self.physics.running.changes.widen(Scope::All);
        // A copied or loaded state has no thread pool.
        #[cfg(feature = "parallel")]
        self.physics.set_pool_if_none(self.pool.clone());
    }

    /// Replaces the state with one that the loop then knows. Returns the old one.
    pub(super) fn replace_physics(&mut self, physics: Physics) -> Physics {
        let mut old = std::mem::replace(&mut self.physics, physics);
        if self.steps.rollback.is_some() {
            // The state is replaced again within a rollback. The changes up to the old present are in the rollback, and
            // `old` has those of the resimulated steps. Of these, only the teleports up to the new state and the game's
            // `show_from` requests remain. Undone teleports are removed first, so that they cancel or move no request.
            let mut changes = std::mem::take(&mut old.running.changes).list;
            let tick = self.physics.tick();
            changes.retain(|it| it.teleport().is_none_or(|(_, at)| at <= tick));
            let mut list: Vec<_> = changes
                .iter()
                .filter(|it| it.teleport().is_some())
                .copied()
                .collect();
            list.extend(show_from_changes(changes));
            // Requests that the new state brings are later.
            list.append(&mut self.physics.running.changes.list);
            self.physics.running.changes.list = list;
        }
        self.mark_as_known();
        self.pass_settings();
        old
    }

    /// Gives the state the tick of the clock, after a call of `set_tick`. Kept states have ticks of the old numbering,
    /// so the simulation cannot go back to them.
    pub(super) fn renumber(&mut self) {
        self.physics.renumber(self.steps.clock.tick());
        self.run.past.clear();
        // An earlier step may have the same tick. The numbering tells their events apart.
        self.run.numbering += 1;
        // Recorders detect a renumbered state, like another one, by its new id.
        self.mark_as_known();
    }

    pub(super) fn follow_tick(&mut self) {
        (self.steps.clock).go_to(self.physics.tick(), self.physics.exact_time());
    }

    /// Passes the settings of the simulation to the state: smoothing, correction, and the rate of the next step, which
    /// `Physics::preview` uses. In a step, the rate stays that of the step.
    pub(super) fn pass_settings(&mut self) {
        let general = GeneralSmoothing {
            smoothing: self.smoothing,
            correction: self.correction,
        };
        if self.physics.smoothing_settings().general != general {
            self.physics.set_general_smoothing(general);
        }
        if self.physics.running.stage == Stage::Idle {
            let rate = self.steps.next_rate(self.open_report.is_some());
            self.physics.set_rate(rate);
        }
    }

    /// Lets the next picture jump to this state. `changes` are the changes of the replaced state that no picture has
    /// displayed. Their events from the tick `first` on have not happened.
    pub(super) fn jump_from(&mut self, mut changes: Changes, first: u64) {
        changes.events.go_back(self.run.step_id(first));
        self.physics.detect_edits();
        self.physics.continue_changes(changes, Scope::Unrelated, []);
    }
}
