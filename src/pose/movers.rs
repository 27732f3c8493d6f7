//! The bodies that move, or may have moved: their last two states, and the interpolation between them.

use std::ops::Range;

use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::math::{Pose, Real, Rotation};

use crate::dim::LANES;
use crate::key::{BodyKey, Id};
use crate::step::World;

use super::motion::{Motions, Pair, Smoothing, Trajectory};
use super::paths::Weights;

/// Lists with one entry per body, all in the same order. Bodies that were awake after the last step come first, in
/// Rapier's order, so that both lists can be read together without look-ups.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Movers {
    handles: Vec<RigidBodyHandle>,
    keys: Vec<BodyKey>,
    previous: Vec<Pose>,
    current: Vec<Pose>,
    /// Whether a blend of the two poses may not be enough. After a change of mass, this is known only once the next
    /// step has computed the centre of mass.
    may_need_trajectory: Vec<bool>,
    trajectories: Vec<Trajectory>,
    /// Whether a body was awake in the last step, or has been inserted awake since.
    were_awake: Vec<bool>,
    /// The number of bodies at the front that were awake after the last step.
    awake_count: usize,
    /// Two lists with the same number have the same bodies in the same order.
    #[cfg_attr(feature = "serde", serde(skip, default = "unique"))]
    order: u64,
    /// Two lists with the same number have the same bodies with the same poses.
    #[cfg_attr(feature = "serde", serde(skip, default = "unique"))]
    poses_version: u64,
}

impl Movers {
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn keys(&self) -> &[BodyKey] {
        &self.keys
    }

    pub fn was_awake(&self, index: usize) -> bool {
        self.were_awake[index]
    }

    pub fn handles(&self) -> &[RigidBodyHandle] {
        &self.handles
    }

    pub fn current(&self, index: usize) -> Pose {
        self.current[index]
    }

    pub fn order(&self) -> u64 {
        self.order
    }

    pub fn poses_version(&self) -> u64 {
        self.poses_version
    }

    /// Draws other numbers for the order and the poses, from which readers find out that the lists have changed.
    fn mark_order_changed(&mut self) {
        self.order = unique();
        self.poses_version = self.order;
    }

    pub fn awake_count(&self) -> usize {
        self.awake_count
    }

    pub fn set_awake_count(&mut self, count: usize) {
        self.awake_count = count;
    }

    pub fn may_need_trajectory(&self, index: usize) -> bool {
        self.may_need_trajectory[index]
    }

    /// Returns whether any of these bodies may need its trajectory. Such bodies are rare, so the flags are read at
    /// once.
    fn any_may_need_trajectory(&self, indices: Range<usize>) -> bool {
        let flags = &self.may_need_trajectory[indices];
        flags.iter().fold(false, |any, is| any | is)
    }

    pub fn all_poses(&self) -> impl ExactSizeIterator<Item = [&Pose; 2]> {
        let poses = self.previous.iter().zip(&self.current);
        poses.map(|(previous, current)| [previous, current])
    }

    /// Returns the last two poses of a body, with its trajectory if a blend of them may not be enough.
    pub fn pair(&self, index: usize) -> Pair {
        Pair {
            previous: self.previous[index],
            current: self.current[index],
            trajectory: self.may_need_trajectory[index].then(|| self.trajectories[index]),
        }
    }

    /// Adds a body that has not moved yet, behind all others. Returns its index. `was_awake` says that it was awake in
    /// the last step, or is inserted awake: if it is asleep after the next step, that is a change.
    pub fn push(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        pose: Pose,
        was_awake: bool,
    ) -> usize {
        self.mark_order_changed();
        self.were_awake.push(was_awake);
        self.handles.push(handle);
        self.keys.push(key);
        self.previous.push(pose);
        self.current.push(pose);
        // The next step decides whether a blend of the two poses is enough.
        self.may_need_trajectory.push(true);
        self.trajectories.push(Trajectory::from_rest());
        self.keys.len() - 1
    }

    /// Swaps two bodies in all lists.
    pub fn swap(&mut self, one: usize, other: usize) {
        self.mark_order_changed();
        self.handles.swap(one, other);
        self.keys.swap(one, other);
        self.previous.swap(one, other);
        self.current.swap(one, other);
        self.may_need_trajectory.swap(one, other);
        self.trajectories.swap(one, other);
        self.were_awake.swap(one, other);
    }

    /// Removes a body from all lists. The last body takes over its index, which must lie behind those of the awake
    /// bodies.
    pub fn swap_remove(&mut self, index: usize) {
        self.mark_order_changed();
        self.handles.swap_remove(index);
        self.keys.swap_remove(index);
        self.previous.swap_remove(index);
        self.current.swap_remove(index);
        self.may_need_trajectory.swap_remove(index);
        self.trajectories.swap_remove(index);
        self.were_awake.swap_remove(index);
    }

    /// Draws another version, from which readers find out that the poses have changed.
    pub fn mark_poses_changed(&mut self) {
        self.poses_version = unique();
    }
}

/// # Steps
impl Movers {
    /// Begins a step of length `dt`, when `tick` steps have run: the current state becomes the previous one.
    /// `uses_velocity` says whether the smoothing of a body may use the velocity with which the step begins.
    pub fn begin_step(
        &mut self,
        world: &World,
        uses_velocity: impl Fn(BodyKey) -> bool,
        dt: f32,
        tick: u64,
    ) {
        self.mark_poses_changed();
        // `end_step` overwrites `current`, which is out of date until then.
        std::mem::swap(&mut self.previous, &mut self.current);
        // The last step has read the bodies at the front, which were awake after it, and the game's teleports were
        // detected since. Bodies behind them may be new, so they are read.
        for index in self.awake_count..self.keys.len() {
            let position = self.position(index, world, self.previous[index]);
            self.previous[index] = position;
            self.current[index] = position;
        }
        if !self.any_may_need_trajectory(0..self.keys.len()) {
            return;
        }
        // The step overwrites the velocities with which it begins, so they are read now: where the smoothing uses them,
        // and where a trajectory still has those of the last step.
        let max_linear_velocity = world.rapier.integration_parameters.max_linear_velocity();
        for index in 0..self.keys.len() {
            let trajectory = &mut self.trajectories[index];
            if self.may_need_trajectory[index]
                && (uses_velocity(self.keys[index]) || !trajectory.is_blend())
                && let Some(body) = world.rapier.bodies.get(self.handles[index])
            {
                trajectory.begin_step(body, max_linear_velocity, dt, tick);
            }
        }
    }

    /// Ends a step of length `dt`: reads the new poses, and decides for which bodies a blend of the two poses is
    /// enough. `smoothing` returns how a body is displayed.
    pub fn end_step(&mut self, world: &World, smoothing: impl Fn(BodyKey) -> Smoothing, dt: f32) {
        // The awake bodies, which are at the front, are read without a check.
        let (handles, current) = (
            &self.handles[..self.awake_count],
            &mut self.current[..self.awake_count],
        );
        for_each(current, |start, current| {
            for (handle, current) in handles[start..].iter().zip(current) {
                *current = *world.rapier.bodies[*handle].position();
            }
        });
        // Bodies whose poses are not finite are in Rapier's quarantine, and mostly have their last finite poses again.
        // A link that a joint has moved may not, so all poses are checked while the quarantine has bodies.
        let are_finite = world.rapier.quarantine().bodies().is_empty();
        let first_to_check = if are_finite { self.awake_count } else { 0 };
        // Bodies that fell asleep in this step are read too, because it may still have moved them.
        for index in first_to_check..self.keys.len() {
            self.current[index] = self.position(index, world, self.previous[index]);
        }
        if !self.any_may_need_trajectory(0..self.keys.len()) {
            return;
        }
        for index in 0..self.keys.len() {
            if self.may_need_trajectory[index]
                && let Some(body) = world.rapier.bodies.get(self.handles[index])
            {
                let trajectory = &mut self.trajectories[index];
                let smoothing = smoothing(self.keys[index]);
                if Trajectory::is_blend_after_step(body, smoothing) {
                    self.may_need_trajectory[index] = false;
                    // A teleport before the next step reads the trajectory's centre, which is zero in a blend.
                    *trajectory = Trajectory::default();
                } else {
                    let has_moved = self.previous[index] != self.current[index];
                    trajectory.end_step(body, smoothing, dt, has_moved);
                }
            }
        }
    }

    /// Returns the bodies that fell asleep or woke up in the step, each with whether it is asleep now. A second call
    /// returns none.
    pub fn take_sleep_changes(&mut self, world: &World) -> Vec<(BodyKey, bool)> {
        let mut changes = Vec::new();
        for index in 0..self.keys.len() {
            // Rapier lists the first `awake_count` bodies as awake, so only differences need a look at the body.
            if self.were_awake[index] != (index < self.awake_count) {
                changes.extend(self.take_sleep_change(index, world));
            }
        }
        changes
    }

    /// Returns the body at this index with whether it is asleep now, if it fell asleep or woke up in the step, and no
    /// call has returned it yet.
    pub fn take_sleep_change(&mut self, index: usize, world: &World) -> Option<(BodyKey, bool)> {
        let body = world.rapier.bodies.get(self.handles[index])?;
        let is_awake = can_sleep(body) && !body.is_sleeping();
        let was_awake = std::mem::replace(&mut self.were_awake[index], is_awake);
        // A body that was disabled in the step has not fallen asleep.
        (was_awake != is_awake && can_sleep(body)).then_some((self.keys[index], !is_awake))
    }

    /// Returns Rapier's pose of the body at this index, or `last` if that is not finite or the body was removed.
    fn position(&self, index: usize, world: &World, last: Pose) -> Pose {
        let position = world.position(self.handles[index]);
        position.filter(Pose::is_finite).unwrap_or(last)
    }

    /// Returns whether a body that is not awake is displayed at one pose, and stays there until it is found awake or
    /// teleported.
    pub fn is_at_rest(&self, index: usize, world: &World) -> bool {
        let handle = self.handles[index];
        // Extrapolation displays the body beyond its pose, even if it was put to sleep.
        let is_extrapolated =
            || self.may_need_trajectory[index] && self.trajectories[index].is_extrapolated();
        let body = world.rapier.bodies.get(handle);
        // A disabled link is carried by its multibody while that is awake.
        let will_move = || body.is_some_and(is_about_to_move) || world.is_carried(handle);
        self.previous[index] == self.current[index] && !is_extrapolated() && !will_move()
    }

    pub fn set_tick(&mut self, old: u64, new: u64) {
        for trajectory in &mut self.trajectories {
            trajectory.set_tick(old, new);
        }
    }
}

/// # Placing
impl Movers {
    /// Lets the next step decide again whether a blend of the body's two poses is enough.
    pub fn recheck_path(&mut self, index: usize) {
        self.may_need_trajectory[index] = true;
    }

    pub fn recheck_all_paths(&mut self) {
        self.may_need_trajectory.fill(true);
    }

    /// Displays a body at `position`, where the game has teleported it through Rapier after `tick` steps. If only the
    /// rotation or only the translation has changed, the other part is still blended, about the origin of the body.
    pub fn teleport_changed_parts(&mut self, index: usize, position: Pose, tick: u64) {
        self.mark_poses_changed();
        let (previous, current) = (&mut self.previous[index], &mut self.current[index]);
        let trajectory = &mut self.trajectories[index];
        trajectory.note_teleport(tick);
        trajectory.follow_origin([previous, current]);
        if position.rotation != current.rotation {
            previous.rotation = position.rotation;
            trajectory.stop_turning();
        }
        if position.translation != current.translation {
            previous.translation = position.translation;
            trajectory.stop_moving();
        }
        *current = position;
    }

    /// Displays a body at `position` without motion, because the game has teleported it there after `tick` steps.
    pub fn teleport(&mut self, index: usize, position: Pose, tick: u64) {
        self.set_poses(index, position, position);
        self.stop(index);
        self.trajectories[index].note_teleport(tick);
    }

    pub fn set_poses(&mut self, index: usize, previous: Pose, current: Pose) {
        self.mark_poses_changed();
        self.previous[index] = previous;
        self.current[index] = current;
    }

    /// Displays the path of the last step with another smoothing: see [`Trajectory::retime`].
    pub fn retime(&mut self, index: usize, smoothing: Smoothing, dt: Real) {
        self.mark_poses_changed();
        self.may_need_trajectory[index] = true;
        let ends = [&self.previous[index], &self.current[index]];
        self.trajectories[index].retime(smoothing, dt, ends);
    }

    /// Turns the velocities of a body that the game has moved with its motion after `tick` steps.
    pub fn turn(&mut self, index: usize, by: Rotation, tick: u64) {
        self.trajectories[index].turn(by);
        // The velocity that Rapier keeps for a body that is kinematic by position is not turned. After this note, the
        // next step does not use it.
        if by != Rotation::IDENTITY {
            self.trajectories[index].note_turn(tick);
        }
    }

    pub fn stop(&mut self, index: usize) {
        self.trajectories[index].stop_moving();
        self.trajectories[index].stop_turning();
    }
}

/// # Displayed poses
impl Movers {
    /// Writes the displayed poses of the bodies from index `start` on, as many as `poses` has room for.
    pub fn blend(&self, start: usize, weights: &Weights, poses: &mut [Pose]) {
        let indices = start..start + poses.len();
        let (previous, current) = (
            &self.previous[indices.clone()],
            &self.current[indices.clone()],
        );
        weights.blend.all(previous, current, poses);
        if self.any_may_need_trajectory(indices) {
            self.blend_with_curves(start, weights, poses);
        }
    }

    /// Replaces the blended poses of bodies that may need their trajectory. It is not inlined, because most scenes have
    /// none.
    #[inline(never)]
    fn blend_with_curves(&self, start: usize, weights: &Weights, poses: &mut [Pose]) {
        let (fours, rest) = poses.as_chunks_mut::<LANES>();
        let rest_start = start + fours.len() * LANES;
        for (n, four) in fours.iter_mut().enumerate() {
            self.blend_four(start + n * LANES, weights, four);
        }
        for (index, pose) in (rest_start..).zip(rest) {
            *pose = self.pair(index).displayed(weights);
        }
    }

    /// Replaces the blended poses of bodies that may need their trajectory, among the four from index `start` on. Each
    /// pass computes all four with the smoothing of one body, and keeps the poses of the bodies with that smoothing.
    fn blend_four(&self, start: usize, weights: &Weights, poses: &mut [Pose; LANES]) {
        let mut to_do = *four(&self.may_need_trajectory, start);
        let trajectories = four(&self.trajectories, start);
        while let Some(first) = to_do.iter().position(|is_to_do| *is_to_do) {
            let smoothing = trajectories[first].smoothing();
            let motions = Motions {
                trajectories,
                previous: four(&self.previous, start),
                current: four(&self.current, start),
                blended: poses,
            };
            let displayed = motions.at(smoothing, weights);
            for i in first..LANES {
                if to_do[i] && trajectories[i].smoothing() == smoothing {
                    (poses[i], to_do[i]) = (displayed[i], false);
                }
            }
        }
    }
}

#[cfg(feature = "serde")]
impl Movers {
    /// Returns whether lists that were read from bytes are valid: one entry per body in each, and only finite poses.
    pub fn is_consistent(&self) -> bool {
        let len = self.keys.len();
        let poses = [&self.previous, &self.current];
        poses.iter().all(|list| list.len() == len)
            && poses.into_iter().flatten().all(Pose::is_finite)
            && self.handles.len() == len
            && self.may_need_trajectory.len() == len
            && self.trajectories.len() == len
            && self.were_awake.len() == len
            && self.awake_count <= len
    }
}

/// Returns whether events report that a body falls asleep.
pub(super) fn can_sleep(body: &RigidBody) -> bool {
    body.is_dynamic() && body.is_enabled()
}

/// Returns a number that no list has.
fn unique() -> u64 {
    Id::default().number()
}

fn four<T>(list: &[T], start: usize) -> &[T; LANES] {
    list[start..].first_chunk().expect("four of the list")
}

/// Returns whether Rapier will list the body as awake after the next step, or may still move it in that step. It does
/// neither with a disabled body.
pub(super) fn is_about_to_move(body: &RigidBody) -> bool {
    let is_awake = !body.is_fixed() && !body.is_sleeping();
    body.is_enabled() && (is_awake || body.position() != body.next_position())
}

/// The number of poses that is worth another thread: reading them takes about 400 µs, and waking a thread up to 100 µs.
/// With 10,000 bodies, one thread reads the poses faster.
#[cfg(feature = "parallel")]
const PIECE: usize = 16_384;

/// Calls `work` with pieces of the poses, each with the index of its first pose. Long lists are divided among threads.
#[cfg(feature = "parallel")]
pub(super) fn for_each(poses: &mut [Pose], work: impl Fn(usize, &mut [Pose]) + Sync) {
    use rayon::prelude::*;

    // One thread reads fewer poses faster. A thread of a pool would run other jobs while it waits for the pieces, and
    // steps in these would nest on its stack.
    if poses.len() < 2 * PIECE || rayon::current_thread_index().is_some() {
        return work(0, poses);
    }
    let pieces = poses.par_chunks_mut(PIECE).enumerate();
    pieces.for_each(|(n, piece)| work(n * PIECE, piece));
}

/// Calls `work` with all poses, and with the index of the first one.
#[cfg(not(feature = "parallel"))]
pub(super) fn for_each(poses: &mut [Pose], work: impl Fn(usize, &mut [Pose])) {
    work(0, poses);
}
