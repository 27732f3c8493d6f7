//! Collects the events of a step, in an order that does not depend on threads.

use std::sync::Mutex;

use crate::key::{BodyKey, Keys};
use crate::lock::lock;
use crate::time::Step;
use rapier::dynamics::{RigidBodySet, SoftBodySet, SoftBodyTearEvent};
use rapier::geometry::{
    ColliderHandle, ColliderSet, CollisionEvent, ContactForceEvent, ContactPair,
};
use rapier::pipeline::{EventHandler, PhysicsWorld};

use super::hit::FoundContact;
use super::{Collision, ContactForce, Event, EventOrder, Quarantined, SoftBodyTear};
use crate::pose::Origin;

#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct EventLog {
    /// The events found in the current step, each with its order, the number of events found before it, and its
    /// contact.
    #[cfg_attr(feature = "serde", serde(skip))]
    found: Vec<(EventOrder, usize, Event, Option<FoundContact>)>,
    /// The records of colliders that have touched something, indexed like the colliders.
    records: Vec<Option<ColliderRecord>>,
}

/// Data on a collider, kept after its removal until another collider at its index touches something.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct ColliderRecord {
    collider: ColliderHandle,
    /// The owner when the collider last began to touch something, or when it was recorded later. Rapier no longer knows
    /// the owner of a removed collider when its last event arrives.
    owner: Option<BodyKey>,
    user_data: u128,
    /// The colliders at lower indices with which the last event was a start, ordered by index. Rapier forgets what it
    /// reported if the game turns events on or off during a contact.
    touching: Vec<ColliderHandle>,
}

impl EventLog {
    /// Returns the handler to which Rapier reports the events of this step.
    pub fn handler<'a>(&'a mut self, step: Step, keys: &'a Keys) -> impl EventHandler + 'a {
        Handler {
            // Rapier requires a `Sync` handler.
            log: Mutex::new(self),
            tick: step.tick,
            dt: step.dt,
            keys,
        }
    }

    /// Moves the events of the step to `events`, in their order. Adds the contacts as they are after the step, and an
    /// event for each body that Rapier has quarantined in it.
    pub fn end_step(
        &mut self,
        events: &mut Vec<Event>,
        tick: u64,
        quarantined: impl Iterator<Item = BodyKey>,
        world: &PhysicsWorld,
        origin: Origin,
    ) {
        for body in quarantined {
            self.push(Event::Quarantined(Quarantined { step: tick, body }), None);
        }
        for (.., event, contact) in &mut self.found {
            if let (Some(contact), Some((first, hit))) = (contact, event.first_and_hit_mut()) {
                *hit = Some(contact.hit_after_step(first, &world.colliders, &world.bodies, origin));
            }
        }
        // Events of equal order, such as a stop and a start of one pair, stay in the order in which they were found.
        (self.found).sort_unstable_by_key(|(order, number, ..)| (*order, *number));
        events.extend(self.found.drain(..).map(|(_, _, event, _)| event));
    }

    /// Adds an event, with its contact before the step's end.
    fn push(&mut self, event: Event, contact: Option<FoundContact>) {
        (self.found).push((event.order(), self.found.len(), event, contact));
    }

    /// Adds a collision, and lets the events of its pair [alternate](Collision#starts-and-stops-alternate): Rapier
    /// omits some if the game turns events on or off during a contact.
    fn push_alternating(&mut self, collision: Collision, contact: Option<FoundContact>) {
        let was_touching = self.set_touching(collision.colliders, collision.started);
        match (was_touching, collision.started) {
            // The pair has no start to which this stop belongs.
            (false, false) => return,
            // The stop before this start is missing.
            (true, true) => {
                let stop = Collision {
                    started: false,
                    ..collision
                };
                self.push(Event::Collision(stop), None);
            }
            _ => {}
        }
        self.push(Event::Collision(collision), contact);
    }

    /// Records that a pair touches from now on, or no longer does. Returns whether it did before. A pair is recorded
    /// with its collider at the higher index.
    fn set_touching(&mut self, mut pair: [ColliderHandle; 2], started: bool) -> bool {
        pair.sort_unstable_by_key(|it| index_of(*it));
        let [lower, higher] = pair;
        let record = self.records.get_mut(index_of(higher));
        let record = record.and_then(|record| record.as_mut().filter(|it| it.collider == higher));
        // The handler remembers both colliders before the first start of a pair. So there was no start of this pair.
        let Some(ColliderRecord { touching, .. }) = record else {
            return false;
        };
        let found = touching.binary_search_by_key(&index_of(lower), |it| index_of(*it));
        // The list may have a removed collider with the same index instead.
        let was_touching = found.is_ok_and(|at| touching[at] == lower);
        match found {
            Err(at) if started => touching.insert(at, lower),
            Ok(at) if started => touching[at] = lower,
            Ok(at) if was_touching => drop(touching.remove(at)),
            _ => {}
        }
        was_touching
    }

    /// Returns the user data of a collider, or its last known value if it was removed.
    fn user_data(&self, colliders: &ColliderSet, of: ColliderHandle) -> u128 {
        let record = self.records.get(index_of(of)).and_then(Option::as_ref);
        let record = record.filter(|record| record.collider == of);
        let present = colliders.get(of).map(|collider| collider.user_data);
        let last_known = record.map(|record| record.user_data);
        present.or(last_known).unwrap_or_default()
    }

    /// Records the key of a collider's body, for events after the collider's removal. The collider may have got another
    /// body or none, or its body a key, after it began to touch something.
    pub fn record_owner(&mut self, handle: ColliderHandle, key: Option<BodyKey>) {
        // A collider without a record has touched nothing yet, and its first contact records the owner. The record of a
        // removed collider with the same index stays, because its last event may arrive later.
        if let Some(Some(record)) = self.records.get_mut(index_of(handle))
            && record.collider == handle
        {
            record.owner = key;
        }
    }

    /// Records the keys of the bodies of all colliders, for events after their removal.
    pub fn record_owners(&mut self, keys: &Keys, colliders: &ColliderSet) {
        for record in self.records.iter_mut().flatten() {
            // The record of a removed collider keeps its last owner.
            if let Some(collider) = colliders.get(record.collider) {
                record.owner = collider.parent().and_then(|body| keys.key(body));
            }
        }
    }

    /// Returns the key of a collider's body, or the recorded one if the collider was removed.
    fn owner(&self, keys: &Keys, colliders: &ColliderSet, of: ColliderHandle) -> Option<BodyKey> {
        if let Some(collider) = colliders.get(of) {
            return keys.key(collider.parent()?);
        }
        let record = self.records.get(index_of(of))?.as_ref()?;
        // The record may be that of another collider, because Rapier reuses indices.
        record.owner.filter(|_| record.collider == of)
    }

    /// Keeps a collider's owner and user data for events after its removal.
    fn remember(&mut self, collider: ColliderHandle, owner: Option<BodyKey>, user_data: u128) {
        let index = index_of(collider);
        if index >= self.records.len() {
            self.records.resize(index + 1, None);
        }
        match &mut self.records[index] {
            Some(record) if record.collider == collider => {
                (record.owner, record.user_data) = (owner, user_data);
            }
            // The slot is empty, or has a removed collider whose index Rapier has reused.
            slot => {
                *slot = Some(ColliderRecord {
                    collider,
                    owner,
                    user_data,
                    touching: Vec::new(),
                });
            }
        }
    }
}

/// Holds the log behind a lock because Rapier requires a `Sync` handler. Rapier calls it from one thread.
struct Handler<'a> {
    log: Mutex<&'a mut EventLog>,
    tick: u64,
    /// The length of the step, in seconds.
    dt: f32,
    keys: &'a Keys,
}

impl Handler<'_> {
    fn with_log(&self, act: impl FnOnce(&mut EventLog)) {
        act(&mut lock(&self.log));
    }
}

fn index_of(handle: ColliderHandle) -> usize {
    handle.into_raw_parts().0 as usize
}

impl EventHandler for Handler<'_> {
    fn handle_collision_event(
        &self,
        bodies: &RigidBodySet,
        colliders: &ColliderSet,
        event: CollisionEvent,
        contacts: Option<&ContactPair>,
    ) {
        let pair = [event.collider1(), event.collider2()];
        // Only the start of a contact between solid colliders has a hit.
        let contacts = contacts.filter(|_| event.started() && !event.sensor());
        let contact =
            contacts.and_then(|it| FoundContact::at_start(it, colliders, bodies, self.dt));
        self.with_log(|log| {
            let bodies = pair.map(|handle| log.owner(self.keys, colliders, handle));
            let user_data = pair.map(|handle| log.user_data(colliders, handle));
            // If a collider is removed, its stop arrives when Rapier no longer knows its body and user data.
            if event.started() {
                log.remember(pair[0], bodies[0], user_data[0]);
                log.remember(pair[1], bodies[1], user_data[1]);
            }
            let collision = Collision {
                step: self.tick,
                started: event.started(),
                bodies,
                colliders: pair,
                user_data,
                sensor: event.sensor(),
                removed: event.removed(),
                // `end_step` computes the hit from `contact`, when the bodies have their new poses.
                hit: None,
            };
            log.push_alternating(collision, contact);
        });
    }

    fn handle_contact_force_event(
        &self,
        dt: f32,
        bodies: &RigidBodySet,
        colliders: &ColliderSet,
        pair: &ContactPair,
        total_force_magnitude: f32,
    ) {
        let contact = FoundContact::strongest(pair, colliders, bodies);
        self.with_log(|log| {
            let handles = [pair.collider1, pair.collider2];
            let force = ContactForce {
                step: self.tick,
                bodies: handles.map(|handle| log.owner(self.keys, colliders, handle)),
                user_data: handles.map(|handle| log.user_data(colliders, handle)),
                force: ContactForceEvent::from_contact_pair(dt, pair, total_force_magnitude),
                // `end_step` computes the hit from `contact`, when the bodies have their new poses.
                hit: None,
            };
            log.push(Event::ContactForce(force), contact);
        });
    }

    fn handle_soft_body_tear_event(&self, _: &SoftBodySet, event: &SoftBodyTearEvent) {
        let (tick, event) = (self.tick, Box::new(event.clone()));
        let tear = Event::SoftBodyTear(SoftBodyTear { step: tick, event });
        self.with_log(|log| log.push(tear, None));
    }
}
