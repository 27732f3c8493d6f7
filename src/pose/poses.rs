//! The previous and the current pose of every body by key, and the pose that a frame shows.

use std::time::Duration;

use slotmap::SecondaryMap;

use crate::key::BodyKey;
#[cfg(feature = "serde")]
use crate::key::Keys;
use crate::key_log::KeyLog;
#[cfg(feature = "threads")]
use crate::rapier::dynamics::RigidBodySet;
use crate::rapier::dynamics::{RigidBody, RigidBodyHandle};
use crate::rapier::math::{Pose, Real};
use crate::step::World;

use super::correction::{Correction, shown_with};
use super::history::History;
use super::motion::{Pair, Smoothing, finite_velocity, moved_on};
use super::moving::Moving;
#[cfg(feature = "threads")]
use super::screen::Onward;

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

/// For how many frames a screen is told of bodies that came to rest. One that was away for longer looks at all.
#[cfg(feature = "threads")]
const SETTLED_FRAMES: u64 = 256;

/// What happened to poses since the last frame: a part of [`Frame`](crate::Frame).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct PoseCounts {
    /// Bodies that this frame processed: those that moved, or might have. All others cost nothing.
    pub movers: usize,
    /// Bodies that came to rest, with their final pose shown in this frame, and those that the game
    /// may have changed and that did not move: the next frame does not process them.
    pub settled: usize,
    /// The number of teleports since the frame before: by
    /// [`Simulation::teleport`](crate::Simulation::teleport),
    /// [`Simulation::teleport_by`](crate::Simulation::teleport_by), or a position set through Rapier.
    /// Among the steps of one frame only the first two are noticed.
    pub teleported: usize,
    /// Calls of
    /// [`Simulation::set_previous_from_velocity`](crate::Simulation::set_previous_from_velocity) since the
    /// frame before that had an effect so far.
    pub set_from_velocity: usize,
    /// Bodies that are shown beyond their last state: [`Smoothing::Extrapolate`].
    pub extrapolated: usize,
    /// Bodies that are shown with a visual error, after a rollback: see
    /// [`Simulation::set_correction`](crate::Simulation::set_correction).
    pub corrected: usize,
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
    /// Gives whether it was put elsewhere.
    pub fn look_at(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        position: Pose,
        tick: u64,
    ) -> bool {
        let place = self.list(key, handle);
        self.moving.marks[place].has_trajectory = true;
        self.notice(key, handle, position, tick)
    }

    /// Any body may have another centre of mass from the next step on, or another smoothing.
    pub fn doubt_all(&mut self) {
        for marks in &mut self.moving.marks {
            marks.has_trajectory = true;
        }
    }

    /// If the body is elsewhere than where the last step left it, shows it there at once, not blended with where
    /// it was. `tick` steps have been made. Gives whether it is.
    ///
    /// Where the last step left one that moves is not known if the pairs are older than that: all of them are
    /// read before the next captured step.
    pub fn notice(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        position: Pose,
        tick: u64,
    ) -> bool {
        let last = match self.bodies[key].place {
            Place::Moving(_) if self.is_outdated(tick) => return false,
            Place::Moving(place) => self.moving.current[place],
            Place::Resting(pose) => pose,
        };
        let is_elsewhere = position.is_finite() && position != last;
        if is_elsewhere {
            let place = self.displace(key, handle);
            self.moving.put(place, position, tick);
            self.counts.teleported += 1;
        }
        is_elsewhere
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

/// # Settings
impl Poses {
    pub fn smoothing(&self) -> Smoothing {
        self.smoothing
    }

    pub fn set_smoothing(&mut self, smoothing: Smoothing) {
        self.smoothing = smoothing;
        self.doubt_all();
    }

    /// `None` if the body has none of its own.
    pub fn body_smoothing(&self, key: BodyKey) -> Option<Smoothing> {
        self.bodies.get(key)?.smoothing
    }

    /// `None`: as the others.
    pub fn set_body_smoothing(&mut self, key: BodyKey, smoothing: Option<Smoothing>) {
        let body = &mut self.bodies[key];
        body.smoothing = smoothing;
        if let Place::Moving(place) = body.place {
            self.moving.marks[place].has_trajectory = true;
        }
    }

    pub fn correction(&self) -> Option<Correction> {
        self.correction
    }

    pub fn set_correction(&mut self, correction: Option<Correction>) {
        self.correction = correction;
    }

    pub fn set_body_correction(&mut self, key: BodyKey, is_on: bool) {
        self.bodies[key].is_corrected = is_on;
        if let (false, Place::Moving(place)) = (is_on, self.bodies[key].place) {
            self.moving.set_error(place, None);
        }
    }

    fn smoothing_of(&self, key: BodyKey) -> Smoothing {
        self.bodies[key].smoothing.unwrap_or(self.smoothing)
    }

    /// Keeps so many states of each body; `tick` steps have been made.
    pub fn set_history(&mut self, states: usize, tick: u64) {
        self.history.set_len(states, self.bodies.keys(), tick);
        if !self.is_outdated(tick) {
            self.keep_pairs();
        }
    }

    /// Whether every step is to be captured, not just the last of a frame.
    pub fn keeps_history(&self) -> bool {
        self.history.is_kept()
    }

    /// How many states are kept of each body.
    pub fn history_len(&self) -> usize {
        self.history.states()
    }

    /// Steps have another number from now on: what was kept by the old ones is forgotten.
    pub fn set_tick(&mut self, tick: u64) {
        let states = self.history.states();
        self.history.forget_ticks();
        for trajectory in &mut self.moving.trajectories {
            trajectory.set_tick(self.tick, tick);
        }
        self.tick = tick;
        self.set_history(states, tick);
    }
}

/// # Steps
impl Poses {
    fn is_outdated(&self, tick: u64) -> bool {
        self.tick != tick
    }

    /// Right before a step that is captured, when `tick` have been made: where is every body that is about to
    /// move?
    ///
    /// If no step was made since the last capture, all that were awake after it are where it left them, but
    /// for those that were [noticed](Self::notice) elsewhere.
    pub fn begin_step(&mut self, world: &World, tick: u64, dt: Real) {
        let mut known = self.moving.awake;
        if self.is_outdated(tick) {
            self.align_awake(world);
            known = 0;
        }
        self.moving.begin_step(world, known, dt, tick);
    }

    /// Right after a step that is captured, by which `tick` have been made: where has it led?
    pub fn end_step(&mut self, world: &World, tick: u64, dt: Real) {
        self.align_awake(world);
        self.moving.end_step(world);
        for place in 0..self.moving.keys.len() {
            if self.moving.marks[place].has_trajectory {
                self.end_trajectory(place, world, dt);
            }
        }
        self.tick = tick;
        self.history.end_step();
        if self.history.is_kept() {
            self.keep_pairs();
        }
    }

    fn keep_pairs(&mut self) {
        for (place, key) in self.moving.keys.iter().enumerate() {
            self.history.push(*key, self.tick, self.moving.pair(place));
        }
    }

    fn end_trajectory(&mut self, place: usize, world: &World, dt: Real) {
        let smoothing = self.smoothing_of(self.moving.keys[place]);
        if let Some(body) = world.physics.bodies.get(self.moving.handles[place]) {
            let trajectory = &mut self.moving.trajectories[place];
            trajectory.end(body, smoothing, dt);
            self.moving.marks[place].has_trajectory = !trajectory.is_plain();
        }
    }

    /// After a step that is not captured: a body that wakes and falls asleep again before the next
    /// one is not missed.
    pub fn skip_step(&mut self, world: &World) {
        self.align_awake(world);
    }

    /// Brings all awake bodies to the front of the lists, in Rapier's order.
    fn align_awake(&mut self, world: &World) {
        let mut place = 0;
        for handle in world.physics.islands.active_bodies() {
            if self.moving.handles.get(place) != Some(&handle) {
                // Out of line, just woken, or without a key.
                let Some(key) = world.keys.key(handle) else {
                    continue;
                };
                let listed = self.list(key, handle);
                self.swap(place, listed);
            }
            place += 1;
        }
        self.moving.awake = place;
    }

    /// Shows the latest positions and forgets those before: for a frame that was ended before its last
    /// step. `tick` steps have been made.
    pub fn resync(&mut self, world: &World, tick: u64) {
        self.align_awake(world);
        self.moving.begin_step(world, 0, 0.0, tick);
        self.tick = tick;
        self.history.end_step();
        for place in 0..self.moving.keys.len() {
            self.moving.stand(place);
        }
    }
}

/// # Frames
impl Poses {
    /// Makes the poses that this frame shows, and the list of those that differ from the last
    /// frame's. Gives what happened since then.
    pub fn show(&mut self, alpha: f32, world: &World, frame: u64, elapsed: Duration) -> PoseCounts {
        self.alpha = alpha;
        self.moving.decay(self.correction.as_ref(), elapsed);
        self.counts.corrected = self.moving.errors_len();
        self.counts.movers = self.moving.keys.len();
        self.counts.extrapolated = self.moving.show(alpha);
        self.settle(world, frame);
        std::mem::take(&mut self.counts)
    }

    /// Lets the bodies rest that are no longer awake, and whose last pose is shown.
    fn settle(&mut self, world: &World, frame: u64) {
        let moving = &self.moving;
        let asleep = moving.awake..moving.keys.len();
        let settled = asleep.filter(|place| moving.is_settled(*place, world));
        self.settling.extend(settled);
        self.counts.settled = self.settling.len();
        let mut settling = std::mem::take(&mut self.settling);
        // From the last to the first, so that the body swapped into the gap is never one of them.
        for place in settling.drain(..).rev() {
            self.changes += 1;
            let (key, pose) = (self.moving.keys[place], self.moving.current[place]);
            let body = &mut self.bodies[key];
            body.place = Place::Resting(pose);
            body.moved_at = self.moving.marks[place].moved_at;
            self.settled.push(frame, key);
            self.unlist(place);
        }
        self.settling = settling;
    }

    /// Poses that differ from those of the frame before.
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        &self.moving.moved
    }

    /// The bodies that may be shown elsewhere than in an earlier frame; `None` if that is too long ago.
    pub fn moved_since(&self, frame: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>> {
        let settled = self.settled.since(frame)?;
        let moving = self.moving.keys.iter().copied();
        let keys = settled.chain(moving);
        Some(keys.filter_map(|key| Some((key, self.shown(key)?))))
    }

    /// Becomes a copy for a [`Screen`](super::screen::Screen) of poses that go on changing, those of `frame`, with
    /// nothing that a screen does not ask for. What it was before is earlier poses of the same simulation, or none.
    ///
    /// It takes no memory but where there is more to copy than before, and of bodies at rest as long as they rest
    /// it takes nothing at all.
    #[cfg(feature = "threads")]
    pub fn copy_shown(&mut self, of: &Self, frame: u64) {
        if (self.changes, self.bodies.len()) != (of.changes, of.bodies.len()) {
            self.bodies.clone_from(&of.bodies);
        }
        self.changes = of.changes;
        self.removals = of.removals;
        let since = frame.saturating_sub(SETTLED_FRAMES);
        self.settled.copy_since(&of.settled, since);
        self.copy_moving(&of.moving);
    }

    #[cfg(feature = "threads")]
    fn copy_moving(&mut self, of: &Moving) {
        let moving = &mut self.moving;
        moving.keys.clone_from(&of.keys);
        moving.previous.clone_from(&of.previous);
        moving.current.clone_from(&of.current);
        moving.marks.clone_from(&of.marks);
        // They are read of bodies that are special in any way, by fours.
        if of.marks.iter().any(|marks| marks.is_special()) {
            moving.trajectories.clone_from(&of.trajectories);
        }
        if of.errors_len() > 0 {
            // The marks say which of those that are here already still count.
            for place in 0..of.keys.len() {
                if let Some(error) = of.error(place) {
                    moving.set_error(place, Some(*error));
                }
            }
        }
    }

    /// How all that move go on from the last state, in the order of [`poses_at`](Self::poses_at).
    #[cfg(feature = "threads")]
    pub fn onward(&self, bodies: &RigidBodySet, onward: &mut Vec<Onward>) {
        let moving = self.moving.keys.iter().zip(&self.moving.handles);
        let goes_on = |(key, handle): (&BodyKey, &RigidBodyHandle)| {
            let is_latest = self.smoothing_of(*key) == Smoothing::Latest;
            let body = bodies.get(*handle).filter(|_| !is_latest);
            body.map_or(Onward::default(), Onward::of)
        };
        onward.clear();
        onward.extend(moving.map(goes_on));
    }

    /// Poses at `alpha` of all that move.
    #[cfg(feature = "threads")]
    pub fn poses_at(&self, alpha: f32, poses: &mut Vec<Pose>) {
        self.moving.poses_at(alpha, poses);
    }

    /// For a [`Screen`](super::screen::Screen) that has shown what was there in `frame`: all that move, with these
    /// poses, then all that came to rest since, each perhaps twice. `None`: all that rest.
    #[cfg(feature = "threads")]
    pub fn poses_since<'a>(
        &'a self,
        frame: Option<u64>,
        moving: &'a [Pose],
    ) -> impl Iterator<Item = (BodyKey, Pose)> + 'a {
        let moving = self.moving.keys.iter().copied().zip(moving.iter().copied());
        let settled = frame.and_then(|frame| self.settled.since(frame));
        let is_forgotten = settled.is_none();
        let settled = settled.into_iter().flatten();
        let all = self.bodies.keys().filter(move |_| is_forgotten);
        let resting = settled
            .chain(all)
            .filter_map(|key| match self.bodies.get(key)?.place {
                Place::Resting(pose) => Some((key, pose)),
                Place::Moving(_) => None,
            });
        moving.chain(resting)
    }

    #[cfg(feature = "threads")]
    pub fn contains(&self, key: BodyKey) -> bool {
        self.bodies.contains_key(key)
    }

    /// Counts up when a body is removed.
    #[cfg(feature = "threads")]
    pub fn removals(&self) -> u64 {
        self.removals
    }

    /// The pose that this frame shows.
    pub fn shown(&self, key: BodyKey) -> Option<Pose> {
        Some(match self.bodies.get(key)?.place {
            Place::Resting(pose) => pose,
            Place::Moving(place) => self.moving.shown[place],
        })
    }

    /// The last two states.
    pub fn pair(&self, key: BodyKey) -> Option<Pair> {
        Some(match self.bodies.get(key)?.place {
            Place::Resting(pose) => Pair::at_rest(pose),
            Place::Moving(place) => self.moving.pair(place),
        })
    }

    /// The states before and after the step that was the `tick`-th.
    pub fn pair_at(&self, key: BodyKey, tick: u64) -> Option<Pair> {
        let last = self.pair(key)?;
        if tick == self.tick {
            return Some(self.history.displaced(key).unwrap_or(last));
        }
        self.history.at(key, tick, self.tick, last.previous)
    }

    /// The number of bodies that are looked at in each frame.
    #[cfg(test)]
    pub fn moving_len(&self) -> usize {
        self.moving.keys.len()
    }
}

/// # Another state
impl Poses {
    /// These take the place of `left`, of a state that was left: what is shown, reported and set goes on from there.
    /// `tick` steps have been made.
    pub fn take_over(&mut self, mut left: Self, world: &World, tick: u64, is_smooth: bool) {
        if self.is_outdated(tick) {
            self.resync(world, tick);
        }
        self.smoothing = left.smoothing;
        self.correction = left.correction;
        self.alpha = left.alpha;
        if self.history_len() != left.history_len() {
            self.set_history(left.history_len(), tick);
        }
        for (key, handle) in world.keys.iter() {
            let Some(body) = self.bodies.get_mut(key) else {
                continue;
            };
            let Some(was) = left.bodies.get(key) else {
                let place = self.list(key, handle);
                self.moving.report_next(place);
                continue;
            };
            (body.smoothing, body.is_corrected) = (was.smoothing, was.is_corrected);
            if let (Place::Resting(pose), Place::Resting(shown)) = (body.place, was.place)
                && pose == shown
            {
                body.moved_at = was.moved_at;
            } else {
                let place = self.list(key, handle);
                self.resume(place, was, &left.moving, is_smooth);
            }
        }
        self.counts = left.counts;
        self.moving.moved = std::mem::take(&mut left.moving.moved);
        self.settled = left.settled;
        self.settled.grow(self.bodies.len());
        self.removals = left.removals + 1;
        self.changes = left.changes + 1;
    }

    /// What is shown of a body goes on from what was shown of it.
    fn resume(&mut self, place: usize, was: &Body, left: &Moving, is_smooth: bool) {
        let (shown, pair, error, marks) = match was.place {
            Place::Resting(pose) => (pose, Pair::at_rest(pose), None, None),
            Place::Moving(place) => {
                let (shown, marks) = (left.shown[place], left.marks[place]);
                (shown, left.pair(place), left.error(place), Some(marks))
            }
        };
        let moved_at = marks.map_or(was.moved_at, |marks| marks.moved_at);
        self.moving.resume(place, shown, marks, moved_at);
        let was_at = pair.at(self.alpha);
        let was_at = error.map_or(was_at, |error| shown_with(error, &was_at));
        let now_at = self.moving.pair(place).at(self.alpha);
        let correction = self.correction.filter(|_| is_smooth && was.is_corrected);
        let error = correction.and_then(|correction| correction.error(&was_at, &now_at));
        self.moving.set_error(place, error);
    }

    /// How far off its place a body is shown.
    pub fn error(&self, key: BodyKey) -> Option<Pose> {
        match self.bodies.get(key)?.place {
            Place::Resting(_) => None,
            Place::Moving(place) => self.moving.error(place).copied(),
        }
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
