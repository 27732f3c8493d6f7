//! How the events changed when steps ran again.

use std::collections::BTreeSet;

use super::{Event, Events, SharedEvents};

/// The changes of events when steps were resimulated, from
/// [`Simulation::event_changes`](crate::Simulation::event_changes).
///
/// An event is the same in both runs if it has the same tick, kind and pair or body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EventChanges {
    /// Events in the second run only.
    pub new: Events,
    /// Events in both runs, as in the second run.
    pub confirmed: Events,
    /// Events in the first run only.
    pub retracted: Events,
}

/// The new, the confirmed and the retracted events.
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

    /// Returns the new, the confirmed and the retracted events of the second of two runs of the same steps. If an event
    /// happens several times, and more often in one of the runs, the first ones are confirmed.
    pub(crate) fn between(first_run: &[Event], second_run: &[Event]) -> ChangedEvents {
        let (mut new, mut confirmed) = (Vec::new(), Vec::new());
        let mut retracted: BTreeSet<_> = (first_run.iter().enumerate())
            .map(|(index, event)| (event.identity(), index))
            .collect();
        for event in second_run {
            let identity = event.identity();
            // The same events of the first run that are not confirmed yet.
            let mut same = retracted.range((identity, 0)..=(identity, usize::MAX));
            let list = match same.next().copied() {
                Some(first) => {
                    retracted.remove(&first);
                    &mut confirmed
                }
                None => &mut new,
            };
            list.push(event.clone());
        }
        // Sorts them as in the first run.
        let indices: BTreeSet<usize> = retracted.into_iter().map(|(_, index)| index).collect();
        let retracted = indices.into_iter().map(|index| first_run[index].clone());
        [new, confirmed, retracted.collect()].map(SharedEvents::new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Collision, ContactForce, Quarantined};
    use crate::key::BodyKey;
    use proptest::prelude::*;
    use rapier::geometry::{ColliderHandle, ContactForceEvent};
    use slotmap::KeyData;

    fn event() -> impl Strategy<Value = Event> {
        let pairs = prop::array::uniform2(0..3u32);
        (0..3u64, 0..4u8, pairs, 0..100u8).prop_map(|(tick, kind, pair, force)| {
            let [collider1, collider2] = pair.map(|index| ColliderHandle::from_raw_parts(index, 0));
            let bodies = [None; 2];
            match kind {
                0 => Event::Quarantined(Quarantined {
                    step: tick,
                    body: BodyKey::from(KeyData::from_ffi(pair[0].into())),
                }),
                // The force tells apart which of the same events it is.
                1 => Event::ContactForce(ContactForce {
                    step: tick,
                    bodies,
                    user_data: [0; 2],
                    force: ContactForceEvent {
                        collider1,
                        collider2,
                        total_force_magnitude: force.into(),
                        ..ContactForceEvent::default()
                    },
                    hit: None,
                }),
                _ => Event::Collision(Collision {
                    step: tick,
                    started: kind == 2,
                    bodies,
                    colliders: [collider1, collider2],
                    user_data: [0; 2],
                    sensor: force % 2 == 0,
                    removed: false,
                    hit: None,
                }),
            }
        })
    }

    /// Does the same as [`EventChanges::between`], event by event.
    fn one_by_one(mut then: Vec<Event>, now: &[Event]) -> [Vec<Event>; 3] {
        let (mut new, mut confirmed) = (Vec::new(), Vec::new());
        for event in now {
            let is_same = |other: &Event| other.identity() == event.identity();
            let list = match then.iter().position(is_same) {
                Some(place) => {
                    then.remove(place);
                    &mut confirmed
                }
                None => &mut new,
            };
            list.push(event.clone());
        }
        [new, confirmed, then]
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn changes_equal_those_found_one_by_one(
            then in prop::collection::vec(event(), 0..60),
            now in prop::collection::vec(event(), 0..60),
        ) {
            let changes = EventChanges::between(&then, &now).map(|events| format!("{events:?}"));
            let expected = one_by_one(then, &now).map(|events| format!("{events:?}"));
            prop_assert_eq!(changes, expected);
        }
    }
}
