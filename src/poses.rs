//! The previous and the current pose of every body that moves, and the pose that a frame shows.

use rapier3d::math::Pose;
use slotmap::SecondaryMap;

use crate::key::BodyKey;
use crate::slerp::{interpolate, interpolate_all};
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
    places: SecondaryMap<BodyKey, Place>,
    moving: Moving,
    /// Counts the passes over the awake bodies, from 1: who was met in the last one is awake.
    pass: u64,
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
#[derive(Clone, Debug, Default)]
struct Moving {
    keys: Vec<BodyKey>,
    previous: Vec<Pose>,
    current: Vec<Pose>,
    /// What this frame shows.
    shown: Vec<Pose>,
    /// Whether `shown` is still to be told to the host: a new body.
    is_new: Vec<bool>,
    /// The pass in which the body was last met awake; 0 for none.
    seen: Vec<u64>,
    /// What the next frame shows, while it is made.
    next_shown: Vec<Pose>,
}

impl Poses {
    pub fn new() -> Self {
        Self {
            places: SecondaryMap::new(),
            moving: Moving::default(),
            pass: 1,
            touched: Vec::new(),
            moved: Vec::new(),
            settled: Vec::new(),
        }
    }

    pub fn insert(&mut self, key: BodyKey, pose: Pose) {
        let place = self.moving.push(key, pose, true);
        self.places.insert(key, Place::Moving(place));
    }

    pub fn remove(&mut self, key: BodyKey) {
        if let Some(Place::Moving(place)) = self.places.remove(key) {
            self.moving.swap_remove(place);
            self.repair(place);
        }
    }

    /// The game may change this body: look at it in the next frame.
    pub fn touch(&mut self, key: BodyKey) {
        self.list(key);
        self.touched.push(key);
    }

    /// The body has been put to `position`: show it there, without a way from where it was.
    pub fn snap(&mut self, key: BodyKey, position: Pose) {
        let place = self.list(key);
        self.moving.previous[place] = position;
        self.moving.current[place] = position;
    }

    /// Looks whether the body is elsewhere than where the last step left it, and snaps it there.
    pub fn notice(&mut self, key: BodyKey, position: Pose) {
        if position.is_finite() && self.current(key) != Some(position) {
            self.snap(key, position);
        }
    }

    /// Right before the last step of a frame: where is every body that is about to move?
    pub fn begin_step(&mut self, world: &World) {
        self.touched.clear();
        self.pass += 1;
        for (key, position) in world.awake() {
            let place = self.list(key);
            let moving = &mut self.moving;
            moving.previous[place] = finite_or(position, moving.current[place]);
            moving.seen[place] = self.pass;
        }
        // New ones, those that the game got hold of, and those that fell asleep before this step.
        for place in 0..self.moving.keys.len() {
            if let Some(position) = self.position_if_not_awake(place, world) {
                self.moving.previous[place] = position;
                self.moving.current[place] = position;
            }
        }
    }

    /// Right after the last step of a frame: where has it led?
    pub fn end_step(&mut self, world: &World) {
        self.pass += 1;
        for (key, position) in world.awake() {
            let place = self.list(key);
            let moving = &mut self.moving;
            moving.current[place] = finite_or(position, moving.current[place]);
            moving.seen[place] = self.pass;
        }
        // Also those that fell asleep in this very step, which may still have moved them.
        for place in 0..self.moving.keys.len() {
            if let Some(position) = self.position_if_not_awake(place, world) {
                self.moving.current[place] = position;
            }
        }
    }

    /// Where a body is that the pass at hand has not met awake.
    fn position_if_not_awake(&self, place: usize, world: &World) -> Option<Pose> {
        if self.moving.seen[place] == self.pass {
            return None;
        }
        let position = world.position(self.moving.keys[place])?;
        position.is_finite().then_some(position)
    }

    /// After a step that is not the last of its frame: a body that wakes and falls asleep
    /// again before the last one is not missed.
    pub fn list_awake(&mut self, world: &World) {
        for (key, _) in world.awake() {
            self.list(key);
        }
    }

    /// Shows the latest positions and forgets the way to them: for a frame that broke off.
    pub fn resync(&mut self, world: &World) {
        self.begin_step(world);
        self.moving.current.clone_from(&self.moving.previous);
    }

    /// Notices what the game did since the last `begin_step` to bodies that it got hold of.
    pub fn notice_touched(&mut self, world: &World) {
        let mut touched = std::mem::take(&mut self.touched);
        for key in touched.drain(..) {
            if let Some(position) = world.position(key) {
                self.notice(key, position);
            }
        }
        self.touched = touched;
    }

    /// Makes the poses that this frame shows, and the list of those that differ from the last
    /// frame's.
    pub fn show(&mut self, alpha: f32) {
        self.moved.clear();
        let moving = &mut self.moving;
        moving.next_shown.resize(moving.keys.len(), Pose::IDENTITY);
        interpolate_all(
            &moving.previous,
            &moving.current,
            alpha,
            &mut moving.next_shown,
        );
        for (place, &pose) in moving.next_shown.iter().enumerate() {
            if moving.is_new[place] || pose != moving.shown[place] {
                self.moved.push((moving.keys[place], pose));
                moving.is_new[place] = false;
            }
            let settled = moving.seen[place] != self.pass;
            if settled && moving.previous[place] == moving.current[place] {
                self.settled.push(place);
            }
        }
        std::mem::swap(&mut moving.shown, &mut moving.next_shown);
        self.settle();
    }

    /// Lets the bodies in `settled` rest.
    fn settle(&mut self) {
        let mut settled = std::mem::take(&mut self.settled);
        // From the last to the first, so that the body swapped into the gap is never one of them.
        for place in settled.drain(..).rev() {
            let pose = self.moving.current[place];
            self.places[self.moving.keys[place]] = Place::Resting(pose);
            self.moving.swap_remove(place);
            self.repair(place);
        }
        self.settled = settled;
    }

    /// Poses that differ from those of the frame before.
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        &self.moved
    }

    /// The pose `alpha` of the way from the previous to the current one.
    pub fn at(&self, key: BodyKey, alpha: f32) -> Option<Pose> {
        Some(match *self.places.get(key)? {
            Place::Resting(pose) => pose,
            Place::Moving(place) => interpolate(
                &self.moving.previous[place],
                &self.moving.current[place],
                alpha,
            ),
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
    fn list(&mut self, key: BodyKey) -> usize {
        let place = &mut self.places[key];
        match *place {
            Place::Moving(index) => index,
            Place::Resting(pose) => {
                let index = self.moving.push(key, pose, false);
                *place = Place::Moving(index);
                index
            }
        }
    }

    /// A body was swapped into `place`: lets its key know.
    fn repair(&mut self, place: usize) {
        if let Some(key) = self.moving.keys.get(place) {
            self.places[*key] = Place::Moving(place);
        }
    }
}

impl Moving {
    fn push(&mut self, key: BodyKey, pose: Pose, is_new: bool) -> usize {
        self.keys.push(key);
        self.previous.push(pose);
        self.current.push(pose);
        self.shown.push(pose);
        self.is_new.push(is_new);
        self.seen.push(0);
        self.keys.len() - 1
    }

    fn swap_remove(&mut self, place: usize) {
        self.keys.swap_remove(place);
        self.previous.swap_remove(place);
        self.current.swap_remove(place);
        self.shown.swap_remove(place);
        self.is_new.swap_remove(place);
        self.seen.swap_remove(place);
    }
}

fn finite_or(position: Pose, otherwise: Pose) -> Pose {
    if position.is_finite() {
        position
    } else {
        otherwise
    }
}
