//! The events of a picture. Each event is displayed once, by the first picture whose tick is greater than its step.

use std::sync::Arc;

use super::{ChangedEvents, Event, Events, Identity, SharedEvents, clear_events};

/// Events that no picture has displayed yet, and corrections of earlier ones. It is a part of the log that the loop
/// writes and a screen reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    /// The simulation went back to this tick and stayed there: earlier events from there on are void.
    rewound: Option<u64>,
    /// No rollback changes earlier events before this tick any more.
    oldest: u64,
    retracted: Vec<Identity>,
    steps: Vec<SharedEvents>,
}

impl EventQueue {
    pub fn is_empty(&self) -> bool {
        self.retracted.is_empty() && self.steps.is_empty()
    }

    fn says_nothing(&self) -> bool {
        self.is_empty() && self.rewound.is_none() && self.oldest == 0
    }

    pub fn add(&mut self, events: &SharedEvents) {
        if !events.is_empty() {
            self.steps.push(Arc::clone(events));
        }
    }

    pub fn go_back(&mut self, tick: u64) {
        self.drop_from(tick);
        self.rewound = Some(self.rewound.map_or(tick, |earlier| earlier.min(tick)));
    }

    pub fn rewound(&self) -> Option<u64> {
        self.rewound
    }

    /// Records that ticks were renumbered, so no rollback leads to the earlier ones.
    pub fn renumber(&mut self) {
        self.retracted.clear();
        self.oldest = u64::MAX;
    }

    /// Records how the events changed when steps were resimulated. No rollback leads to steps before `oldest`.
    pub fn correct(&mut self, [new, _, retracted]: &ChangedEvents, oldest: u64) {
        for event in retracted.iter() {
            let identity = event.identity();
            if !self.take_out(&identity) {
                self.retracted.push(identity);
            }
        }
        for event in new.iter() {
            // If it was displayed and retracted, it happened after all.
            if !take_first(&mut self.retracted, &event.identity()) {
                self.insert(event.clone());
            }
        }
        self.oldest = self.oldest.max(oldest);
    }

    pub fn append(&mut self, mut later: Self) {
        self.give_way_to(&mut later);
        self.retracted.retain(|(step, ..)| *step >= later.oldest);
        self.rewound = self.rewound.into_iter().chain(later.rewound).min();
        self.oldest = self.oldest.max(later.oldest);
        for mut events in later.steps {
            drop_taken(&mut events, &mut self.retracted);
            self.add(&events);
        }
        self.retracted.append(&mut later.retracted);
    }

    /// Removes the events that a later queue makes void or retracts.
    pub fn give_way_to(&mut self, later: &mut Self) {
        if let Some(tick) = later.rewound {
            self.drop_from(tick);
        }
        later.retracted.retain(|identity| !self.take_out(identity));
    }

    /// Removes and returns the events of this tick and later ones.
    pub fn split_off(&mut self, tick: u64) -> Self {
        let later = self.steps.extract_if(.., |events| step_of(events) >= tick);
        Self {
            steps: later.collect(),
            ..Self::default()
        }
    }

    /// Drops the events of the oldest step. Returns how many there were, or `None` if there is no such step.
    pub fn drop_oldest(&mut self) -> Option<usize> {
        (!self.steps.is_empty()).then(|| self.steps.remove(0).len())
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    fn drop_from(&mut self, tick: u64) {
        self.split_off(tick);
        self.retracted.retain(|(step, ..)| *step < tick);
    }

    /// Removes the last of several same events. Returns whether there was one.
    fn take_out(&mut self, identity: &Identity) -> bool {
        for place in (0..self.steps.len()).rev() {
            let events = &mut self.steps[place];
            let last = |event: &Event| event.identity() == *identity;
            if let Some(last) = events.iter().rposition(last) {
                Arc::make_mut(events).remove(last);
                if events.is_empty() {
                    self.steps.remove(place);
                }
                return true;
            }
        }
        false
    }

    fn insert(&mut self, event: Event) {
        let step = event.step();
        let earlier = self.steps.iter().rposition(|it| step_of(it) < step);
        let place = earlier.map_or(0, |it| it + 1);
        match self.steps.get_mut(place) {
            Some(events) if step_of(events) == step => Arc::make_mut(events).push(event),
            _ => self.steps.insert(place, SharedEvents::new(vec![event])),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct DisplayedEvents {
    events: SharedEvents,
    /// Events of earlier pictures that did not happen after all. If they happen again, they are not displayed again.
    retracted: Vec<Identity>,
    left: EventQueue,
}

impl DisplayedEvents {
    pub fn events(&self) -> Events {
        Events::new(&self.events)
    }

    pub fn show(&mut self, queue: &mut EventQueue) {
        clear_events(&mut self.events);
        if queue.says_nothing() && self.left.says_nothing() {
            return;
        }
        self.left.append(std::mem::take(queue));
        if let Some(tick) = self.left.rewound.take() {
            self.retracted.retain(|(step, ..)| *step < tick);
        }
        let oldest = std::mem::take(&mut self.left.oldest);
        self.retracted.retain(|(step, ..)| *step >= oldest);
        self.retracted.append(&mut self.left.retracted);
        for mut events in self.left.steps.drain(..) {
            drop_taken(&mut events, &mut self.retracted);
            if self.events.is_empty() {
                self.events = events;
            } else {
                Arc::make_mut(&mut self.events).extend_from_slice(&events);
            }
        }
        if !self.events.is_sorted_by(|a, b| order(a) <= order(b)) {
            Arc::make_mut(&mut self.events).sort_by_key(order);
        }
    }

    pub fn show_none(&mut self) {
        clear_events(&mut self.events);
    }

    pub fn leave(&mut self, queue: EventQueue) {
        self.left.append(queue);
    }

    pub fn take_left(&mut self) -> EventQueue {
        std::mem::take(&mut self.left)
    }
}

fn step_of(events: &SharedEvents) -> u64 {
    events[0].step()
}

fn order(event: &Event) -> (u64, super::EventOrder) {
    (event.step(), event.order())
}

/// Removes the first of several same identities from a list. Returns whether there was one.
fn take_first(list: &mut Vec<Identity>, identity: &Identity) -> bool {
    let first = list.iter().position(|listed| listed == identity);
    first.map(|first| list.remove(first)).is_some()
}

/// Drops the events that are in this list, and removes them from it.
fn drop_taken(events: &mut SharedEvents, list: &mut Vec<Identity>) {
    if !list.is_empty() {
        Arc::make_mut(events).retain(|event| !take_first(list, &event.identity()));
    }
}
