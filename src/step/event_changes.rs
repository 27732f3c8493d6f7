//! How events changed when their steps were resimulated.

use std::collections::VecDeque;

use super::events::{Event, Events};

/// How the events changed when steps were resimulated, from
/// [`Simulation::event_changes`](crate::Simulation::event_changes).
///
/// An event is the same in both runs if it has the same tick, kind and pair. One that comes a tick later counts as one
/// retracted and one new event. Start the effects of new events, stop those of retracted ones, and leave those of
/// confirmed ones alone. Each effect then plays once, and events that never happened leave no effect.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct EventChanges<'a> {
    /// Events of the second run only.
    pub new: Events<'a>,
    /// Events of both runs, as they were in the second one.
    pub confirmed: Events<'a>,
    /// Events of the first run only: they never happened.
    pub retracted: Events<'a>,
}

/// New, confirmed and retracted events.
pub(crate) type ChangedEvents = [Vec<Event>; 3];

impl<'a> EventChanges<'a> {
    pub(crate) fn of(changed: &'a ChangedEvents) -> Self {
        let [new, confirmed, retracted] = changed.each_ref().map(|events| Events(events));
        Self {
            new,
            confirmed,
            retracted,
        }
    }

    pub(crate) fn between(mut then: VecDeque<Event>, now: &[Event]) -> ChangedEvents {
        let (mut new, mut confirmed) = (Vec::new(), Vec::new());
        for event in now {
            let same = then.iter().position(|other| other.is_same(event));
            let list = match same.and_then(|place| then.remove(place)) {
                Some(_) => &mut confirmed,
                None => &mut new,
            };
            list.push(event.clone());
        }
        [new, confirmed, then.into()]
    }
}
