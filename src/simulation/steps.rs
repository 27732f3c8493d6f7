//! Where the next step comes from: a rollback, or time.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::events::{ChangedEvents, Event, EventChanges, SharedEvents, StepId};
use crate::physics::{Physics, StepRecord};
use crate::pose::SmoothingSettings;
use crate::time::{Clock, ExactTime, Rate, Step};

use super::old_present::OldPresent;

#[derive(Clone)]
pub(super) struct Steps {
    pub clock: Clock,
    /// An unfinished rollback. Its steps run before those of the clock.
    pub rollback: Option<Box<Rollback>>,
}

impl Steps {
    pub fn new(rate: Rate) -> Self {
        Self {
            clock: Clock::new(rate),
            rollback: None,
        }
    }

    /// Returns the next step of this state, and its end: a step of the rollback, or one of the clock if a frame is
    /// open.
    pub fn next(&self, physics: &Physics, is_frame_open: bool) -> Option<(Step, ExactTime)> {
        // After a panic of Rapier, no step can run.
        if physics.is_poisoned {
            return None;
        }
        match &self.rollback {
            Some(rollback) => rollback.next_rerun(physics),
            None if is_frame_open => self.clock.peek_with_end(),
            None => None,
        }
    }

    /// Returns the rate of the next step. A resimulated step has the rate of its first run, and a step of an open frame
    /// the rate at the beginning of the frame, even if the settings have changed since.
    pub fn next_rate(&self, is_frame_open: bool) -> Rate {
        let next = match &self.rollback {
            Some(rollback) => rollback.next_rate(),
            None if is_frame_open => self.clock.due_rate(),
            None => None,
        };
        // If no step is due, the next one is planned with the settings.
        next.unwrap_or(self.clock.settings().rate())
    }

    /// Returns the earliest tick to which the game has requested to go back in an unfinished rollback.
    pub fn requested(&self) -> Option<u64> {
        self.rollback.as_ref().map(|rollback| rollback.requested)
    }

    /// Notes that the game has received the next step. If it then assigns another state, the clock drops the step.
    pub fn hand_out(&mut self) {
        if self.rollback.is_none() {
            self.clock.set_handed_out(true);
        }
    }
}

/// The steps to run again: those from the first one that is resimulated up to the present.
#[derive(Clone)]
pub(super) struct Rollback {
    /// The results of the steps in their first run.
    records: VecDeque<StepRecord>,
    /// How many of these steps have run again.
    rerun_count: usize,
    pub old_present: OldPresent,
    /// The earliest tick to which the game has requested to go back.
    pub requested: u64,
    /// The settings of single bodies in the state to which it went back.
    pub restored_smoothing: Arc<SmoothingSettings>,
    /// The steps that have run again, with their events, sorted by tick.
    reruns: Vec<(u64, SharedEvents)>,
}

impl Rollback {
    /// Creates a rollback without steps. [`go_back`](Self::go_back) adds them. Its caller sets `restored_smoothing`.
    pub fn new(old_present: OldPresent, requested: u64) -> Self {
        Self {
            records: VecDeque::new(),
            rerun_count: 0,
            old_present,
            requested,
            restored_smoothing: Arc::default(),
            reruns: Vec::new(),
        }
    }

    pub fn first_tick(&self) -> Option<u64> {
        self.records.front().map(|record| record.step.tick)
    }

    /// Returns the number of steps that are still to run again.
    pub fn remaining(&self) -> usize {
        self.records.len() - self.rerun_count
    }

    /// Returns the next step and its end. The step is as long as in its first run, and begins at the time of the state,
    /// which a correction may have changed.
    fn next_rerun(&self, physics: &Physics) -> Option<(Step, ExactTime)> {
        let StepRecord { step, end, .. } = self.records.get(self.rerun_count)?;
        let end = physics.exact_time().after_step_of(*end);
        let step = Step {
            start_time: physics.time(),
            end_time: end.duration(),
            is_resimulated: true,
            ..*step
        };
        Some((step, end))
    }

    /// Returns the smoothing settings of single bodies that this machine has made. A correction keeps them, because the
    /// state of another machine lacks them.
    ///
    /// Going back has undone the settings that the game made since the restored state, so they come from the old
    /// present. But a setting that a resimulated step has made is newer, and a body that the old present lacked has no
    /// other one. These come from `physics`.
    pub fn own_smoothing(&self, physics: &Physics) -> Arc<SmoothingSettings> {
        let (old, now) = (&self.old_present, &physics.smoothing);
        let keys: BTreeSet<_> = now.keys().chain(old.smoothing.keys()).collect();
        let mut own = Arc::clone(now);
        for key in keys {
            let is_as_restored = now.body(key) == self.restored_smoothing.body(key);
            if is_as_restored && old.has(key, &physics.world) {
                Arc::make_mut(&mut own).set_body(key, old.smoothing.body(key));
            }
        }
        own
    }

    fn next_rate(&self) -> Option<Rate> {
        self.records.get(self.rerun_count).map(|it| it.end.rate())
    }

    pub fn end_step(&mut self, record: StepRecord) {
        self.rerun_count += 1;
        self.reruns.push((record.step.tick, record.events));
    }

    /// Returns how the events changed in the steps that ran again.
    pub fn event_changes(&self) -> ChangedEvents {
        let (mut first_run, mut rerun) = (Vec::<Event>::new(), Vec::new());
        for (tick, events) in &self.reruns {
            first_run.extend_from_slice(&self.records[self.index_of(*tick)].events);
            rerun.extend_from_slice(events);
        }
        EventChanges::between(&first_run, &rerun)
    }

    /// Lets all steps from `tick` on run again. `records` are their results when they last ran. A step that this
    /// rollback already holds keeps the record of its first run.
    pub fn go_back(&mut self, tick: u64, records: VecDeque<StepRecord>) {
        let first = self.first_tick();
        let new = records.into_iter().rev();
        for record in new.filter(|it| first.is_none_or(|first| it.step.tick < first)) {
            self.records.push_front(record);
        }
        self.rerun_count = self.index_of(tick);
        self.forget_reruns_from(tick);
    }

    /// Forgets that the steps from `tick` on have run again.
    pub fn forget_reruns_from(&mut self, tick: u64) {
        self.reruns.retain(|(ran, _)| *ran < tick);
    }

    /// Ends the rollback, and returns the old present with its changes. In these, the events of resimulated steps
    /// replace the events of their first run.
    pub fn end(self, step_id: impl Fn(u64) -> StepId) -> OldPresent {
        let Self {
            mut old_present,
            reruns,
            ..
        } = self;
        for (tick, events) in reruns {
            old_present.changes.events.set(step_id(tick), events);
        }
        old_present
    }

    fn index_of(&self, tick: u64) -> usize {
        (self.records).partition_point(|record| record.step.tick < tick)
    }
}
