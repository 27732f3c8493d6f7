//! The run of a state in the loop, and how another state replaces it.

use std::collections::BTreeMap;

use crate::events::{ChangedEvents, StepId};
use crate::key::Id;
use crate::physics::{PastEdits, Physics};
use crate::pose::{Change, Changes, GeneralSmoothing, Scope};

use super::past::Past;
use super::roll_back::{Former, Redo};
use super::simulation::Simulation;

/// What the loop knows about the state that it runs. It begins another run when it takes over an assigned state.
#[derive(Default)]
pub(super) struct Run {
    /// The epoch that the loop drew last, or `None` before it takes the state over.
    epoch: Option<u64>,
    /// Distinguishes runs for views on other threads, which continue after a rollback or a rewind.
    timeline: Id,
    /// How often ticks were renumbered.
    numbering: u64,
    pub past: Past,
    pub redo: Option<Box<Redo>>,
    pub event_changes: ChangedEvents,
    pub resimulated: u64,
}

impl Run {
    pub fn another(&self) -> Self {
        Self {
            past: self.past.clone(),
            ..Self::default()
        }
    }

    pub fn copy(&self, epoch: u64) -> Self {
        Self {
            epoch: self.epoch.map(|_| epoch),
            numbering: self.numbering,
            redo: self.redo.clone(),
            event_changes: self.event_changes.clone(),
            resimulated: self.resimulated,
            ..self.another()
        }
    }

    pub fn is_of(&self, epoch: u64) -> bool {
        self.epoch == Some(epoch)
    }

    pub fn adopt(&mut self, epoch: u64) {
        self.epoch = Some(epoch);
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

    /// Ends a rollback. The events of steps that ran again replace those of their first run.
    pub fn end_redo(&self, redo: Redo) -> Former {
        let Redo {
            mut former, ran, ..
        } = redo;
        for (tick, events) in ran {
            former.changes.events.set(self.step_id(tick), events);
        }
        former
    }
}

/// # The state that the loop knows
impl Simulation {
    pub(crate) fn knows_physics(&self) -> bool {
        self.run.is_of(self.physics.epoch.number())
    }

    /// Detects the game's changes since the last call of the loop.
    pub(crate) fn take_over_physics(&mut self) {
        self.detect_changes();
        self.pass_settings();
    }

    pub(super) fn detect_changes(&mut self) {
        if !self.knows_physics() {
            self.take_over();
            self.pass_settings();
        }
        if !self.physics.past_edits.is_empty() {
            let edits = std::mem::take(&mut self.physics.past_edits);
            let tick = self.physics.first_known_tick();
            self.run.past.apply_edits(edits, tick);
        }
    }

    fn take_over(&mut self) {
        self.run = self.run.another();
        self.adopt();
        self.physics.leave_step();
        self.physics.past_edits = PastEdits::default();
        self.jump_from(Changes::default(), 0);
        // Pending forces of the new state wait for its next step, even during a pause.
        self.physics.forces.end_frame();
        self.follow_tick();
        let dropped = self.clock.abort_handed_out();
        if let Some(open) = &mut self.open {
            open.dropped += dropped;
        }
        self.restart_report();
    }

    pub(super) fn restart_report(&mut self) {
        if let Some(open) = &mut self.open {
            (open.steps, open.tick) = (0, self.physics.tick());
        }
    }

    /// Draws an epoch, so that another loop or recorder detects a new state, and the next picture compares all bodies.
    pub(super) fn adopt(&mut self) {
        self.physics.changes.widen(Scope::All);
        self.physics.epoch = Id::default();
        self.run.adopt(self.physics.epoch.number());
        #[cfg(feature = "parallel")]
        self.physics.set_pool_if_none(self.pool.clone());
    }

    pub(super) fn replace_physics(&mut self, physics: Physics) -> Physics {
        let mut left = std::mem::replace(&mut self.physics, physics);
        if self.run.redo.is_some() {
            // The changes of the present wait in the redo queue, without what the game has asked for since.
            let changes = std::mem::take(&mut left.changes);
            self.physics.changes.list.extend(changes.into_froms());
        }
        self.adopt();
        self.pass_settings();
        left
    }

    pub(super) fn renumber(&mut self) {
        self.physics.renumber(self.clock.tick());
        self.run.past.clear();
        self.run.numbering += 1;
        self.adopt();
    }

    pub(super) fn follow_tick(&mut self) {
        (self.clock).go_to(self.physics.tick(), self.physics.exact_time());
    }

    pub(super) fn pass_settings(&mut self) {
        self.physics.set_general_smoothing(GeneralSmoothing {
            smoothing: self.smoothing,
            correction: self.correction,
        });
        self.physics.set_rate(self.clock.settings().rate());
    }
}

/// # Back in time
impl Simulation {
    /// Returns the number of steps that are still to be resimulated after a [rollback](Self::roll_back).
    #[must_use]
    pub fn steps_to_resimulate(&self) -> u64 {
        let redo = self.run.redo.as_ref().filter(|_| self.knows_physics());
        redo.map_or(0, |redo| redo.len() as u64)
    }

    /// Returns whether a rollback is unfinished.
    pub(crate) fn is_redoing(&self) -> bool {
        self.run.redo.is_some()
    }

    /// Goes back to `tick`, of which the past has a snapshot: the steps from there on are due again.
    pub(super) fn make_due_again(&mut self, tick: u64, requested: u64) {
        self.physics.resources.check_whole();
        let oldest = self.run.past.rewindable().start;
        // The current step of a frame has not run, so it is not a recorded step.
        let Some((snapshot, later)) = self.run.past.take(tick, self.clock.tick()) else {
            return;
        };
        let former = self.replace_physics(snapshot);
        let new = || Box::new(Redo::new(Former::new(former, oldest), requested));
        let redo = self.run.redo.get_or_insert_with(new);
        redo.requested = redo.requested.min(requested);
        redo.go_back(tick, later);
        self.clock.take_back_step();
        // If only the current step is begun again, no recorded step is due.
        self.end_finished_rollback();
    }

    /// Ends a rollback whose steps have all run. Frames then display the corrected motion.
    pub(super) fn end_finished_rollback(&mut self) {
        if let Some(redo) = self.run.redo.take_if(|redo| redo.len() == 0) {
            self.physics.leave_step();
            let first = redo.first_tick().unwrap_or_else(|| self.clock.tick());
            // Forces that the game added in the last of these steps wait for the next one.
            self.physics.forces.end_frame();
            // A correction may have brought another time.
            self.follow_tick();
            let former = self.run.end_redo(*redo);
            self.correct_picture(former, first);
        }
    }

    /// Drops the steps that are still to be resimulated, and leaves the physics where it is.
    pub(super) fn drop_redo(&mut self) {
        if let Some(changes) = self.end_redo() {
            self.physics.leave_step();
            self.follow_tick();
            self.jump_from(changes, self.physics.tick());
        }
    }

    /// Drops the steps that are still to be resimulated. Returns the changes before the rollback.
    pub(super) fn end_redo(&mut self) -> Option<Changes> {
        let redo = self.run.redo.take()?;
        self.abort_step();
        Some(self.run.end_redo(*redo).changes)
    }

    /// Displays this state without smoothing, with these changes, except their events from the tick `first` on.
    pub(super) fn jump_from(&mut self, mut changes: Changes, first: u64) {
        changes.events.go_back(self.run.step_id(first));
        self.physics.detect_edits();
        self.physics.continue_changes(changes, Scope::Other, []);
    }

    /// Displays a corrected state from now on, with the old pose relative to the new one as each body's visual error.
    pub(super) fn correct_picture(&mut self, mut former: Former, first: u64) {
        self.physics.detect_edits();
        // The picture of an earlier step, or one on another thread, has only the state in common.
        let is_displayed = self.frame.tick == self.physics.tick();
        let alpha = self.screen.alpha().filter(|_| is_displayed).unwrap_or(1.0);
        let shift = self.physics.origin.from(&former.origin);
        let mut cut = former.others(&self.physics.world, first);
        let cuts: Vec<_> = cut.iter().map(|key| Change::Cut(*key)).collect();
        // No picture has displayed these changes yet.
        let mut retimed = BTreeMap::new();
        former.changes.list.retain(|change| match *change {
            Change::Retimed(key, before) => {
                retimed.entry(key).or_insert(before);
                false
            }
            Change::Cut(key) => {
                cut.insert(key);
                true
            }
            _ => true,
        });
        let pairs = &self.physics.pairs;
        let differences = pairs.differences(&former.pairs, &retimed, alpha, shift);
        let differences = differences.filter(|(key, _)| !cut.contains(key));
        let differences: Vec<_> = differences.flat_map(|(_, changes)| changes).collect();
        let changes = cuts.into_iter().chain(differences);
        (self.physics).continue_changes(former.changes, Scope::All, changes);
    }
}
