//! The previous and the current pose of every body that moves, and the pose that a frame shows.

use rapier3d::dynamics::{RigidBody, RigidBodyHandle};
use rapier3d::math::Pose;
use slotmap::SecondaryMap;

use crate::history::History;
use crate::key::BodyKey;
use crate::motion::{Course, Pair, Smoothing, finite_velocity, moved_on};
use crate::slerp::interpolate_all;
use crate::world::World;

/// Poses by key.
///
/// Bodies are of two kinds. Those at rest cost nothing: one pose each, touched by nothing. Those
/// that move, or may have moved, are listed with the pair that a frame interpolates. A body comes
/// onto the list when it is inserted, when it is seen awake, and when the game gets hold of it;
/// it leaves it once it is no longer awake and its last pose has been shown.
///
/// ```text
///   insert ───────> Moving { previous, current, shown } ──settled──> Resting(pose)
///                           ^                                           │
///                           └───────────── wake, get_mut ───────────────┘
/// ```
///
/// A position that is not finite is never taken over: the last finite one stays.
#[derive(Clone, Debug)]
pub(crate) struct Poses {
    bodies: SecondaryMap<BodyKey, Body>,
    moving: Moving,
    /// Of bodies without one of their own.
    smoothing: Smoothing,
    history: History,
    /// The number of steps made when the pairs were taken: they lead from the one before to it.
    tick: u64,
    /// Whether a step was made since the pairs were taken.
    is_outdated: bool,
    /// Bodies that the game got hold of since the last `begin_step`.
    touched: Vec<BodyKey>,
    /// What this frame shows otherwise than the frame before.
    moved: Vec<(BodyKey, Pose)>,
    counts: Counts,
    /// Kept for its memory: indices of bodies that come to rest.
    settled: Vec<usize>,
}

/// What happened to poses since the last frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub pairs: usize,
    pub settled: usize,
    pub teleported: usize,
    pub primed: usize,
    pub extrapolated: usize,
}

#[derive(Clone, Copy, Debug)]
struct Body {
    place: Place,
    smoothing: Option<Smoothing>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Resting(Pose),
    /// The index in the lists of [`Moving`].
    Moving(usize),
}

/// The bodies that move: lists with one entry a body, all in the same order.
///
/// First those that were awake after the last step, in the order in which Rapier lists them: to go
/// through both at once takes no look-up.
#[derive(Clone, Debug, Default)]
struct Moving {
    handles: Vec<RigidBodyHandle>,
    keys: Vec<BodyKey>,
    previous: Vec<Pose>,
    current: Vec<Pose>,
    /// What this frame shows.
    shown: Vec<Pose>,
    marks: Vec<Marks>,
    /// Used where `marks` says so.
    courses: Vec<Course>,
    /// What the next frame shows, while it is made.
    next_shown: Vec<Pose>,
    /// How many were awake.
    awake: usize,
}

#[derive(Clone, Copy, Debug)]
struct Marks {
    /// `shown` is still to be told to the host.
    is_untold: bool,
    /// It takes more than the two poses to tell what is shown between; or it may: what Rapier makes of a
    /// body's mass, and whether that is about its origin, is only known after the next step.
    has_course: bool,
    /// It was listed after the last captured step had begun.
    is_unread: bool,
}

impl Poses {
    pub fn new() -> Self {
        Self {
            bodies: SecondaryMap::new(),
            moving: Moving::default(),
            smoothing: Smoothing::default(),
            history: History::default(),
            tick: 0,
            is_outdated: false,
            touched: Vec::new(),
            moved: Vec::new(),
            counts: Counts::default(),
            settled: Vec::new(),
        }
    }

    pub fn insert(&mut self, key: BodyKey, handle: RigidBodyHandle, pose: Pose) {
        let place = Place::Moving(self.moving.push(key, handle, pose, true));
        let smoothing = None;
        self.bodies.insert(key, Body { place, smoothing });
        self.history.insert(key, self.tick);
    }

    pub fn remove(&mut self, key: BodyKey) {
        self.history.remove(key);
        if let Some(Body {
            place: Place::Moving(place),
            ..
        }) = self.bodies.remove(key)
        {
            self.unlist(place);
        }
    }

    pub fn smoothing(&self) -> Smoothing {
        self.smoothing
    }

    pub fn set_smoothing(&mut self, smoothing: Smoothing) {
        self.smoothing = smoothing;
        self.doubt();
    }

    /// Any body may have another centre of mass from the next step on, or another smoothing.
    pub fn doubt(&mut self) {
        for marks in &mut self.moving.marks {
            marks.has_course = true;
        }
    }

    /// `None`: as the others.
    pub fn set_smoothing_of(&mut self, key: BodyKey, smoothing: Option<Smoothing>) {
        let body = &mut self.bodies[key];
        body.smoothing = smoothing;
        if let Place::Moving(place) = body.place {
            self.moving.marks[place].has_course = true;
        }
    }

    /// Keeps so many states of each body; `tick` steps have been made.
    pub fn set_history(&mut self, states: usize, tick: u64) {
        self.history.set_len(states, self.bodies.keys(), tick);
        if !self.is_outdated {
            self.keep_pairs();
        }
    }

    /// Whether every step is to be captured, not just the last of a frame.
    pub fn keeps_history(&self) -> bool {
        self.history.is_kept()
    }

    /// The game may change this body: look at it in the next frame.
    pub fn touch(&mut self, key: BodyKey, handle: RigidBodyHandle) {
        let place = self.list(key, handle);
        self.moving.marks[place].has_course = true;
        self.touched.push(key);
    }

    /// The body has been put to `position`: show it there, without a way from where it was.
    fn snap(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose) -> usize {
        let place = self.list(key, handle);
        self.moving.previous[place] = position;
        self.moving.current[place] = position;
        self.moving.courses[place].stand();
        self.counts.teleported += 1;
        place
    }

    /// `snap`, at once and not only in the next frame.
    pub fn teleport(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose) {
        let place = self.snap(key, handle, position);
        self.moving.show_at(place, position);
    }

    /// The body and its way have been moved by an isometry of the world.
    pub fn teleport_by(&mut self, key: BodyKey, handle: RigidBodyHandle, by: &Pose) {
        self.transform(key, handle, by);
        self.counts.teleported += 1;
    }

    /// `teleport_by` of everything there is, which is not counted.
    pub fn transform_all(&mut self, world: &World, by: &Pose) {
        for (key, handle) in world.keys.iter() {
            self.transform(key, handle, by);
        }
        // A host that has not taken over this frame's poses yet.
        for (_, pose) in &mut self.moved {
            *pose = by * *pose;
        }
    }

    fn transform(&mut self, key: BodyKey, handle: RigidBodyHandle, by: &Pose) {
        let place = self.list(key, handle);
        let moving = &mut self.moving;
        let (previous, current) = (by * moving.previous[place], by * moving.current[place]);
        if !(previous.is_finite() && current.is_finite()) {
            return;
        }
        moving.previous[place] = previous;
        moving.current[place] = current;
        moving.courses[place].turn(by.rotation);
        moving.show_at(place, by * moving.shown[place]);
        self.history.transform(key, by);
    }

    /// Gives a body that has no way behind it that of a step at its velocity.
    pub fn prime(&mut self, key: BodyKey, handle: RigidBodyHandle, body: &RigidBody, dt: f32) {
        let place = self.list(key, handle);
        let center = body.mass_properties().local_mprops.local_com;
        let (position, velocity) = (body.position(), finite_velocity(body));
        let previous = moved_on(position, &velocity, center, -dt);
        if position.is_finite() && previous.is_finite() {
            let smoothing = self.smoothing_of(key);
            let moving = &mut self.moving;
            moving.previous[place] = previous;
            moving.current[place] = *position;
            moving.courses[place].begin(body);
            moving.courses[place].end(body, smoothing, dt);
            self.history.push(key, self.tick, self.moving.pair(place));
            self.counts.primed += 1;
        }
    }

    fn smoothing_of(&self, key: BodyKey) -> Smoothing {
        self.bodies[key].smoothing.unwrap_or(self.smoothing)
    }

    /// Looks whether the body is elsewhere than where the last step left it, and snaps it there.
    ///
    /// Of one that moves, and has made a step since, that is not known: it is looked at anew before
    /// the next captured step.
    pub fn notice(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose) {
        let last = match self.bodies[key].place {
            Place::Moving(_) if self.is_outdated => return,
            Place::Moving(place) => self.moving.current[place],
            Place::Resting(pose) => pose,
        };
        if position.is_finite() && position != last {
            self.snap(key, handle, position);
        }
    }

    /// Right before a step that is captured: where is every body that is about to move?
    ///
    /// If no step was made since the last capture, all that are awake are where it left them, but
    /// for those that the game got hold of.
    pub fn begin_step(&mut self, world: &World) {
        let mut unseen = 0;
        if self.is_outdated {
            self.touched.clear();
            self.align_awake(world);
        } else {
            self.notice_touched(world);
            unseen = self.moving.awake;
        }
        self.is_outdated = true;
        let moving = &mut self.moving;
        std::mem::swap(&mut moving.previous, &mut moving.current);
        // All, or new ones, those that the game got hold of, and those that fell asleep before this step.
        for place in unseen..moving.keys.len() {
            let position = moving.position(place, world, moving.previous[place]);
            moving.previous[place] = position;
            moving.current[place] = position;
        }
        moving.begin_courses(world);
    }

    /// Right after a step that is captured, by which `tick` have been made: where has it led?
    pub fn end_step(&mut self, world: &World, tick: u64, dt: f32) {
        self.align_awake(world);
        let moving = &mut self.moving;
        let awake = moving.handles[..moving.awake].iter();
        for (handle, current) in awake.zip(&mut moving.current) {
            // Rapier has just seen to it that this is finite.
            *current = *world.physics.bodies[*handle].position();
        }
        // Also those that fell asleep in this very step, which may still have moved them.
        for place in moving.awake..moving.keys.len() {
            moving.current[place] = moving.position(place, world, moving.previous[place]);
        }
        for place in 0..moving.keys.len() {
            if self.moving.marks[place].has_course {
                self.end_course(place, world, dt);
            }
        }
        self.tick = tick;
        self.is_outdated = false;
        if self.history.is_kept() {
            self.keep_pairs();
        }
    }

    fn keep_pairs(&mut self) {
        for (place, key) in self.moving.keys.iter().enumerate() {
            self.history.push(*key, self.tick, self.moving.pair(place));
        }
    }

    fn end_course(&mut self, place: usize, world: &World, dt: f32) {
        let smoothing = self.smoothing_of(self.moving.keys[place]);
        if let Some(body) = world.physics.bodies.get(self.moving.handles[place]) {
            let course = &mut self.moving.courses[place];
            course.end(body, smoothing, dt);
            let marks = &mut self.moving.marks[place];
            if marks.is_unread {
                course.begin_as_it_ended();
            }
            marks.is_unread = false;
            marks.has_course = !course.is_plain();
        }
    }

    /// After a step that is not captured: a body that wakes and falls asleep again before the next
    /// one is not missed.
    pub fn skip_step(&mut self, world: &World) {
        self.is_outdated = true;
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

    /// Shows the latest positions and forgets the way to them: for a frame that broke off.
    /// `tick` steps have been made.
    pub fn resync(&mut self, world: &World, tick: u64) {
        self.is_outdated = true;
        self.begin_step(world);
        self.is_outdated = false;
        self.tick = tick;
        for course in &mut self.moving.courses {
            course.stand();
        }
    }

    /// Notices what the game did since the last step to bodies that it got hold of.
    pub fn notice_touched(&mut self, world: &World) {
        let mut touched = std::mem::take(&mut self.touched);
        for key in touched.drain(..) {
            if let Some(handle) = world.handle(key)
                && let Some(position) = world.position(handle)
            {
                self.notice(key, handle, position);
            }
        }
        self.touched = touched;
    }

    /// Makes the poses that this frame shows, and the list of those that differ from the last
    /// frame's. Tells what happened since then.
    pub fn show(&mut self, alpha: f32) -> Counts {
        self.moved.clear();
        let moving = &mut self.moving;
        moving.next_shown.resize(moving.keys.len(), Pose::IDENTITY);
        let (previous, current) = (&moving.previous, &moving.current);
        interpolate_all(previous, current, alpha, &mut moving.next_shown);
        for place in 0..moving.keys.len() {
            let marks = &mut moving.marks[place];
            if marks.has_course {
                let course = &moving.courses[place];
                let (previous, current) = (&moving.previous[place], &moving.current[place]);
                let plain = moving.next_shown[place];
                moving.next_shown[place] = course.at(previous, current, alpha, || plain);
                self.counts.extrapolated += usize::from(course.goes_beyond(alpha));
            }
            let pose = moving.next_shown[place];
            if pose != moving.shown[place] || marks.is_untold {
                self.moved.push((moving.keys[place], pose));
                marks.is_untold = false;
            }
        }
        std::mem::swap(&mut moving.shown, &mut moving.next_shown);
        self.counts.pairs = moving.keys.len();
        self.settle();
        std::mem::take(&mut self.counts)
    }

    /// Lets the bodies rest that are no longer awake, and whose last pose is shown.
    fn settle(&mut self) {
        let moving = &self.moving;
        let is_settled = |place: &usize| {
            let current = moving.current[*place];
            !moving.marks[*place].is_unread
                && moving.previous[*place] == current
                && moving.shown[*place] == current
        };
        let asleep = moving.awake..moving.keys.len();
        self.settled.extend(asleep.filter(is_settled));
        self.counts.settled = self.settled.len();
        let mut settled = std::mem::take(&mut self.settled);
        // From the last to the first, so that the body swapped into the gap is never one of them.
        for place in settled.drain(..).rev() {
            let pose = self.moving.current[place];
            self.bodies[self.moving.keys[place]].place = Place::Resting(pose);
            self.unlist(place);
        }
        self.settled = settled;
    }

    /// Poses that differ from those of the frame before.
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        &self.moved
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
            return Some(last);
        }
        self.history.at(key, tick, self.tick, last.previous)
    }

    /// The number of bodies that are looked at in each frame.
    #[cfg(test)]
    pub fn moving_len(&self) -> usize {
        self.moving.keys.len()
    }

    /// Puts a body onto the list of those that move, if it is not there.
    fn list(&mut self, key: BodyKey, handle: RigidBodyHandle) -> usize {
        let body = &mut self.bodies[key];
        match body.place {
            Place::Moving(place) => place,
            Place::Resting(pose) => {
                let place = self.moving.push(key, handle, pose, false);
                body.place = Place::Moving(place);
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

    /// Another body has come to `place`: lets its key know, unless that is gone.
    fn repair(&mut self, place: usize) {
        if let Some(key) = self.moving.keys.get(place)
            && let Some(body) = self.bodies.get_mut(*key)
        {
            body.place = Place::Moving(place);
        }
    }
}

impl Moving {
    fn push(&mut self, key: BodyKey, handle: RigidBodyHandle, pose: Pose, is_new: bool) -> usize {
        self.handles.push(handle);
        self.keys.push(key);
        self.previous.push(pose);
        self.current.push(pose);
        self.shown.push(pose);
        self.marks.push(Marks {
            is_untold: is_new,
            has_course: true,
            is_unread: true,
        });
        self.courses.push(Course::default());
        self.keys.len() - 1
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.handles.swap(one, other);
        self.keys.swap(one, other);
        self.previous.swap(one, other);
        self.current.swap(one, other);
        self.shown.swap(one, other);
        self.marks.swap(one, other);
        self.courses.swap(one, other);
    }

    fn swap_remove(&mut self, place: usize) {
        self.handles.swap_remove(place);
        self.keys.swap_remove(place);
        self.previous.swap_remove(place);
        self.current.swap_remove(place);
        self.shown.swap_remove(place);
        self.marks.swap_remove(place);
        self.courses.swap_remove(place);
    }

    /// Where Rapier has the body, if that is finite; `last` if not.
    fn position(&self, place: usize, world: &World, last: Pose) -> Pose {
        let position = world.position(self.handles[place]);
        position.filter(Pose::is_finite).unwrap_or(last)
    }

    fn begin_courses(&mut self, world: &World) {
        for (place, marks) in self.marks.iter_mut().enumerate() {
            marks.is_unread = false;
            if marks.has_course
                && let Some(body) = world.physics.bodies.get(self.handles[place])
            {
                self.courses[place].begin(body);
            }
        }
    }

    /// Shows a body elsewhere at once, and tells the host in the next frame.
    fn show_at(&mut self, place: usize, pose: Pose) {
        self.marks[place].is_untold |= self.shown[place] != pose;
        self.shown[place] = pose;
    }

    fn pair(&self, place: usize) -> Pair {
        Pair {
            previous: self.previous[place],
            current: self.current[place],
            course: self.marks[place].has_course.then(|| self.courses[place]),
        }
    }
}
