//! The parts of a state that exist only while a simulation runs it.

use crate::forces::Pushed;
use crate::pose::{Change, Changes, Pairs, Scope, show_from_changes};
use crate::time::{ExactTime, Step};

use super::Physics;

/// The parts of a state that exist only while a simulation runs it. A copy of the state has none of them.
#[derive(Debug, Default)]
pub(crate) struct Running {
    /// The run of the simulation that took the state over, or `None` if none has. It tells an assigned state from the
    /// one that the loop knows.
    pub run_number: Option<u64>,
    pub stage: Stage,
    /// Whether the clock stops after the step at hand.
    pub pauses: bool,
    /// Whether the hook before the step at hand has begun and not returned.
    pub is_in_hook: bool,
    /// The forces for the step at hand.
    pub step_pushes: Vec<Pushed>,
    /// The changes that no picture has displayed yet.
    pub changes: Changes,
    pub origin_shifts: OriginShifts,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Stage {
    #[default]
    Idle,
    /// The game's code for this step is running, and Rapier has not run the step yet.
    Before(StepAtHand),
    /// The game reacts to the step, until it asks for the next one.
    After(StepAtHand),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StepAtHand {
    pub step: Step,
    pub end: ExactTime,
}

/// Shifts of the origin since the last call of the loop. The past has to know them, because they change the
/// coordinates of earlier poses.
#[derive(Clone, Debug, Default)]
pub(crate) struct OriginShifts {
    /// Whether the origin was shifted outside of a step, so that no earlier tick leads here.
    pub any_between_steps: bool,
    /// The poses before the origin was shifted in a step.
    pub poses_before_shift: Option<Box<Pairs>>,
}

impl OriginShifts {
    pub fn is_empty(&self) -> bool {
        !self.any_between_steps && self.poses_before_shift.is_none()
    }
}

impl Clone for Running {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Running {
    /// Returns a copy for a copy of the whole simulation, which continues in the same step. `clone` returns the default
    /// value, for a copy of the state alone.
    pub fn copy(&self) -> Self {
        Self {
            run_number: self.run_number,
            stage: self.stage,
            pauses: self.pauses,
            is_in_hook: self.is_in_hook,
            step_pushes: self.step_pushes.clone(),
            changes: self.changes.clone(),
            origin_shifts: self.origin_shifts.clone(),
        }
    }

    /// Returns the step that the game has received: before it runs, and then until the game asks for the next one.
    pub fn step_at_hand(&self) -> Option<&StepAtHand> {
        match &self.stage {
            Stage::Before(at_hand) | Stage::After(at_hand) => Some(at_hand),
            Stage::Idle => None,
        }
    }
}

impl Physics {
    /// Aborts a step that has not run. Returns whether there was one.
    pub(crate) fn abort_step(&mut self) -> bool {
        let has_step = self.current_step().is_some();
        if has_step {
            self.running.step_pushes.clear();
            self.targets.abort_step();
            self.running.stage = Stage::Idle;
            (self.running.pauses, self.running.is_in_hook) = (false, false);
            // Otherwise, bodies that the game inserted in the hook before the step would count as inserted after it.
            self.world.keys.date_back_insertions(self.tick);
        }
        has_step
    }

    /// Ends the time after a step in which the game reacts to it. Forces that the game has added there wait for the next
    /// step, even during a pause. Returns whether the game has requested a pause there.
    pub(crate) fn end_reaction(&mut self) -> bool {
        if !matches!(self.running.stage, Stage::After(_)) {
            return false;
        }
        self.running.stage = Stage::Idle;
        self.forces.keep_pending();
        std::mem::take(&mut self.running.pauses)
    }

    /// Takes the state out of the loop that ran it, and aborts its current step. Of the changes that no frame has
    /// displayed, only [`show_from`](Self::show_from) requests remain, because they are for the next frame of any loop.
    pub(crate) fn leave_loop(&mut self) {
        self.abort_step();
        let changes = std::mem::take(&mut self.running).changes;
        self.running
            .changes
            .list
            .extend(show_from_changes(changes.list));
    }
}

/// # For the display
impl Physics {
    /// Completes the changes that the next frame displays, in this thread or another. With `compares_all`, they include
    /// all bodies at rest, because that frame does not follow one with the earlier changes.
    pub(crate) fn complete_changes(&mut self, compares_all: bool) {
        let changes = &mut self.running.changes;
        if compares_all {
            changes.widen(Scope::All);
        }
        if changes.scope != Scope::Listed {
            // The frame compares all bodies, so it needs all that rest, and not only those that have come to rest.
            changes.resting = self.pairs.resting().collect();
        } else if !changes.removed.is_empty() {
            // A body may have come to rest in a frame that displayed nothing, and have been removed since.
            let removed = std::mem::take(&mut changes.removed);
            changes.drop_resting(&removed);
            changes.removed = removed;
        }
    }

    pub(crate) fn remove_resting_movers(&mut self) {
        self.pairs
            .remove_resting_movers(&self.world, &mut self.running.changes);
    }

    /// Continues the display of the state that this one has replaced. Its `earlier` changes, which no frame has
    /// displayed, become those of this state. Those in `list` and the `show_from` requests of this state follow. The
    /// next frame compares at least the bodies of `scope`.
    pub(crate) fn continue_changes(
        &mut self,
        earlier: Changes,
        scope: Scope,
        list: impl IntoIterator<Item = Change>,
    ) {
        // Other changes of this state are not needed, because the frame compares all bodies, and `list` has their
        // visual errors.
        let own = std::mem::replace(&mut self.running.changes, earlier);
        self.running.changes.widen(own.scope.max(scope));
        self.running.changes.list.extend(list);
        self.running
            .changes
            .list
            .extend(show_from_changes(own.list));
    }
}
