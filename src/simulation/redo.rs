//! Steps that a rollback made due again.

use std::collections::{BTreeSet, VecDeque};

use crate::key::BodyKey;
use crate::physics::Physics;
use crate::pose::{Origin, Pairs, PoseLog};
use crate::step::{Birth, ChangedEvents, Event, EventChanges, SharedEvents, World, clear_events};
use crate::time::Step;

use super::past::Record;

/// The steps from the first one that is resimulated up to the present.
#[derive(Clone)]
pub(super) struct Redo {
    /// The steps as they first ran.
    steps: VecDeque<Record>,
    /// How many of them have been resimulated.
    done: usize,
    pub left: Left,
    /// The events of the frame up to the rollback.
    pub events: SharedEvents,
}

/// The displayed poses at the moment when the first rollback left the present.
#[derive(Clone)]
pub(super) struct Left {
    pub pairs: Pairs,
    pub origin: Origin,
    pub log: PoseLog,
    /// The bodies that steps which a rollback can resimulate have inserted.
    births: Vec<(BodyKey, Birth)>,
    /// Whether the pairs were those of an earlier step, and now hold only the last pose.
    pub is_resynced: bool,
}

impl Left {
    /// Leaves a state. No rollback goes back further than to the tick `oldest`.
    pub fn new(mut physics: Physics, oldest: u64) -> Self {
        physics.notice_edits();
        Self {
            births: physics.world.births_after(oldest).collect(),
            is_resynced: physics.resync_if_outdated(),
            pairs: physics.pairs,
            origin: physics.origin,
            log: physics.log,
        }
    }

    /// Returns the keys that now belong to other bodies, because the steps from the tick `first` on have inserted bodies
    /// in another order.
    pub fn others(&self, world: &World, first: u64) -> BTreeSet<BodyKey> {
        let later = self.births.iter().filter(|(_, birth)| birth.tick > first);
        let others = later.filter(|(key, birth)| world.birth(*key).is_some_and(|it| it != *birth));
        others.map(|(key, _)| *key).collect()
    }
}

impl Redo {
    pub fn new(left: Left, events: SharedEvents) -> Self {
        Self {
            steps: VecDeque::new(),
            done: 0,
            left,
            events,
        }
    }

    /// Returns the tick of the first step that became due again.
    pub fn first_tick(&self) -> Option<u64> {
        self.steps.front().map(|record| record.step.tick)
    }

    /// Returns the next step, as it first ran, or `None` once all have run.
    pub fn next(&self) -> Option<&Record> {
        self.steps.get(self.done)
    }

    pub fn step(&self) -> Option<Step> {
        let step = self.next()?.step;
        Some(Step {
            is_resimulated: true,
            ..step
        })
    }

    pub fn len(&self) -> usize {
        self.steps.len() - self.done
    }

    /// Discards the events of the frame so far, because another frame begins.
    pub fn begin_frame(&mut self) {
        clear_events(&mut self.events);
    }

    /// Records that a step has run, with the `events` so far. After the last step, returns how the events of the first
    /// run changed.
    pub fn end_step(&mut self, events: &[Event]) -> Option<ChangedEvents> {
        self.done += 1;
        if self.len() > 0 {
            return None;
        }
        let then: Vec<Event> = self
            .steps
            .iter()
            .flat_map(|step| step.events.iter().cloned())
            .collect();
        Some(EventChanges::between(&then, events))
    }

    /// Goes back to `tick`. `later` holds the steps from there on. For steps that were already resimulated, this queue
    /// has the records of their first run.
    pub fn go_back(&mut self, tick: u64, later: VecDeque<Record>) {
        let first = self.first_tick();
        let new = later.into_iter().rev();
        for step in new.filter(|step| first.is_none_or(|first| step.step.tick < first)) {
            self.steps.push_front(step);
        }
        self.skip_to(tick);
    }

    /// Continues with the step of this tick.
    pub fn skip_to(&mut self, tick: u64) {
        let before = |step: &Record| step.step.tick < tick;
        self.done = self.steps.partition_point(before);
    }
}
