//! Collision and contact-force events of every step of a frame, each with its tick.

use std::sync::{Mutex, PoisonError};

use crate::key::{BodyKey, Keys};
use rapier::dynamics::{RigidBodySet, SoftBodySet, SoftBodyTearEvent};
use rapier::geometry::{
    ColliderHandle, ColliderSet, CollisionEvent, CollisionEventFlags, ContactForceEvent,
    ContactPair,
};
use rapier::pipeline::EventHandler;

/// Two colliders started or stopped touching.
///
/// Rapier reports it if one of them has [`ActiveEvents::COLLISION_EVENTS`], which no collider has by default.
///
/// [`ActiveEvents::COLLISION_EVENTS`]: crate::rapier3d::pipeline::ActiveEvents::COLLISION_EVENTS
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Collision {
    /// The step in which it happened.
    pub tick: u64,
    /// Whether they started to touch, or stopped.
    pub started: bool,
    /// The bodies of the two colliders, also of one that was removed before this step. `None` for
    /// a collider without a body, and for a body without a key.
    pub bodies: [Option<BodyKey>; 2],
    /// The two colliders. The handle of a removed one no longer resolves.
    pub colliders: [ColliderHandle; 2],
    /// Whether one of them is a sensor.
    pub sensor: bool,
    /// Whether they stopped because one of them was removed.
    pub removed: bool,
}

/// A contact force exceeded its threshold.
///
/// Rapier reports it again in each step, if one of the colliders has
/// [`ActiveEvents::CONTACT_FORCE_EVENTS`], which no collider has by default.
///
/// [`ActiveEvents::CONTACT_FORCE_EVENTS`]: crate::rapier3d::pipeline::ActiveEvents::CONTACT_FORCE_EVENTS
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ContactForce {
    /// The step in which it acted.
    pub tick: u64,
    /// The bodies of the two colliders. `None` for a collider without a body, and for a body
    /// without a key.
    pub bodies: [Option<BodyKey>; 2],
    /// Rapier's own event: the colliders, and their forces in newtons.
    pub force: ContactForceEvent,
}

/// A soft body tore.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SoftBodyTear {
    /// The step in which it happened.
    pub tick: u64,
    /// Rapier's own event.
    pub event: SoftBodyTearEvent,
}

/// Rapier disabled a body because its state became NaN or infinite.
///
/// Its last finite pose stays. Rapier's own list holds only those of the last step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Quarantined {
    /// The step in which it happened.
    pub tick: u64,
    /// The body.
    pub body: BodyKey,
}

/// The events of all steps of a frame: from [`Simulation::events`](crate::Simulation::events).
///
/// ```
/// use evenstep::rapier3d::prelude::*;
/// use evenstep::Simulation;
/// use std::time::Duration;
///
/// let mut simulation = Simulation::default();
/// simulation.insert(RigidBodyBuilder::fixed(), ColliderBuilder::cuboid(5.0, 0.5, 5.0));
/// let ball = simulation.insert(
///     RigidBodyBuilder::dynamic().translation(Vector::Y),
///     ColliderBuilder::ball(0.5).active_events(ActiveEvents::COLLISION_EVENTS),
/// );
/// let frame = simulation.advance(Duration::from_millis(40), |_, _| ());
/// let started = simulation.events().collisions()[0];
/// // In the first of the frame's two steps.
/// assert_eq!((frame.steps, started.tick, started.started), (2, 0, true));
///
/// // A removed body stops touching in the next step, by its dead key.
/// simulation.remove(ball);
/// simulation.advance(Duration::from_millis(20), |_, _| ());
/// let stopped = simulation.events().collisions()[0];
/// assert!(stopped.removed && stopped.bodies.contains(&Some(ball)));
/// ```
///
/// # Order
/// Each list is in the order of the steps. Within a step, collisions and contact forces are in the order of
/// their pairs of colliders: by the lower handle of the two, then by the higher one, each by its index, then by
/// its generation. Events of one pair are in the order in which they happened: a sensor that is crossed
/// within a step starts before it stops. Quarantined bodies are in the order of their keys, tears in Rapier's.
/// So the order is the same in every run of the same steps, on any number of threads, and does not depend on which
/// bodies the game accessed through [`body_mut`](crate::Simulation::body_mut).
#[derive(Clone, Debug, Default)]
pub struct Events {
    pub(super) collisions: Vec<Collision>,
    pub(super) contact_forces: Vec<ContactForce>,
    pub(super) soft_body_tears: Vec<SoftBodyTear>,
    pub(super) quarantined: Vec<Quarantined>,
}

impl Events {
    /// Collisions that started and stopped.
    #[must_use]
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// The collisions of one step: for the hook after it. Empty if the step is not one of the frame.
    #[must_use]
    pub fn collisions_in(&self, tick: u64) -> &[Collision] {
        of_tick(&self.collisions, tick)
    }

    /// Contact forces that exceeded their threshold.
    #[must_use]
    pub fn contact_forces(&self) -> &[ContactForce] {
        &self.contact_forces
    }

    /// The contact forces of one step: for the hook after it. Empty if the step is not one of the frame.
    #[must_use]
    pub fn contact_forces_in(&self, tick: u64) -> &[ContactForce] {
        of_tick(&self.contact_forces, tick)
    }

    /// Tears of soft bodies.
    #[must_use]
    pub fn soft_body_tears(&self) -> &[SoftBodyTear] {
        &self.soft_body_tears
    }

    /// Bodies that Rapier disabled because their state became NaN or infinite.
    #[must_use]
    pub fn quarantined(&self) -> &[Quarantined] {
        &self.quarantined
    }

    /// The number of events of all kinds.
    #[must_use]
    pub fn len(&self) -> usize {
        let pairs = self.collisions.len() + self.contact_forces.len();
        pairs + self.soft_body_tears.len() + self.quarantined.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn quarantine(&mut self, tick: u64, bodies: impl Iterator<Item = BodyKey>) {
        let start = self.quarantined.len();
        let of_step = bodies.map(|body| Quarantined { tick, body });
        self.quarantined.extend(of_step);
        // Rapier finds them in the order of its lists of changed and of awake bodies.
        self.quarantined[start..].sort_unstable_by_key(|event| event.body);
    }

    /// Those of one step.
    pub(crate) fn of(&self, tick: u64) -> Self {
        Self {
            collisions: of_tick(&self.collisions, tick).to_vec(),
            contact_forces: of_tick(&self.contact_forces, tick).to_vec(),
            soft_body_tears: of_tick(&self.soft_body_tears, tick).to_vec(),
            quarantined: of_tick(&self.quarantined, tick).to_vec(),
        }
    }

    /// Adds those of later steps.
    pub(crate) fn append(&mut self, mut later: Self) {
        self.collisions.append(&mut later.collisions);
        self.contact_forces.append(&mut later.contact_forces);
        self.soft_body_tears.append(&mut later.soft_body_tears);
        self.quarantined.append(&mut later.quarantined);
    }

    /// From `tick` on, those of `other` are in the place of these.
    pub(crate) fn replace_from(&mut self, tick: u64, mut other: Self) {
        fn replace<T: Event>(events: &mut Vec<T>, tick: u64, other: &mut Vec<T>) {
            events.truncate(before(events, tick));
            events.extend(other.drain(before(other, tick)..));
        }
        replace(&mut self.collisions, tick, &mut other.collisions);
        replace(&mut self.contact_forces, tick, &mut other.contact_forces);
        replace(&mut self.soft_body_tears, tick, &mut other.soft_body_tears);
        replace(&mut self.quarantined, tick, &mut other.quarantined);
    }

    pub(crate) fn clear(&mut self) {
        self.collisions.clear();
        self.contact_forces.clear();
        self.soft_body_tears.clear();
        self.quarantined.clear();
    }
}

/// The part of a list, sorted by tick, that has this tick.
pub(super) fn of_tick<T: Event>(events: &[T], tick: u64) -> &[T] {
    &events[before(events, tick)..before(events, tick.saturating_add(1))]
}

/// How many events of a list, sorted by tick, are before this tick.
fn before<T: Event>(events: &[T], tick: u64) -> usize {
    events.partition_point(|event| event.tick() < tick)
}

/// What all kinds of events have.
pub(super) trait Event: Clone {
    fn tick(&self) -> u64;

    /// Whether it is the same in another run of the same step.
    fn is_same(&self, other: &Self) -> bool;
}

impl Event for Collision {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Event for ContactForce {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn is_same(&self, other: &Self) -> bool {
        let colliders = |of: &Self| [of.force.collider1, of.force.collider2];
        (self.tick, colliders(self)) == (other.tick, colliders(other))
    }
}

impl Event for SoftBodyTear {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.tick, self.event.soft_body) == (other.tick, other.event.soft_body)
    }
}

impl Event for Quarantined {
    fn tick(&self) -> u64 {
        self.tick
    }

    fn is_same(&self, other: &Self) -> bool {
        self == other
    }
}

/// The events of the frame, and what it takes to name the bodies in them.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct EventLog {
    /// Not written: Rapier's own events cannot be.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub events: Events,
    #[cfg_attr(feature = "serde", serde(skip))]
    collisions: Found<Collision>,
    #[cfg_attr(feature = "serde", serde(skip))]
    contact_forces: Found<ContactForce>,
    /// By collider index: whose collider it was when it last began to touch something, or when its body
    /// got a key after that. The last event of a removed collider comes when Rapier can no longer tell.
    owners: Vec<Option<(ColliderHandle, Option<BodyKey>)>>,
}

/// What was found in the step at hand.
///
/// Rapier finds events in the order of its lists of changed bodies, which a game changes by a mere look at a
/// body.
#[derive(Clone, Debug)]
struct Found<T>(Vec<(Place, T)>);

/// A pair of colliders, the lower handle first, and the number of what was found before in the step.
type Place = ([(u32, u32); 2], usize);

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Found<T> {
    fn push(&mut self, colliders: [ColliderHandle; 2], event: T) {
        let mut pair = colliders.map(ColliderHandle::into_raw_parts);
        pair.sort_unstable();
        self.0.push(((pair, self.0.len()), event));
    }

    /// Adds all of it to `events` in the order of the pairs, what is of one pair as it happened.
    fn move_to(&mut self, events: &mut Vec<T>) {
        self.0.sort_unstable_by_key(|(place, _)| *place);
        events.extend(self.0.drain(..).map(|(_, event)| event));
    }
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

    /// After the step: adds what was found in it to the events of the frame.
    pub fn end_step(&mut self) {
        self.collisions.move_to(&mut self.events.collisions);
        self.contact_forces.move_to(&mut self.events.contact_forces);
    }

    /// The body of a collider has got its key, which may be after the collider began to touch something.
    pub fn name_owner(&mut self, handle: ColliderHandle, key: BodyKey) {
        match self.owners.get(index_of(handle)) {
            // Of a removed collider in the same slot: its last event may be still to come.
            Some(&Some((collider, _))) if collider != handle => {}
            _ => self.remember(handle, Some(key)),
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
            let collision = Collision {
                tick: self.tick,
                started: event.started(),
                bodies,
                colliders: pair,
                sensor: flags.contains(CollisionEventFlags::SENSOR),
                removed: flags.contains(CollisionEventFlags::REMOVED),
            };
            log.collisions.push(pair, collision);
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
            let force = ContactForce {
                tick: self.tick,
                bodies: handles.map(|handle| self.body(log, colliders, handle)),
                force: ContactForceEvent::from_contact_pair(dt, pair, total_force_magnitude),
            };
            log.contact_forces.push(handles, force);
        });
    }

    fn handle_soft_body_tear_event(&self, _: &SoftBodySet, event: &SoftBodyTearEvent) {
        let (tick, event) = (self.tick, event.clone());
        self.record(|log| {
            log.events
                .soft_body_tears
                .push(SoftBodyTear { tick, event });
        });
    }
}
