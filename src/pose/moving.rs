//! The bodies that move, or may have moved: what is done with all of them at once.

use std::time::Duration;

use slotmap::SecondaryMap;

use crate::dim::LANES;
use crate::key::BodyKey;
use crate::step::World;
use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::math::{Pose, Rotation};

use super::correction::{Correction, shown_with};
use super::motion::{Motions, Pair, Smoothing, Trajectory};
use super::paths::Weights;
use super::shared;

/// Lists with one entry a body, all in the same order.
///
/// First those that were awake after the last step, in the order in which Rapier lists them: to go
/// through both at once takes no look-up.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Moving {
    pub handles: Vec<RigidBodyHandle>,
    pub keys: Vec<BodyKey>,
    pub previous: Vec<Pose>,
    pub current: Vec<Pose>,
    /// What this frame shows.
    pub shown: Vec<Pose>,
    pub marks: Vec<Marks>,
    /// Used where `marks` says so.
    pub trajectories: Vec<Trajectory>,
    /// Used where `marks` says so.
    errors: SecondaryMap<BodyKey, Pose>,
    /// How many were awake.
    pub awake: usize,
    /// What this frame shows otherwise than the frame before, and what was put elsewhere since.
    pub moved: Vec<(BodyKey, Pose)>,
}

#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Marks {
    /// `shown` is to be reported by the next frame, whatever that shows.
    is_unreported: bool,
    /// It takes more than the two poses to say what is shown between; or it may: what Rapier makes of a
    /// body's mass, and whether that is about its origin, is only known after the next step.
    pub has_trajectory: bool,
    /// It is shown off its place.
    has_error: bool,
    /// Where `moved` has it, if it does.
    pub moved_at: u32,
}

impl Marks {
    /// Whether the two poses alone do not say what is shown.
    pub fn is_special(self) -> bool {
        self.has_trajectory || self.has_error
    }
}

/// How many bodies are worked on at once: few enough that what is made of them stays in the nearest cache.
const CHUNK: usize = 64;

impl Moving {
    /// Appends a body that has been at `pose`, and gives its place. `moved_at` is that of when it was listed
    /// before.
    pub fn push(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        pose: Pose,
        moved_at: u32,
    ) -> usize {
        self.handles.push(handle);
        self.keys.push(key);
        self.previous.push(pose);
        self.current.push(pose);
        self.shown.push(pose);
        self.marks.push(Marks {
            is_unreported: false,
            has_trajectory: true,
            has_error: false,
            moved_at,
        });
        self.trajectories.push(Trajectory::default());
        self.keys.len() - 1
    }

    pub fn swap(&mut self, one: usize, other: usize) {
        self.handles.swap(one, other);
        self.keys.swap(one, other);
        self.previous.swap(one, other);
        self.current.swap(one, other);
        self.shown.swap(one, other);
        self.marks.swap(one, other);
        self.trajectories.swap(one, other);
    }

    pub fn swap_remove(&mut self, place: usize) {
        self.set_error(place, None);
        self.handles.swap_remove(place);
        self.keys.swap_remove(place);
        self.previous.swap_remove(place);
        self.current.swap_remove(place);
        self.shown.swap_remove(place);
        self.marks.swap_remove(place);
        self.trajectories.swap_remove(place);
    }

    /// Right before a step: the state that was current is the previous one. `known` of the bodies, from the
    /// first on, are known to be where the last step left them. `tick` steps have been made.
    pub fn begin_step(&mut self, world: &World, known: usize, dt: f32, tick: u64) {
        std::mem::swap(&mut self.previous, &mut self.current);
        for place in known..self.keys.len() {
            let position = self.position(place, world, self.previous[place]);
            self.previous[place] = position;
            self.current[place] = position;
        }
        for (place, marks) in self.marks.iter().enumerate() {
            if marks.has_trajectory
                && let Some(body) = world.physics.bodies.get(self.handles[place])
            {
                let parameters = &world.physics.integration_parameters;
                let max_linear_velocity = parameters.max_linear_velocity();
                self.trajectories[place].begin(body, max_linear_velocity, dt, tick);
            }
        }
    }

    /// Right after a step, with the awake bodies in front: where has it led?
    pub fn end_step(&mut self, world: &World) {
        let (handles, current) = (&self.handles[..self.awake], &mut self.current[..self.awake]);
        shared::for_each(current, |start, current| {
            for (handle, current) in handles[start..].iter().zip(current) {
                // Rapier has just seen to it that this is finite.
                *current = *world.physics.bodies[*handle].position();
            }
        });
        // Also those that fell asleep in this very step, which may still have moved them.
        for place in self.awake..self.keys.len() {
            self.current[place] = self.position(place, world, self.previous[place]);
        }
    }

    /// Where Rapier has the body, if that is finite; `last` if not.
    fn position(&self, place: usize, world: &World, last: Pose) -> Pose {
        let position = world.position(self.handles[place]);
        position.filter(Pose::is_finite).unwrap_or(last)
    }

    /// The body has been put to `position` after `tick` steps: what changed is not blended with where it was.
    pub fn put(&mut self, place: usize, position: Pose, tick: u64) {
        self.set_error(place, None);
        let (previous, current) = (&mut self.previous[place], &mut self.current[place]);
        let trajectory = &mut self.trajectories[place];
        trajectory.put(tick);
        if position.rotation != current.rotation {
            previous.rotation = position.rotation;
            trajectory.stop_turning();
        }
        if position.translation != current.translation {
            // The centre of mass stands, and the body goes on turning about it.
            let center = trajectory.center();
            let swing = position.rotation * center - previous.rotation * center;
            previous.translation = position.translation + swing;
            trajectory.stop_moving();
        }
        *current = position;
    }

    /// [`put`](Self::put), the whole pose, and shown there at once.
    pub fn teleport(&mut self, place: usize, position: Pose, tick: u64) {
        self.previous[place] = position;
        self.current[place] = position;
        self.stand(place);
        self.trajectories[place].put(tick);
        self.set_error(place, None);
        self.show_at(place, position);
    }

    /// How far off its place the body is shown.
    pub fn error(&self, place: usize) -> Option<&Pose> {
        let has_error = self.marks[place].has_error;
        has_error.then(|| &self.errors[self.keys[place]])
    }

    pub fn set_error(&mut self, place: usize, error: Option<Pose>) {
        let had_error = std::mem::replace(&mut self.marks[place].has_error, error.is_some());
        match error {
            Some(error) => {
                self.errors.insert(self.keys[place], error);
            }
            None if had_error => {
                self.errors.remove(self.keys[place]);
            }
            None => (),
        }
    }

    /// How many bodies are shown off their place.
    pub fn errors_len(&self) -> usize {
        self.errors.len()
    }

    /// Time passes, in which errors decay.
    pub fn decay(&mut self, correction: Option<&Correction>, elapsed: Duration) {
        if self.errors.is_empty() {
            return;
        }
        for place in 0..self.keys.len() {
            if let Some(error) = self.error(place) {
                let left = correction.and_then(|it| it.decayed(error, elapsed));
                self.set_error(place, left);
            }
        }
    }

    /// The body and its error have been turned.
    pub fn turn(&mut self, place: usize, by: Rotation) {
        self.trajectories[place].turn(by);
        if let Some(error) = self.error(place) {
            let turned =
                Pose::from_parts(by * error.translation, by * error.rotation * by.inverse());
            self.set_error(place, Some(turned));
        }
    }

    /// What the frame before has shown of the body, and whether that was reported.
    pub fn resume(&mut self, place: usize, shown: Pose, marks: Option<Marks>, moved_at: u32) {
        self.shown[place] = shown;
        self.marks[place].is_unreported = marks.is_some_and(|marks| marks.is_unreported);
        self.marks[place].moved_at = moved_at;
    }

    pub fn stand(&mut self, place: usize) {
        self.trajectories[place].stop_moving();
        self.trajectories[place].stop_turning();
    }

    /// Shows a body elsewhere at once: in what this frame has reported, and in what the next one reports to
    /// hosts that have read that already.
    pub fn show_at(&mut self, place: usize, pose: Pose) {
        if self.shown[place] != pose {
            self.shown[place] = pose;
            self.report(place);
            self.marks[place].is_unreported = true;
        }
    }

    /// Reports what is shown in the next frame, whatever that is.
    pub fn report_next(&mut self, place: usize) {
        self.marks[place].is_unreported = true;
    }

    fn report(&mut self, place: usize) {
        let entry = (self.keys[place], self.shown[place]);
        let moved_at = &mut self.marks[place].moved_at;
        match self.moved.get_mut(*moved_at as usize) {
            Some(reported) if reported.0 == entry.0 => *reported = entry,
            _ => {
                *moved_at = index(self.moved.len());
                self.moved.push(entry);
            }
        }
    }

    /// What is shown at `alpha`, of all bodies in the order of the lists.
    pub fn poses_at(&self, alpha: f32, poses: &mut Vec<Pose>) {
        poses.resize(self.keys.len(), Pose::IDENTITY);
        let weights = Weights::new(alpha);
        for (start, poses) in (0..).step_by(CHUNK).zip(poses.chunks_mut(CHUNK)) {
            self.blend(start, &weights, poses);
        }
    }

    /// Makes the poses that this frame shows, and the list of those that differ from the last
    /// frame's. Gives the number of bodies that are shown beyond their last state.
    pub fn show(&mut self, alpha: f32) -> usize {
        let weights = Weights::new(alpha);
        self.moved.clear();
        let mut extrapolated = 0;
        let mut poses = [Pose::IDENTITY; CHUNK];
        for start in (0..self.keys.len()).step_by(CHUNK) {
            let len = CHUNK.min(self.keys.len() - start);
            extrapolated += self.blend(start, &weights, &mut poses[..len]);
            self.compare(start, &poses[..len]);
        }
        extrapolated
    }

    /// Shows `poses` of the bodies from `start` on.
    fn compare(&mut self, start: usize, poses: &[Pose]) {
        let places = start..start + poses.len();
        let keys = &self.keys[places.clone()];
        let marks = &mut self.marks[places.clone()];
        let shown = &mut self.shown[places];
        for (((key, marks), shown), pose) in keys.iter().zip(marks).zip(shown).zip(poses) {
            // In parts: a pose copied whole would go into the list by way of the stack.
            let pose = Pose::from_parts(pose.translation, pose.rotation);
            if pose != *shown || marks.is_unreported {
                *shown = pose;
                marks.moved_at = index(self.moved.len());
                marks.is_unreported = false;
                self.moved.push((*key, pose));
            }
        }
    }

    /// What is shown of the bodies from `start` on. Gives how many of them are shown beyond their last state.
    fn blend(&self, start: usize, weights: &Weights, poses: &mut [Pose]) -> usize {
        let places = start..start + poses.len();
        let (previous, current) = (
            &self.previous[places.clone()],
            &self.current[places.clone()],
        );
        weights.blend.all(previous, current, poses);
        // Asked once for all of them, as it is nearly always of none.
        let marks = self.marks[places].iter();
        if marks.fold(false, |any, marks| any | marks.is_special()) {
            return self.blend_special(start, weights, poses);
        }
        0
    }

    /// [`blend`](Self::blend), of what the two poses alone do not say.
    #[inline(never)]
    fn blend_special(&self, start: usize, weights: &Weights, poses: &mut [Pose]) -> usize {
        let (fours, rest) = poses.as_chunks_mut::<LANES>();
        let rest_start = start + fours.len() * LANES;
        for (n, four) in fours.iter_mut().enumerate() {
            self.blend_four(start + n * LANES, weights, four);
        }
        for (place, pose) in (rest_start..).zip(rest) {
            *pose = self.pair(place).weighted(weights);
        }
        let mut extrapolated = 0;
        for (place, pose) in (start..).zip(poses) {
            if let Some(error) = self.error(place) {
                *pose = shown_with(error, pose);
            }
            let goes_beyond = self.trajectories[place].goes_beyond(weights.alpha);
            extrapolated += usize::from(self.marks[place].has_trajectory && goes_beyond);
        }
        extrapolated
    }

    /// Of the four bodies from `start` on, with all smoothings that are among them.
    fn blend_four(&self, start: usize, weights: &Weights, poses: &mut [Pose; LANES]) {
        let marks: &[Marks; LANES] = four(&self.marks, start);
        let trajectories = four(&self.trajectories, start);
        for smoothing in Smoothing::ALL {
            let has_it = std::array::from_fn::<_, LANES, _>(|i| {
                marks[i].has_trajectory && trajectories[i].smoothing() == smoothing
            });
            if has_it == [false; LANES] {
                continue;
            }
            let motions = Motions {
                trajectories,
                previous: four(&self.previous, start),
                current: four(&self.current, start),
                plain: poses,
            };
            let shown = motions.at(smoothing, weights);
            for i in (0..LANES).filter(|i| has_it[*i]) {
                poses[i] = shown[i];
            }
        }
    }

    /// Whether nothing will change of what is shown of a body that is not awake, until it is seen awake or
    /// put elsewhere.
    pub fn is_settled(&self, place: usize, world: &World) -> bool {
        let current = self.current[place];
        self.previous[place] == current
            && !self.marks[place].has_error
            && self.shown[place] == current
            && !(world.physics.bodies.get(self.handles[place])).is_some_and(is_about_to_move)
    }

    /// Whether all lists have `len` entries, with finite poses.
    #[cfg(feature = "serde")]
    pub fn is_consistent(&self, len: usize) -> bool {
        let poses = [&self.previous, &self.current, &self.shown];
        poses.iter().all(|list| list.len() == len)
            && poses.into_iter().flatten().all(Pose::is_finite)
            && self.handles.len() == len
            && self.keys.len() == len
            && self.marks.len() == len
            && self.trajectories.len() == len
            && self.errors.values().all(Pose::is_finite)
            && self.errors.len() == self.marks.iter().filter(|marks| marks.has_error).count()
            && (0..len).all(|i| !self.marks[i].has_error || self.errors.contains_key(self.keys[i]))
            && self.awake <= len
    }

    pub fn pair(&self, place: usize) -> Pair {
        Pair {
            previous: self.previous[place],
            current: self.current[place],
            trajectory: self.marks[place]
                .has_trajectory
                .then(|| self.trajectories[place]),
        }
    }
}

fn four<T>(list: &[T], start: usize) -> &[T; LANES] {
    list[start..].first_chunk().expect("four of the list")
}

/// Keys are 32 bits wide, so there are never more bodies than that.
#[expect(clippy::cast_possible_truncation, reason = "see above")]
fn index(len: usize) -> u32 {
    len as u32
}

/// Whether Rapier will have the body among those that are awake after the next step, or may put it elsewhere
/// in that step all the same: it does so with one that was disabled for its position, once it is given a finite
/// next one.
fn is_about_to_move(body: &RigidBody) -> bool {
    let is_awake = !body.is_fixed() && body.is_enabled() && !body.is_sleeping();
    is_awake || body.position() != body.next_position()
}
