//! Collision and contact-force events of every step of a frame, each with its tick.

use std::sync::{Mutex, PoisonError};

use rapier3d::dynamics::{RigidBodySet, SoftBodySet, SoftBodyTearEvent};
use rapier3d::geometry::{
    ColliderHandle, ColliderSet, CollisionEvent, CollisionEventFlags, ContactForceEvent,
    ContactPair,
};
use rapier3d::pipeline::EventHandler;

use crate::key::{BodyKey, Keys};

/// Two colliders began or ceased to touch.
///
/// Rapier reports it for colliders with `ActiveEvents::COLLISION_EVENTS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The step in which it happened.
    pub tick: u64,
    /// Whether they began to touch, or ceased to.
    pub started: bool,
    /// The bodies of the two colliders, also of one that was removed before this step. `None` for
    /// a collider without a body, and for a body without a key.
    pub bodies: [Option<BodyKey>; 2],
    /// The two colliders. The handle of a removed one no longer resolves.
    pub colliders: [ColliderHandle; 2],
    /// Whether one of them is a sensor.
    pub sensor: bool,
    /// Whether they ceased to touch because one was removed.
    pub removed: bool,
}

/// A contact force went over its threshold.
///
/// Rapier reports it, in each step anew, for colliders with `ActiveEvents::CONTACT_FORCE_EVENTS`.
#[derive(Clone, Copy, Debug)]
pub struct ContactForce {
    /// The step in which it acted.
    pub tick: u64,
    /// The bodies of the two colliders. `None` for a collider without a body, and for a body
    /// without a key.
    pub bodies: [Option<BodyKey>; 2],
    /// Rapier's own event: the colliders, and their forces in newtons.
    pub force: ContactForceEvent,
}

/// The events of all steps of a frame: from [`Simulation::events`](crate::Simulation::events).
///
/// Each list is in the order of the steps, and within a step in the order in which Rapier found
/// them, which is the same in every run of the same steps, on any number of threads.
#[derive(Debug, Default)]
pub struct Events {
    collisions: Vec<Collision>,
    contact_forces: Vec<ContactForce>,
    soft_body_tears: Vec<(u64, SoftBodyTearEvent)>,
    quarantined: Vec<(u64, BodyKey)>,
}

impl Events {
    /// Collisions that started and stopped.
    #[must_use]
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// The collisions of one step: in the hook after it, what has just happened.
    #[must_use]
    pub fn collisions_in(&self, tick: u64) -> &[Collision] {
        of_tick(&self.collisions, tick, |collision| collision.tick)
    }

    /// Contact forces over their threshold.
    #[must_use]
    pub fn contact_forces(&self) -> &[ContactForce] {
        &self.contact_forces
    }

    /// The contact forces of one step.
    #[must_use]
    pub fn contact_forces_in(&self, tick: u64) -> &[ContactForce] {
        of_tick(&self.contact_forces, tick, |force| force.tick)
    }

    /// Tears of soft bodies, each with its tick.
    #[must_use]
    pub fn soft_body_tears(&self) -> &[(u64, SoftBodyTearEvent)] {
        &self.soft_body_tears
    }

    /// Bodies that Rapier disabled because their state became NaN or infinite, each with its tick.
    ///
    /// Their last finite pose stays. Rapier's own list holds only those of the last step.
    #[must_use]
    pub fn quarantined(&self) -> &[(u64, BodyKey)] {
        &self.quarantined
    }

    pub(crate) fn quarantine(&mut self, tick: u64, key: BodyKey) {
        self.quarantined.push((tick, key));
    }

    pub(crate) fn clear(&mut self) {
        self.collisions.clear();
        self.contact_forces.clear();
        self.soft_body_tears.clear();
        self.quarantined.clear();
    }
}

/// The part of a list, sorted by tick, that has this tick.
fn of_tick<T>(events: &[T], tick: u64, tick_of: impl Fn(&T) -> u64) -> &[T] {
    let start = events.partition_point(|event| tick_of(event) < tick);
    let end = events.partition_point(|event| tick_of(event) <= tick);
    &events[start..end]
}

/// The events of the frame, and what it takes to name the bodies in them.
#[derive(Debug, Default)]
pub(crate) struct EventLog {
    pub events: Events,
    /// By collider index: whose collider it was when it last began to touch something. The last
    /// event of a removed collider comes when Rapier can no longer tell.
    owners: Vec<Option<(ColliderHandle, Option<BodyKey>)>>,
}

impl EventLog {
    /// Rapier's handler for one step.
    pub fn handler<'a>(&'a mut self, tick: u64, keys: &'a Keys) -> impl EventHandler + 'a {
        Handler {
            log: Mutex::new(self),
            tick,
            keys,
        }
    }

    fn owner(&self, handle: ColliderHandle) -> Option<BodyKey> {
        match self.owners.get(index_of(handle)) {
            Some(&Some((collider, owner))) if collider == handle => owner,
            _ => None,
        }
    }

    fn remember(&mut self, handle: ColliderHandle, owner: Option<BodyKey>) {
        let index = index_of(handle);
        if index >= self.owners.len() {
            self.owners.resize(index + 1, None);
        }
        self.owners[index] = Some((handle, owner));
    }
}

/// Behind a lock because Rapier asks for a handler that is `Sync`; it calls from one thread.
struct Handler<'a> {
    log: Mutex<&'a mut EventLog>,
    tick: u64,
    keys: &'a Keys,
}

impl Handler<'_> {
    fn record(&self, record: impl FnOnce(&mut EventLog)) {
        record(&mut self.log.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn body(
        &self,
        log: &EventLog,
        colliders: &ColliderSet,
        handle: ColliderHandle,
    ) -> Option<BodyKey> {
        match colliders.get(handle) {
            Some(collider) => self.keys.key(collider.parent()?),
            None => log.owner(handle),
        }
    }
}

fn index_of(handle: ColliderHandle) -> usize {
    handle.into_raw_parts().0 as usize
}

impl EventHandler for Handler<'_> {
    fn handle_collision_event(
        &self,
        _: &RigidBodySet,
        colliders: &ColliderSet,
        event: CollisionEvent,
        _: Option<&ContactPair>,
    ) {
        let (CollisionEvent::Started(first, second, flags)
        | CollisionEvent::Stopped(first, second, flags)) = event;
        self.record(|log| {
            let pair = [first, second];
            let bodies = pair.map(|handle| self.body(log, colliders, handle));
            if event.started() {
                log.remember(first, bodies[0]);
                log.remember(second, bodies[1]);
            }
            log.events.collisions.push(Collision {
                tick: self.tick,
                started: event.started(),
                bodies,
                colliders: pair,
                sensor: flags.contains(CollisionEventFlags::SENSOR),
                removed: flags.contains(CollisionEventFlags::REMOVED),
            });
        });
    }

    fn handle_contact_force_event(
        &self,
        dt: f32,
        _: &RigidBodySet,
        colliders: &ColliderSet,
        pair: &ContactPair,
        total_force_magnitude: f32,
    ) {
        self.record(|log| {
            let handles = [pair.collider1, pair.collider2];
            log.events.contact_forces.push(ContactForce {
                tick: self.tick,
                bodies: handles.map(|handle| self.body(log, colliders, handle)),
                force: ContactForceEvent::from_contact_pair(dt, pair, total_force_magnitude),
            });
        });
    }

    fn handle_soft_body_tear_event(&self, _: &SoftBodySet, event: &SoftBodyTearEvent) {
        self.record(|log| log.events.soft_body_tears.push((self.tick, event.clone())));
    }
}
