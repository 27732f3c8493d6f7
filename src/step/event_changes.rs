//! What became of events when their steps were made again.

use super::events::{Event, Events};

/// How the events changed when steps were made again: from
/// [`Simulation::event_changes`](crate::Simulation::event_changes).
///
/// An event is the same in both runs if it has the same tick, kind and pair. One that comes a tick later counts as one
/// retracted and one new. Start the effects of new events, stop those of retracted ones, and leave
/// those of confirmed ones alone: then each effect plays once, and none of an event that never happened.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EventChanges {
    /// Events of the second run only.
    pub new: Events,
    /// Events of both runs. A contact force is that of the second run.
    pub confirmed: Events,
    /// Events of the first run only: they never happened.
    pub retracted: Events,
}

impl EventChanges {
    pub(crate) fn between(then: &Events, now: &Events) -> Self {
        let mut changes = Self::default();
        changes.compare(
            then,
            now,
            |events| &events.collisions,
            |events| &mut events.collisions,
        );
        changes.compare(
            then,
            now,
            |events| &events.contact_forces,
            |events| &mut events.contact_forces,
        );
        changes.compare(
            then,
            now,
            |events| &events.soft_body_tears,
            |events| &mut events.soft_body_tears,
        );
        changes.compare(
            then,
            now,
            |events| &events.quarantined,
            |events| &mut events.quarantined,
        );
        changes
    }

    fn compare<T: Event>(
        &mut self,
        then: &Events,
        now: &Events,
        list: impl Fn(&Events) -> &Vec<T>,
        list_mut: impl Fn(&mut Events) -> &mut Vec<T>,
    ) {
        let mut old = list(then).clone();
        for event in list(now) {
            let place = old.iter().position(|other| other.is_same(event));
            let change = match place {
                Some(place) => {
                    old.remove(place);
                    &mut self.confirmed
                }
                None => &mut self.new,
            };
            list_mut(change).push(event.clone());
        }
        *list_mut(&mut self.retracted) = old;
    }
}
