//! The previous and the current pose of every body by key, and the pose that a frame shows.

// How bodies are shown.
mod settings;
// Before and after a step.
mod steps;
// What a frame shows.
mod frames;
// What happened meanwhile.
mod counts;
// Another state in its place.
mod taken_over;
// Copies for another thread.
mod handed_over;

use slotmap::SecondaryMap;

use crate::key::BodyKey;
#[cfg(feature = "serde")]
use crate::key::Keys;
use crate::key_log::KeyLog;
use crate::step::World;
use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::math::{Pose, Real};

use super::correction::Correction;
use super::history::History;
use super::motion::{Pair, Smoothing, finite_velocity, moved_on};
use super::moving::Moving;

pub use counts::PoseCounts;

/// Poses by key.
///
/// Bodies are of two kinds. Those at rest cost nothing: one pose each, touched by nothing. Those
/// that move, or may have moved, are listed with the pair that a frame interpolates. A body comes
/// onto the list when it is inserted, when it is seen awake, and when the game may have changed it;
/// it leaves it once it is no longer awake and its last pose has been shown.
///
/// ```text
///   insert ───────> Moving { previous, current, shown } ──settled──> Resting(pose)
///                           ^                                           │
///                           └───────────── wake, edit ──────────────────┘
/// ```
///
/// A position that is not finite is never taken over: the last finite one stays.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Poses {
    bodies: SecondaryMap<BodyKey, Body>,
    moving: Moving,
    /// Of bodies without one of their own.
    smoothing: Smoothing,
    correction: Option<Correction>,
    history: History,
    /// The number of steps made when the pairs were taken: they are the states before and after the last of these.
    tick: u64,
    counts: PoseCounts,
    /// That of the last frame.
    alpha: f32,
    /// The bodies that came to rest, by frame.
    settled: KeyLog,
    /// How often a body was removed, or may have been.
    removals: u64,
    /// How often a body came, went, came to rest or onto the list of those that move.
    #[cfg_attr(feature = "serde", serde(skip))]
    changes: u64,
    /// Kept for its memory: indices of bodies that come to rest.
    #[cfg_attr(feature = "serde", serde(skip))]
    settling: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Body {
    place: Place,
    smoothing: Option<Smoothing>,
    is_corrected: bool,
    /// Of one at rest: where the list of those that moved had it.
    moved_at: u32,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
enum Place {
    Resting(Pose),
    /// The index in the lists of [`Moving`].
    Moving(usize),
}

/// # Bodies
impl Poses {
    /// `since` steps have been made when it is first shown.
    pub fn insert(&mut self, key: BodyKey, handle: RigidBodyHandle, pose: Pose, since: u64) {
        let moved_at = u32::MAX;
        let place = self.moving.push(key, handle, pose, moved_at);
        self.moving.report_next(place);
        let body = Body {
            place: Place::Moving(place),
            smoothing: None,
            is_corrected: true,
            moved_at,
        };
        self.bodies.insert(key, body);
        self.changes += 1;
        self.history.insert(key, since);
        self.settled.grow(self.bodies.len());
    }

    pub fn remove(&mut self, key: BodyKey) {
        self.removals += 1;
        self.changes += 1;
        self.history.remove(key);
        if let Some(Body {
            place: Place::Moving(place),
            ..
        }) = self.bodies.remove(key)
        {
            self.unlist(place);
        }
    }

    /// The game may have changed this body, which is at `position` now.
    pub fn look_at(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose, tick: u64) {
        let place = self.list(key, handle);
        self.moving.marks[place].has_trajectory = true;
        self.notice(key, handle, position, tick);
    }

    /// Any body may have another centre of mass from the next step on, or another smoothing.
    pub fn doubt_all(&mut self) {
        for marks in &mut self.moving.marks {
            marks.has_trajectory = true;
        }
    }

    /// If the body is elsewhere than where the last step left it, shows it there at once, not blended with where
    /// it was. `tick` steps have been made.
    ///
    /// Where the last step left one that moves is not known if the pairs are older than that: all of them are
    /// read before the next captured step.
    pub fn notice(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose, tick: u64) {
        let last = match self.bodies[key].place {
            Place::Moving(_) if self.is_outdated(tick) => return,
            Place::Moving(place) => self.moving.current[place],
            Place::Resting(pose) => pose,
        };
        if position.is_finite() && position != last {
            let place = self.displace(key, handle);
            self.moving.put(place, position, tick);
            self.counts.teleported += 1;
        }
    }

    /// Lists a body that is about to be put elsewhere.
    fn displace(&mut self, key: BodyKey, handle: RigidBodyHandle) -> usize {
        let place = self.list(key, handle);
        self.history
            .displace(key, self.tick, self.moving.pair(place));
        place
    }

    /// The body has been put to `position` after `tick` steps, to be shown there at once.
    pub fn teleport(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose, tick: u64) {
        if !position.is_finite() {
            return;
        }
        let place = self.displace(key, handle);
        self.moving.teleport(place, position, tick);
        self.counts.teleported += 1;
    }

    /// The body and its motion have been moved by an isometry of the world.
    pub fn teleport_by(&mut self, key: BodyKey, handle: RigidBodyHandle, by: &Pose) {
        self.transform(key, handle, by);
        self.counts.teleported += 1;
    }

    /// `teleport_by` of everything there is, which is not counted.
    pub fn transform_all(&mut self, world: &World, by: &Pose) {
        for (key, handle) in world.keys.iter() {
            self.transform(key, handle, by);
        }
    }

    fn transform(&mut self, key: BodyKey, handle: RigidBodyHandle, by: &Pose) {
        let place = self.list(key, handle);
        let moving = &mut self.moving;
        let current = by * moving.current[place];
        if !current.is_finite() {
            return;
        }
        // Beyond all numbers there is nothing to come from.
        let or_current = |pose: Pose| if pose.is_finite() { pose } else { current };
        moving.previous[place] = or_current(by * moving.previous[place]);
        moving.current[place] = current;
        moving.turn(place, by.rotation);
        moving.show_at(place, or_current(by * moving.shown[place]));
        self.history.transform(key, by);
    }

    /// Sets the previous pose to the one that the body would have had a step before, by its velocity.
    pub fn set_previous_from_velocity(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        body: &RigidBody,
        max_linear_velocity: Real,
        dt: Real,
    ) {
        let place = self.list(key, handle);
        self.moving.marks[place].has_trajectory = true;
        let center = body.mass_properties().local_mprops.local_com;
        let (position, velocity) = (body.position(), finite_velocity(body));
        let previous = moved_on(position, &velocity, center, -dt);
        if position.is_finite() && previous.is_finite() {
            let smoothing = self.smoothing_of(key);
            let moving = &mut self.moving;
            moving.previous[place] = previous;
            moving.current[place] = *position;
            moving.trajectories[place].begin(body, max_linear_velocity, dt, self.tick);
            moving.trajectories[place].end(body, smoothing, dt);
            self.history.push(key, self.tick, self.moving.pair(place));
            self.counts.set_from_velocity += 1;
        }
    }
}

/// # Reading
#[cfg(feature = "serde")]
impl Poses {
    /// Whether a body is known here, and where it is said to be.
    pub fn has(&self, key: BodyKey, handle: RigidBodyHandle) -> bool {
        self.bodies.get(key).is_some_and(|body| match body.place {
            Place::Resting(pose) => pose.is_finite(),
            Place::Moving(place) => {
                self.moving.keys.get(place) == Some(&key)
                    && self.moving.handles.get(place) == Some(&handle)
            }
        })
    }

    /// Whether the lists are those of bodies with keys, and of one length.
    pub fn is_consistent(&self, keys: &Keys) -> bool {
        let places = self.bodies.values().map(|body| body.place);
        let moving = places.filter(|place| matches!(place, Place::Moving(_)));
        self.bodies.len() == keys.iter().count() && self.moving.is_consistent(moving.count())
    }
}

/// # Places in the lists
impl Poses {
    /// Puts a body onto the list of those that move, if it is not there.
    fn list(&mut self, key: BodyKey, handle: RigidBodyHandle) -> usize {
        let body = &mut self.bodies[key];
        match body.place {
            Place::Moving(place) => place,
            Place::Resting(pose) => {
                let place = self.moving.push(key, handle, pose, body.moved_at);
                body.place = Place::Moving(place);
                self.changes += 1;
                self.history.push(key, self.tick, Pair::at_rest(pose));
                place
            }
        }
    }

    /// Takes a body off the list. Of the others, at most two change their places.
    fn unlist(&mut self, mut place: usize) {
        if place < self.moving.awake {
            self.moving.awake -= 1;
            let last_awake = self.moving.awake;
            self.moving.swap(place, last_awake);
            self.repair(place);
            place = last_awake;
        }
        self.moving.swap_remove(place);
        self.repair(place);
    }

    fn swap(&mut self, one: usize, other: usize) {
        if one != other {
            self.moving.swap(one, other);
            self.repair(one);
            self.repair(other);
        }
    }

    /// Another body has come to `place`: writes that to its key, unless that is gone.
    fn repair(&mut self, place: usize) {
        if let Some(key) = self.moving.keys.get(place)
            && let Some(body) = self.bodies.get_mut(*key)
        {
            body.place = Place::Moving(place);
        }
    }
}
