//! Steps that are resimulated after a rollback: the present waits until they have caught up with it.

use std::collections::VecDeque;

use crate::pose::{ErrorChange, Screen};
use crate::step::{ChangedEvents, Event, EventChanges, replace_events};
use crate::time::{Clock, Step};

use super::Simulation;
use super::past::Entry;
use super::state::{State, StepStage};

#[derive(Clone)]
pub(super) struct Resimulation {
    /// The state that was left, which frames show until it is caught up with.
    present: State,
    /// Events of the frame until the rollback.
    pub events: Vec<Event>,
    /// Each as it was made first.
    steps: VecDeque<Entry>,
    /// How many of them have been resimulated.
    done: usize,
}

impl Resimulation {
    /// The clock before the next step; `None` once all are made.
    pub fn clock(&self) -> Option<&Clock> {
        self.steps.get(self.done).map(Entry::clock)
    }

    pub fn step(&self) -> Option<Step> {
        let step = self.clock()?.peek()?;
        Some(Step {
            is_resimulated: true,
            ..step
        })
    }

    pub fn left(&self) -> usize {
        self.steps.len() - self.done
    }

    /// A step was made, with these `events` so far. After the last one, gives what became of the
    /// events of the earlier run.
    pub fn end_step(&mut self, events: &[Event]) -> Option<ChangedEvents> {
        self.done += 1;
        if self.left() > 0 {
            return None;
        }
        let then = self.steps.iter().flat_map(|step| step.events().to_vec());
        Some(EventChanges::between(then.collect(), events))
    }

    /// The tick of the first step; `None` before there is one.
    fn first(&self) -> Option<u64> {
        self.steps.front().map(Entry::tick)
    }

    /// Goes back to `tick`. `later` are the steps from there on, of which those that were resimulated already are
    /// known here as they were made first.
    fn go_back(&mut self, tick: u64, later: VecDeque<Entry>) {
        let known = self.first().unwrap_or(u64::MAX);
        let new = later.into_iter().rev();
        for step in new.filter(|step| step.tick() < known) {
            self.steps.push_front(step);
        }
        let done = tick - self.first().unwrap_or(tick);
        self.done = usize::try_from(done).unwrap_or(usize::MAX);
    }
}

impl Simulation {
    /// How many steps are still to be resimulated after a [rollback](Self::roll_back), before
    /// [`next_step`](Self::next_step) returns a new one. The rollback ends with the call of it after the last of them.
    #[must_use]
    pub fn steps_to_resimulate(&self) -> u64 {
        self.resimulation
            .as_ref()
            .map_or(0, |again| again.left() as u64)
    }

    /// Goes back to `tick`, of which the past has a snapshot, to resimulate the steps from there on.
    pub(super) fn leave_present(&mut self, tick: u64) {
        self.state.resources.check_whole();
        // The step at hand of a frame is none that was made.
        let Some((state, later)) = self.past.take(tick, self.clock.tick()) else {
            return;
        };
        let present = self.swap_state(state);
        if self.resimulation.is_some() {
            // Steps before `tick` were resimulated already, and stay so.
            replace_events(&mut self.events, tick..u64::MAX, Vec::new());
        }
        let again = self.resimulation.get_or_insert_with(|| {
            Box::new(Resimulation {
                present,
                events: std::mem::take(&mut self.events),
                steps: VecDeque::new(),
                done: 0,
            })
        });
        again.go_back(tick, later);
    }

    /// The state of the present, also while steps are resimulated.
    pub(super) fn present_mut(&mut self) -> &mut State {
        let again = self.resimulation.as_mut();
        again.map_or(&mut self.state, |again| &mut again.present)
    }

    /// Once all steps are resimulated: goes on in the present, as they have changed it.
    pub(super) fn catch_up(&mut self) {
        if let Some(again) = self.resimulation.take_if(|again| again.left() == 0) {
            let of_frame =
                self.frame.ticks().start.max(again.first().unwrap_or(0))..self.clock.tick();
            let events = std::mem::replace(&mut self.events, again.events);
            self.state.stage = match again.present.stage {
                // The step at hand is taken anew.
                StepStage::Before(_) => StepStage::Idle,
                stage => stage,
            };
            self.show_other(again.present, true);
            replace_events(&mut self.events, of_frame, events);
        }
    }

    /// If steps are still to be resimulated: goes on in the present as it was. Gives whether there were any.
    pub(crate) fn abort_resimulation(&mut self) -> bool {
        if self.resimulation.is_some() {
            self.state.resources.check_whole();
        }
        let Some(again) = self.resimulation.take() else {
            return false;
        };
        self.swap_state(again.present);
        if !self.is_in_frame {
            // They are none of the present's.
            self.resimulated_between = 0;
        }
        self.events = again.events;
        self.past.put_back(again.steps);
        true
    }

    /// Puts another state in the place of the one there is, which it gives.
    pub(super) fn swap_state(&mut self, state: State) -> State {
        let left = std::mem::replace(&mut self.state, state);
        // The pool is Rapier's pipeline's, of which a copy of the world has a fresh one.
        #[cfg(feature = "parallel")]
        (self.state.world.physics).set_thread_pool(left.world.physics.thread_pool());
        if !self.smoothing.is_plain() {
            self.state.pairs.doubt_all();
        }
        left
    }

    /// Frames show this state from now on, where they have shown `left`.
    pub(super) fn show_other(&mut self, mut left: State, is_smooth: bool) {
        self.notice_edits();
        let tick = self.clock.tick();
        let is_outdated = self.state.pairs.resync_if_outdated(&self.state.world, tick);
        // Between two steps of a frame, of which the earlier ones are not shown, only the last states are of one time.
        let are_apart =
            self.is_in_frame() && (left.pairs.resync_if_outdated(&left.world, tick) || is_outdated);
        let log = std::mem::take(&mut left.log);
        if !is_smooth {
            return self.state.continue_log(log, [ErrorChange::ClearAll]);
        }
        let shown = self.screen.as_ref().map_or(0.0, Screen::alpha);
        let alpha = if are_apart { 1.0 } else { shown };
        let shift = self.state.origin.from(&left.origin);
        let differences = self.state.pairs.differences(&left.pairs, alpha, shift);
        let differences: Vec<_> = differences.collect();
        let errors = differences.into_iter();
        let errors = errors.map(|(key, difference)| ErrorChange::Add(key, difference));
        self.state.continue_log(log, errors);
    }
}
