//! Events of the steps: collisions, contact forces, tears, quarantined bodies, and bodies that fell asleep or woke up.
//!
//! [`Simulation::events`](crate::Simulation::events) returns the [`Events`] that a frame displays, and
//! [`Physics::events`](crate::Physics::events) those of the last step.

// How the events changed when steps ran again.
mod changes;
// The events of a picture.
mod displayed;
// Where two colliders hit each other.
mod hit;
// Collects the events of a step.
mod log;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::key::BodyKey;
use rapier::dynamics::SoftBodyTearEvent;
use rapier::geometry::{ColliderHandle, ContactForceEvent};

pub(crate) use changes::ChangedEvents;
pub use changes::EventChanges;
pub(crate) use displayed::{DisplayedEvents, StepEvents, StepId};
pub use hit::Hit;
pub(crate) use log::EventLog;

/// A start or an end of the contact between two colliders.
///
/// Rapier reports it if one of the colliders has [`ActiveEvents::COLLISION_EVENTS`].
///
/// # Starts and stops alternate
/// The events of each pair of colliders alternate, and the first one is a start, even if the flag changes during a
/// contact:
/// - A contact that began before you set the flag, before [`Physics::from_rapier`](crate::Physics::from_rapier), or in
///   a step that you ran through Rapier has no events.
/// - If you clear the flag, a missing stop is reported later: right before the pair's next start, or when a contact
///   ends that began without the flag.
///
/// [`ActiveEvents::COLLISION_EVENTS`]: crate::rapier::pipeline::ActiveEvents::COLLISION_EVENTS
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Collision {
    /// The tick of the step in which it happened.
    pub step: u64,
    /// Whether the colliders started to touch, as opposed to stopped.
    pub started: bool,
    /// The bodies of the two colliders, even if a body was removed before this step, or `None` for a collider without a
    /// body and for a body without a key. If a collider got another body and was removed, both through Rapier and since
    /// the last step, this is its earlier body.
    pub bodies: [Option<BodyKey>; 2],
    /// The two colliders. The handle of a removed one no longer resolves.
    pub colliders: [ColliderHandle; 2],
    /// The [`user_data`](crate::rapier::geometry::Collider::user_data) of the colliders. A removed one has the value
    /// from when it last began to touch something.
    pub user_data: [u128; 2],
    /// Whether one of the colliders is a sensor.
    pub sensor: bool,
    /// Whether the contact ended because a collider was removed or disabled.
    pub removed: bool,
    /// The deepest contact of a start. `None` for a stop, a sensor and soft bodies.
    pub hit: Option<Hit>,
}

/// A collider that touches a body, from [`Physics::touching`](crate::Physics::touching).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touch {
    /// The body's own collider.
    pub own: ColliderHandle,
    /// The collider that touches it.
    pub other: ColliderHandle,
    /// The body of the other collider, if it has one with a key.
    pub body: Option<BodyKey>,
    /// Whether one of the two colliders is a sensor.
    pub sensor: bool,
}

/// A contact force that exceeded its threshold.
///
/// Rapier reports it in each step if one of the colliders has [`ActiveEvents::CONTACT_FORCE_EVENTS`].
///
/// [`ActiveEvents::CONTACT_FORCE_EVENTS`]: crate::rapier::pipeline::ActiveEvents::CONTACT_FORCE_EVENTS
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ContactForce {
    /// The tick of the step in which it acted.
    pub step: u64,
    /// The bodies of the two colliders: see [`Collision::bodies`].
    pub bodies: [Option<BodyKey>; 2],
    /// The [`user_data`](crate::rapier::geometry::Collider::user_data) of the two colliders.
    pub user_data: [u128; 2],
    /// Rapier's event: the colliders, and their forces in newtons.
    pub force: ContactForceEvent,
    /// The contact with the largest force. `None` for soft bodies.
    pub hit: Option<Hit>,
}

/// A tear of a soft body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SoftBodyTear {
    /// The tick of the step in which it happened.
    pub step: u64,
    /// Rapier's event.
    pub event: Box<SoftBodyTearEvent>,
}

/// A body that Rapier disabled because its state became NaN or infinite. It is displayed at its last finite pose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Quarantined {
    /// The tick of the step in which it happened.
    pub step: u64,
    /// The body.
    pub body: BodyKey,
}

/// A dynamic body that fell asleep or woke up in a step.
///
/// Insertion, removal, disabling and a change of the type are no such events. A body that is enabled or dynamic again,
/// and awake, wakes up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct SleepChange {
    /// The tick of the step in which it happened.
    pub step: u64,
    /// The body.
    pub body: BodyKey,
    /// Whether the body fell asleep, as opposed to woke up.
    pub is_asleep: bool,
}

/// An event of a step.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event {
    /// Two colliders started or stopped touching.
    Collision(Collision),
    /// A contact force exceeded its threshold.
    ContactForce(ContactForce),
    /// A soft body tore.
    SoftBodyTear(SoftBodyTear),
    /// Rapier disabled a body.
    Quarantined(Quarantined),
    /// A body fell asleep or woke up.
    SleepChange(SleepChange),
}

/// The order of events within a step. Rapier's order changes when a game merely accesses a body mutably.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EventOrder {
    Collision([(u32, u32); 2]),
    ContactForce([(u32, u32); 2]),
    SoftBodyTear((u32, u32)),
    Quarantined(BodyKey),
    SleepChange(BodyKey),
}

/// Identifies an event in each run of its step: by its tick, its kind and pair, and whether it is a start.
pub(super) type Identity = (u64, EventOrder, bool);

/// Returns the index and generation of both handles, the lower handle first, to sort pairs of colliders.
pub(crate) fn pair_order(colliders: [ColliderHandle; 2]) -> [(u32, u32); 2] {
    let mut pair = colliders.map(ColliderHandle::into_raw_parts);
    pair.sort_unstable();
    pair
}

impl Event {
    pub(crate) fn of_sleep(step: u64, body: BodyKey, is_asleep: bool) -> Self {
        Self::SleepChange(SleepChange {
            step,
            body,
            is_asleep,
        })
    }

    /// Returns the [tick](crate::Step::tick) of the step in which the event happened.
    #[must_use]
    pub fn step(&self) -> u64 {
        match self {
            Self::Collision(event) => event.step,
            Self::ContactForce(event) => event.step,
            Self::SoftBodyTear(event) => event.step,
            Self::Quarantined(event) => event.step,
            Self::SleepChange(event) => event.step,
        }
    }

    /// Returns the key by which a step's events are sorted. Rapier's order may change when a body is merely accessed.
    fn order(&self) -> EventOrder {
        match self {
            Self::Collision(event) => EventOrder::Collision(pair_order(event.colliders)),
            Self::ContactForce(ContactForce { force, .. }) => {
                EventOrder::ContactForce(pair_order([force.collider1, force.collider2]))
            }
            Self::SoftBodyTear(tear) => {
                EventOrder::SoftBodyTear(tear.event.soft_body.into_raw_parts())
            }
            Self::Quarantined(event) => EventOrder::Quarantined(event.body),
            Self::SleepChange(event) => EventOrder::SleepChange(event.body),
        }
    }

    /// Returns the parts that are equal if an event happens again when its step is resimulated.
    pub(super) fn identity(&self) -> Identity {
        // A start and a stop of the same pair have the same order, and so do falling asleep and waking up.
        let is_start = match self {
            Self::Collision(it) => it.started,
            Self::SleepChange(it) => it.is_asleep,
            _ => false,
        };
        (self.step(), self.order(), is_start)
    }

    /// Returns the first collider of the event, from which the hit's normal points away, and the field for the hit.
    /// Returns `None` if the event has no colliders.
    pub(super) fn first_and_hit_mut(&mut self) -> Option<(ColliderHandle, &mut Option<Hit>)> {
        match self {
            Self::Collision(event) => Some((event.colliders[0], &mut event.hit)),
            Self::ContactForce(event) => Some((event.force.collider1, &mut event.hit)),
            _ => None,
        }
    }

    pub(super) fn hit_mut(&mut self) -> Option<&mut Hit> {
        self.first_and_hit_mut().and_then(|(_, hit)| hit.as_mut())
    }

    pub(super) fn hit(&self) -> Option<&Hit> {
        match self {
            Self::Collision(event) => event.hit.as_ref(),
            Self::ContactForce(event) => event.hit.as_ref(),
            _ => None,
        }
    }
}

/// The events of a frame, of the last step, or of one tick ([`in_step`](Self::in_step)). A loop over hits can remove
/// the bodies that were hit:
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::Simulation;
/// # use std::time::Duration;
/// # let mut simulation = Simulation::default();
/// # simulation.physics.insert(RigidBodyBuilder::fixed(), ColliderBuilder::capsule_x(5.0, 0.5));
/// let collider = ColliderBuilder::ball(0.5).active_events(ActiveEvents::COLLISION_EVENTS);
/// # let body = RigidBodyBuilder::dynamic().translation(Vector::Y);
/// let ball = simulation.physics.insert(body, collider);
/// simulation.advance(Duration::from_millis(20), |_, _| ());
/// for hit in simulation.events().collisions() {
///     assert!(hit.started && hit.bodies.contains(&Some(ball)));
///     simulation.physics.remove(ball);
/// }
/// // The next step reports that the removed body stopped touching, with its dead key.
/// simulation.advance(Duration::from_millis(20), |_, _| ());
/// let stopped = simulation.events().collisions().next().unwrap();
/// assert!(stopped.removed && stopped.bodies.contains(&Some(ball)));
/// ```
///
/// # Order
/// The order is the same in every run of the same steps, on any number of threads: by step, then collisions, contact
/// forces, tears, quarantined bodies, and sleep changes. Collisions and contact forces are ordered by the lower handle
/// of the two colliders, then by the higher one, tears by soft body, and the others by key.
#[derive(Clone)]
pub struct Events {
    all: SharedEvents,
    range: Range<usize>,
}

pub(crate) type SharedEvents = Arc<Vec<Event>>;

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.as_slice()).finish()
    }
}

impl Events {
    pub(crate) fn new(all: &SharedEvents) -> Self {
        Self {
            all: Arc::clone(all),
            range: 0..all.len(),
        }
    }

    /// Iterates over events of all kinds.
    pub fn iter(&self) -> impl Iterator<Item = Event> + Clone + use<> {
        self.select(|event| Some(event.clone()))
    }

    pub(crate) fn as_slice(&self) -> &[Event] {
        &self.all[self.range.clone()]
    }

    /// Returns the events of one step, or none if the step is not part of the frame.
    #[must_use]
    pub fn in_step(&self, tick: u64) -> Self {
        let start = self.range.start;
        // The indices count from the start of this frame's events, not of the shared list.
        let in_frame = range_of(self.as_slice(), tick..tick.saturating_add(1));
        Self {
            all: Arc::clone(&self.all),
            range: start + in_frame.start..start + in_frame.end,
        }
    }

    /// Iterates over collisions, both starts and stops.
    pub fn collisions(&self) -> impl Iterator<Item = Collision> + Clone + use<> {
        self.select(|event| match event {
            Event::Collision(event) => Some(*event),
            _ => None,
        })
    }

    /// Iterates over contact forces that exceeded their thresholds.
    pub fn contact_forces(&self) -> impl Iterator<Item = ContactForce> + Clone + use<> {
        self.select(|event| match event {
            Event::ContactForce(event) => Some(*event),
            _ => None,
        })
    }

    /// Iterates over tears of soft bodies.
    pub fn soft_body_tears(&self) -> impl Iterator<Item = SoftBodyTear> + Clone + use<> {
        self.select(|event| match event {
            Event::SoftBodyTear(event) => Some(event.clone()),
            _ => None,
        })
    }

    /// Iterates over bodies that Rapier disabled.
    pub fn quarantined(&self) -> impl Iterator<Item = Quarantined> + Clone + use<> {
        self.select(|event| match event {
            Event::Quarantined(event) => Some(*event),
            _ => None,
        })
    }

    /// Iterates over bodies that fell asleep or woke up.
    pub fn sleep_changes(&self) -> impl Iterator<Item = SleepChange> + Clone + use<> {
        self.select(|event| match event {
            Event::SleepChange(event) => Some(*event),
            _ => None,
        })
    }

    /// Iterates over the events for which `pick` returns a value. The iterator keeps them alive.
    fn select<T>(&self, pick: fn(&Event) -> Option<T>) -> impl Iterator<Item = T> + Clone + use<T> {
        let Self { all, range } = self.clone();
        range.filter_map(move |i| pick(&all[i]))
    }

    /// Returns the number of events of all kinds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Returns whether there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }
}

/// Empties a list, and keeps its memory. If somebody else still reads the list, replaces it with a new one instead.
pub(crate) fn clear_events(events: &mut SharedEvents) {
    match Arc::get_mut(events) {
        Some(events) => events.clear(),
        None => *events = SharedEvents::default(),
    }
}

/// Returns the range of these ticks among events sorted by tick. An empty range is where their events would belong.
fn range_of(events: &[Event], ticks: Range<u64>) -> Range<usize> {
    let before = |tick| events.partition_point(|event| event.step() < tick);
    before(ticks.start)..before(ticks.end.max(ticks.start))
}
