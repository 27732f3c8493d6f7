//! How events changed when their steps were resimulated.

use std::collections::VecDeque;

use super::events::{Event, Events, SharedEvents};

/// How the events changed when steps were resimulated, from
/// [`Simulation::event_changes`](crate::Simulation::event_changes).
///
/// An event is the same in both runs if it has the same tick, kind and pair. If it comes a tick later, it counts as one
/// retracted and one new event. Start the effects of new events, stop the effects of retracted events, and leave those
/// of confirmed events alone. Each effect then plays once, and events that never happened leave no effect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventChanges {
    /// Events in the second run only.
    pub new: Events,
    /// Events in both runs, as in the second run.
    pub confirmed: Events,
    /// Events in the first run only. They never happened.
    pub retracted: Events,
}

/// New, confirmed and retracted events.
pub(crate) type ChangedEvents = [SharedEvents; 3];

impl EventChanges {
    pub(crate) fn of(changed: &ChangedEvents) -> Self {
        let [new, confirmed, retracted] = changed.each_ref().map(Events::new);
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
        [new, confirmed, then.into()].map(SharedEvents::new)
    }
}
