//! The events of a picture. Each event is displayed once, by the first picture whose tick is greater than its step.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::pose::Origin;

use super::{Event, EventChanges, Events, SharedEvents, clear_events};

/// Identifies a step: how often ticks were renumbered before it, and its tick.
pub(crate) type StepId = (u64, u64);

/// The events of some steps, ordered by step.
type ByStep = VecDeque<(StepId, SharedEvents)>;

/// The events of steps in their last run, until a picture displays them. It is a part of the log that the loop writes
/// and a screen reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepEvents {
    /// A step that ran again without events is listed, too, because the events of its first run may wait in another
    /// list.
    steps: ByStep,
    /// The simulation went back to this step and stayed there: earlier events from there on are void.
    rewound_to: Option<StepId>,
    /// No rollback leads to earlier steps.
    oldest_reachable: StepId,
    /// Lists that were displayed, for the next steps to fill.
    spare: Vec<SharedEvents>,
}

impl StepEvents {
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Records the events of a step. They replace those of an earlier run.
    pub fn set(&mut self, step: StepId, events: SharedEvents) {
        match find_step(&self.steps, step) {
            Ok(index) => self.steps[index].1 = events,
            Err(index) => self.steps.insert(index, (step, events)),
        }
    }

    /// Sets the earliest step that a rollback can reach. Pictures forget the events of the steps before it.
    pub fn set_oldest(&mut self, oldest: StepId) {
        self.oldest_reachable = oldest;
    }

    /// Makes the events from this step on void, here and in the lists before this one, because the simulation went back
    /// to the state before it.
    pub fn go_back(&mut self, step: StepId) {
        drop_from(&mut self.steps, step);
        self.rewound_to = Some(self.rewound_to.map_or(step, |earlier| earlier.min(step)));
    }

    /// Returns the tick to which the simulation went back.
    pub fn rewound_to_tick(&self) -> Option<u64> {
        self.rewound_to.map(|(_, tick)| tick)
    }

    /// Appends later events. They replace the events of earlier runs of the same steps.
    pub fn append(&mut self, later: Self) {
        if let Some(step) = later.rewound_to {
            self.go_back(step);
        }
        for (step, events) in later.steps {
            self.set(step, events);
        }
        // The later value replaces a greater one too, because another state that was assigned may have lower ticks.
        self.oldest_reachable = later.oldest_reachable;
    }

    /// Drops the events that a later list makes void, from the step to which the simulation went back. If a step of
    /// this list ran again in a rollback, its events are in the later list too, and move to this one, which is
    /// displayed first.
    pub fn give_way_to(&mut self, later: &mut Self) {
        if let Some(step) = later.rewound_to {
            drop_from(&mut self.steps, step);
        }
        later.steps.retain(|(step, events)| {
            let found = find_step(&self.steps, *step);
            if let Ok(index) = found {
                self.steps[index].1 = Arc::clone(events);
            }
            // Steps that this list does not have stay in the later one.
            found.is_err()
        });
    }

    /// Returns an empty list for the events of a step.
    pub fn empty_list(&mut self) -> SharedEvents {
        let mut list = self.spare.pop().unwrap_or_default();
        clear_events(&mut list);
        list
    }

    /// Drops the events of the oldest step that has some or, with `is_empty`, the oldest step that ran again without
    /// events. Returns how many events there were, or `None` if there is no such step.
    pub fn drop_oldest(&mut self, is_empty: bool) -> Option<usize> {
        let mut steps = self.steps.iter();
        let oldest = steps.position(|(_, events)| events.is_empty() == is_empty)?;
        self.steps.remove(oldest).map(|(_, events)| events.len())
    }

    /// Returns the number of steps that have events or, with `are_empty`, that ran again without events.
    pub fn count(&self, are_empty: bool) -> usize {
        let steps = self.steps.iter();
        steps
            .filter(|(_, events)| events.is_empty() == are_empty)
            .count()
    }
}

/// Returns the index of a step, or the index at which to insert it as an error.
fn find_step(steps: &ByStep, step: StepId) -> Result<usize, usize> {
    steps.binary_search_by_key(&step, |(it, _)| *it)
}

/// Drops this step and later ones.
fn drop_from(steps: &mut ByStep, step: StepId) {
    steps.truncate(steps.partition_point(|(it, _)| *it < step));
}

#[derive(Clone, Debug, Default)]
pub(crate) struct DisplayedEvents {
    events: SharedEvents,
    /// All events that were displayed of each step that a rollback may change. They are not displayed again.
    displayed_by_step: ByStep,
}

impl DisplayedEvents {
    pub fn events(&self) -> Events {
        Events::new(&self.events)
    }

    /// Replaces the displayed events with the waiting `events`, except those that an earlier frame displayed. Contacts
    /// are converted to the `origin` of the picture. `events` keeps the emptied lists for later steps.
    pub fn show(&mut self, events: &mut StepEvents, origin: Origin) {
        clear_events(&mut self.events);
        let oldest = events.oldest_reachable;
        // The simulation went back and stayed there. Later steps are new, so all their events are displayed.
        if let Some(step) = events.rewound_to.take() {
            drop_from(&mut self.displayed_by_step, step);
        }
        for (step, mut list) in events.steps.drain(..) {
            self.show_step(step, &list, oldest);
            // A list that nobody else reads can be filled again.
            if Arc::get_mut(&mut list).is_some() {
                events.spare.push(list);
            }
        }
        // No rollback reaches these steps, so their events cannot come again.
        let old = self
            .displayed_by_step
            .partition_point(|(step, _)| *step < oldest);
        self.displayed_by_step.drain(..old);
        // After `set_tick`, later steps may have lower ticks.
        if !self.events.is_sorted_by(|a, b| order(a) <= order(b)) {
            Arc::make_mut(&mut self.events).sort_by_key(order);
        }
        // Contacts of steps before a shift of the origin are in other coordinates.
        let has_other_origin =
            |event: &Event| event.hit().is_some_and(|it| it.has_other_origin(&origin));
        if self.events.iter().any(has_other_origin) {
            let events = Arc::make_mut(&mut self.events).iter_mut();
            events
                .filter_map(Event::hit_mut)
                .for_each(|hit| hit.translate(origin));
        }
    }

    /// Displays the events of a step, except those that earlier frames displayed of an earlier run of the step.
    /// Remembers them if a rollback can reach the step and so run it again. `oldest` is the earliest such step.
    fn show_step(&mut self, step: StepId, events: &SharedEvents, oldest: StepId) {
        let all = Arc::make_mut(&mut self.events);
        match find_step(&self.displayed_by_step, step) {
            Ok(index) => {
                let displayed = &mut self.displayed_by_step[index].1;
                let [new, ..] = EventChanges::between(displayed, events);
                Arc::make_mut(displayed).extend_from_slice(&new);
                all.extend_from_slice(&new);
            }
            Err(index) => {
                if step >= oldest && !events.is_empty() {
                    self.displayed_by_step
                        .insert(index, (step, Arc::clone(events)));
                }
                all.extend_from_slice(events);
            }
        }
    }

    pub fn show_none(&mut self) {
        clear_events(&mut self.events);
    }
}

/// Returns the sort key of the events of a frame.
fn order(event: &Event) -> (u64, super::EventOrder) {
    (event.step(), event.order())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Quarantined;
    use crate::key::BodyKey;
    use slotmap::KeyData;

    fn events(tick: u64, count: u64) -> SharedEvents {
        let event = |number| {
            Event::Quarantined(Quarantined {
                step: tick,
                body: BodyKey::from(KeyData::from_ffi(number)),
            })
        };
        SharedEvents::new((1..=count).map(event).collect())
    }

    fn show(displayed: &mut DisplayedEvents, tick: u64, count: u64) -> usize {
        let mut queue = StepEvents::default();
        queue.set((0, tick), events(tick, count));
        displayed.show(&mut queue, Origin::default());
        displayed.events().len()
    }

    /// If each event was searched in a list, this would take minutes.
    #[test]
    fn a_hundred_thousand_events_that_come_and_go_are_displayed_once() {
        let mut displayed = DisplayedEvents::default();
        assert_eq!(show(&mut displayed, 5, 100_000), 100_000);
        for _ in 0..3 {
            assert_eq!(show(&mut displayed, 5, 0), 0);
            assert_eq!(show(&mut displayed, 5, 100_000), 0);
        }
        assert_eq!(show(&mut displayed, 5, 100_002), 2);
    }

    #[test]
    fn events_of_equal_ticks_under_another_numbering_are_other_events() {
        let mut waiting = StepEvents::default();
        waiting.set((0, 5), events(5, 2));
        let mut later = StepEvents::default();
        later.set((1, 5), events(5, 0));
        waiting.give_way_to(&mut later);
        waiting.append(later);
        let mut displayed = DisplayedEvents::default();
        displayed.show(&mut waiting, Origin::default());
        assert_eq!(displayed.events().len(), 2);
    }

    #[test]
    fn only_events_that_a_rollback_can_reach_are_remembered() {
        let mut displayed = DisplayedEvents::default();
        for tick in 0..10u64 {
            let mut queue = StepEvents::default();
            queue.set((0, tick), events(tick, 3));
            queue.set_oldest((0, tick.saturating_sub(2)));
            displayed.show(&mut queue, Origin::default());
        }
        assert_eq!(displayed.displayed_by_step.len(), 3);
    }
}
