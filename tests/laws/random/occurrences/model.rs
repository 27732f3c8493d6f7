//! The rules: which events the next picture displays.

use crate::random::game::log::Id;
use evenstep::Step;
use std::collections::BTreeMap;

/// The number of new steps after which a view has displayed all earlier ones.
const LATE: u32 = 3;

/// An event that was not displayed yet.
#[derive(Debug)]
struct Pending {
    id: Id,
    /// A picture with a greater tick may display it, or has to.
    earliest: u64,
    latest: u64,
}

#[derive(Default)]
pub struct Model {
    /// The events of each step in its last run.
    runs: BTreeMap<u64, Vec<Id>>,
    /// Those of the steps that were resimulated since the last rollback began.
    again: BTreeMap<u64, Vec<Id>>,
    pending: Vec<Pending>,
    /// Events that were displayed, and did not happen after all.
    retracted: Vec<Id>,
    /// Events that were not displayed before they became void, and whether a rollback retracted them. A thread that runs
    /// by itself may display them until it hears of it.
    pub void: Option<Vec<(Id, bool)>>,
    /// Whether pictures know what a rollback has retracted as soon as its steps have run.
    pub is_told: bool,
    /// Events that may be displayed or not, because a copy does not know which of them a view has displayed.
    forgotten: Vec<Id>,
    /// During how many of the next new steps a view may display the run before the simulation went back.
    late: u32,
}

impl Model {
    pub fn end_step(&mut self, step: Step, events: Vec<Id>) {
        if step.is_resimulated {
            self.again.insert(step.tick, events);
            return;
        }
        self.settle(step.tick);
        self.late = self.late.saturating_sub(1);
        self.pending.extend(events.iter().map(|id| Pending {
            id: *id,
            earliest: step.tick,
            latest: step.tick,
        }));
        self.runs.split_off(&step.tick);
        self.runs.insert(step.tick, events);
    }

    /// Ends a rollback, if there is one. The present tick is `present`.
    pub fn settle(&mut self, present: u64) {
        for (tick, mut now) in std::mem::take(&mut self.again) {
            let mut new = now.clone();
            let then = self.runs.remove(&tick).unwrap_or_default();
            for id in then {
                if let Some(at) = new.iter().position(|it| *it == id) {
                    new.remove(at);
                } else if let Some(at) = self.pending.iter().rposition(|it| it.id == id) {
                    self.pending.remove(at);
                    let void = self.void.as_mut().filter(|_| !self.is_told);
                    void.into_iter().for_each(|void| void.push((id, true)));
                } else {
                    self.retracted.push(id);
                }
            }
            for id in new {
                if let Some(at) = self.retracted.iter().position(|it| *it == id) {
                    self.retracted.remove(at);
                } else {
                    if let Some(void) = &mut self.void {
                        void.retain(|it| *it != (id, true));
                    }
                    // A view displays the correction with the next step.
                    self.pending.push(Pending {
                        id,
                        earliest: tick,
                        latest: present,
                    });
                }
            }
            now.sort_unstable();
            self.runs.insert(tick, now);
        }
    }

    /// The steps from this tick on are to be resimulated.
    pub fn roll_back(&mut self, tick: u64) {
        self.again.split_off(&tick);
    }

    /// The steps from this tick on have never run.
    pub fn go_back(&mut self, tick: u64) {
        self.late = LATE;
        self.runs.split_off(&tick);
        let gone = self.pending.extract_if(.., |event| event.id.0 >= tick);
        let gone = gone.map(|event| (event.id, false));
        match &mut self.void {
            Some(void) => void.extend(gone),
            None => drop(gone.count()),
        }
        self.retracted.retain(|id| id.0 < tick);
    }

    /// A view displays another simulation from now on.
    pub fn forget(&mut self) {
        let runs = std::mem::take(&mut self.runs);
        self.forgotten.extend(runs.values().flatten());
        self.forgotten.extend(self.pending.iter().map(|it| it.id));
        self.go_back(0);
        self.runs = runs;
    }

    /// Checks the events that a picture with this tick displays.
    pub fn display(&mut self, tick: u64, displayed: &[Id]) {
        for id in displayed {
            let is_it = |it: &Pending| it.id == *id && it.earliest < tick;
            if let Some(at) = self.pending.iter().position(is_it) {
                self.pending.remove(at);
                continue;
            }
            let void = self.void.iter().flatten().position(|(it, _)| it == id);
            let void = void
                .zip(self.void.as_mut())
                .map(|(at, void)| void.remove(at));
            match void {
                Some((_, true)) => self.retracted.push(*id),
                Some((_, false)) => (),
                None if self.forgotten.contains(id) => (),
                None => panic!(
                    "{id:?} is not to be displayed at tick {tick}: {:?}",
                    self.pending
                ),
            }
        }
        let is_of_other_run = self.void.is_some() && self.late > 0;
        let late = |event: &&Pending| event.latest < tick && !is_of_other_run;
        let late = self.pending.iter().find(late);
        assert!(late.is_none(), "{late:?} is not displayed at tick {tick}");
        assert!(displayed.is_sorted_by_key(|id| id.0));
    }
}
