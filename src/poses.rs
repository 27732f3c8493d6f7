//! The previous and the current pose of every body that moves, and the pose that a frame shows.

use rapier3d::dynamics::RigidBodyHandle;
use rapier3d::math::Pose;
use slotmap::SecondaryMap;

use crate::key::BodyKey;
use crate::slerp::{extrapolate, interpolate, interpolate_all};
use crate::world::World;

/// How a frame is shown that falls between two steps: for
/// [`Simulation::set_smoothing`](crate::Simulation::set_smoothing).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Smoothing {
    /// Between the last two states, by what is left of the time: smooth, and up to one step
    /// behind. The default.
    #[default]
    Interpolate,
    /// Beyond the last state, by what is left of the time, as the body went from the one before:
    /// without latency, and wrong in every step in which something happens.
    Extrapolate,
    /// The last state: not smooth, unless the display shows a frame for each step.
    Latest,
}

impl Smoothing {
    fn blend(self, previous: &Pose, current: &Pose, alpha: f32) -> Pose {
        match self {
            Self::Interpolate => interpolate(previous, current, alpha),
            Self::Extrapolate => extrapolate(previous, current, alpha),
            Self::Latest => *current,
        }
    }

    fn blend_all(self, previous: &[Pose], current: &[Pose], alpha: f32, out: &mut [Pose]) {
        match self {
            Self::Interpolate => interpolate_all(previous, current, alpha, out),
            Self::Extrapolate => {
                for ((previous, current), out) in previous.iter().zip(current).zip(out) {
                    *out = extrapolate(previous, current, alpha);
                }
            }
            Self::Latest => out.copy_from_slice(current),
        }
    }
}

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
    places: SecondaryMap<BodyKey, Place>,
    moving: Moving,
    /// Bodies that the game got hold of since the last `begin_step`.
    touched: Vec<BodyKey>,
    /// What this frame shows otherwise than the frame before.
    moved: Vec<(BodyKey, Pose)>,
    /// Kept for its memory: indices of bodies that come to rest.
    settled: Vec<usize>,
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
    /// Whether `shown` is still to be told to the host: a new body.
    is_new: Vec<bool>,
    /// What the next frame shows, while it is made.
    next_shown: Vec<Pose>,
    /// How many were awake.
    awake: usize,
}

impl Poses {
    pub fn new() -> Self {
        Self {
            places: SecondaryMap::new(),
            moving: Moving::default(),
            touched: Vec::new(),
            moved: Vec::new(),
            settled: Vec::new(),
        }
    }

    pub fn insert(&mut self, key: BodyKey, handle: RigidBodyHandle, pose: Pose) {
        let place = self.moving.push(key, handle, pose, true);
        self.places.insert(key, Place::Moving(place));
    }

    pub fn remove(&mut self, key: BodyKey) {
        if let Some(Place::Moving(place)) = self.places.remove(key) {
            self.unlist(place);
        }
    }

    /// The game may change this body: look at it in the next frame.
    pub fn touch(&mut self, key: BodyKey, handle: RigidBodyHandle) {
        self.list(key, handle);
        self.touched.push(key);
    }

    /// The body has been put to `position`: show it there, without a way from where it was.
    pub fn snap(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose) {
        let place = self.list(key, handle);
        self.moving.previous[place] = position;
        self.moving.current[place] = position;
    }

    /// Looks whether the body is elsewhere than where the last step left it, and snaps it there.
    pub fn notice(&mut self, key: BodyKey, handle: RigidBodyHandle, position: Pose) {
        if position.is_finite() && self.current(key) != Some(position) {
            self.snap(key, handle, position);
        }
    }

    /// Right before the last step of a frame: where is every body that is about to move?
    ///
    /// `is_first`: no step was made since the last `end_step`, so all that are awake are where it
    /// left them, but for those that the game got hold of.
    pub fn begin_step(&mut self, world: &World, is_first: bool) {
        if is_first {
            self.notice_touched(world);
            let moving = &mut self.moving;
            std::mem::swap(&mut moving.previous, &mut moving.current);
        } else {
            self.touched.clear();
            self.meet_awake(world, |moving, place, position| {
                moving.previous[place] = finite_or(position, moving.current[place]);
            });
        }
        // New ones, those that the game got hold of, and those that fell asleep before this step.
        let moving = &mut self.moving;
        for place in moving.awake..moving.keys.len() {
            let last = if is_first {
                moving.previous[place]
            } else {
                moving.current[place]
            };
            let position = world.position(moving.handles[place]);
            let position = position.map_or(last, |position| finite_or(position, last));
            moving.previous[place] = position;
            moving.current[place] = position;
        }
    }

    /// Right after the last step of a frame: where has it led?
    pub fn end_step(&mut self, world: &World) {
        self.meet_awake(world, |moving, place, position| {
            moving.current[place] = finite_or(position, moving.previous[place]);
        });
        // Also those that fell asleep in this very step, which may still have moved them.
        let moving = &mut self.moving;
        for place in moving.awake..moving.keys.len() {
            let last = moving.previous[place];
            let position = world.position(moving.handles[place]);
            moving.current[place] = position.map_or(last, |position| finite_or(position, last));
        }
    }

    /// After a step that is not the last of its frame: a body that wakes and falls asleep
    /// again before the last one is not missed.
    pub fn list_awake(&mut self, world: &World) {
        self.align_awake(world, |_, _, _| ());
    }

    /// Visits all awake bodies: the lists, the body's place in them, and its position.
    fn meet_awake(&mut self, world: &World, mut visit: impl FnMut(&mut Moving, usize, Pose)) {
        self.align_awake(world, |moving, place, handle| {
            if let Some(position) = world.position(handle) {
                visit(moving, place, position);
            }
        });
    }

    /// Visits all awake bodies, and brings them to the front of the lists in Rapier's order.
    fn align_awake(
        &mut self,
        world: &World,
        mut visit: impl FnMut(&mut Moving, usize, RigidBodyHandle),
    ) {
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
            visit(&mut self.moving, place, handle);
            place += 1;
        }
        self.moving.awake = place;
    }

    /// Shows the latest positions and forgets the way to them: for a frame that broke off.
    pub fn resync(&mut self, world: &World) {
        self.begin_step(world, false);
        self.moving.current.clone_from(&self.moving.previous);
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
    /// frame's.
    pub fn show(&mut self, smoothing: Smoothing, alpha: f32) {
        self.moved.clear();
        let moving = &mut self.moving;
        moving.next_shown.resize(moving.keys.len(), Pose::IDENTITY);
        let (previous, current) = (&moving.previous, &moving.current);
        smoothing.blend_all(previous, current, alpha, &mut moving.next_shown);
        std::mem::swap(&mut moving.shown, &mut moving.next_shown);
        let before = &moving.next_shown;
        for (place, (&pose, before)) in moving.shown.iter().zip(before).enumerate() {
            if pose != *before || moving.is_new[place] {
                self.moved.push((moving.keys[place], pose));
                moving.is_new[place] = false;
            }
        }
        for place in moving.awake..moving.keys.len() {
            if moving.previous[place] == moving.current[place] {
                self.settled.push(place);
            }
        }
        self.settle();
    }

    /// Lets the bodies in `settled` rest.
    fn settle(&mut self) {
        let mut settled = std::mem::take(&mut self.settled);
        // From the last to the first, so that the body swapped into the gap is never one of them.
        for place in settled.drain(..).rev() {
            let pose = self.moving.current[place];
            self.places[self.moving.keys[place]] = Place::Resting(pose);
            self.unlist(place);
        }
        self.settled = settled;
    }

    /// Poses that differ from those of the frame before.
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        &self.moved
    }

    /// The pose as it is shown at `alpha`.
    pub fn at(&self, key: BodyKey, smoothing: Smoothing, alpha: f32) -> Option<Pose> {
        Some(match *self.places.get(key)? {
            Place::Resting(pose) => pose,
            Place::Moving(place) => {
                let moving = &self.moving;
                smoothing.blend(&moving.previous[place], &moving.current[place], alpha)
            }
        })
    }

    pub fn previous(&self, key: BodyKey) -> Option<Pose> {
        Some(match *self.places.get(key)? {
            Place::Resting(pose) => pose,
            Place::Moving(place) => self.moving.previous[place],
        })
    }

    pub fn current(&self, key: BodyKey) -> Option<Pose> {
        Some(match *self.places.get(key)? {
            Place::Resting(pose) => pose,
            Place::Moving(place) => self.moving.current[place],
        })
    }

    /// The number of bodies that are looked at in each frame.
    #[cfg(test)]
    pub fn moving_len(&self) -> usize {
        self.moving.keys.len()
    }

    /// Puts a body onto the list of those that move, if it is not there.
    fn list(&mut self, key: BodyKey, handle: RigidBodyHandle) -> usize {
        let place = &mut self.places[key];
        match *place {
            Place::Moving(index) => index,
            Place::Resting(pose) => {
                let index = self.moving.push(key, handle, pose, false);
                *place = Place::Moving(index);
                index
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
            && let Some(known) = self.places.get_mut(*key)
        {
            *known = Place::Moving(place);
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
        self.is_new.push(is_new);
        self.keys.len() - 1
    }

    fn swap(&mut self, one: usize, other: usize) {
        self.handles.swap(one, other);
        self.keys.swap(one, other);
        self.previous.swap(one, other);
        self.current.swap(one, other);
        self.shown.swap(one, other);
        self.is_new.swap(one, other);
    }

    fn swap_remove(&mut self, place: usize) {
        self.handles.swap_remove(place);
        self.keys.swap_remove(place);
        self.previous.swap_remove(place);
        self.current.swap_remove(place);
        self.shown.swap_remove(place);
        self.is_new.swap_remove(place);
    }
}

fn finite_or(position: Pose, otherwise: Pose) -> Pose {
    if position.is_finite() {
        position
    } else {
        otherwise
    }
}
