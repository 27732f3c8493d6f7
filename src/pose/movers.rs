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
    /// Whether a plain blend of the two poses may not be enough. After a change of mass, this is known only once the
    /// next step has computed the centre of mass.
    use_trajectory: Vec<bool>,
    trajectories: Vec<Trajectory>,
    /// Whether a body was awake in the last step, or has been inserted awake since.
    were_awake: Vec<bool>,
    awake: usize,
    /// Two lists with the same number have the same bodies in the same order.
    #[cfg_attr(feature = "serde", serde(skip, default = "unique"))]
    order: u64,
    /// Two lists with the same number have the same bodies with the same poses.
    #[cfg_attr(feature = "serde", serde(skip, default = "unique"))]
    version: u64,
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

    pub fn version(&self) -> u64 {
        self.version
    }

    fn reorder(&mut self) {
        self.order = unique();
        self.version = self.order;
    }

    pub fn awake(&self) -> usize {
        self.awake
    }

    pub fn set_awake(&mut self, awake: usize) {
        self.awake = awake;
    }

    pub fn uses_trajectory(&self, index: usize) -> bool {
        self.use_trajectory[index]
    }

    /// Returns whether any of these bodies may need its trajectory. Such bodies are rare, so the flags are read at
    /// once.
    fn any_uses_trajectory(&self, indices: Range<usize>) -> bool {
        let flags = &self.use_trajectory[indices];
        flags.iter().fold(false, |any, is| any | is)
    }

    pub fn all_poses(&self) -> impl ExactSizeIterator<Item = [&Pose; 2]> {
        let poses = self.previous.iter().zip(&self.current);
        poses.map(|(previous, current)| [previous, current])
    }

    pub fn pair(&self, index: usize) -> Pair {
        Pair {
            previous: self.previous[index],
            current: self.current[index],
            trajectory: self.use_trajectory[index].then(|| self.trajectories[index]),
        }
    }

    pub fn push(
        &mut self,
        key: BodyKey,
        handle: RigidBodyHandle,
        pose: Pose,
        was_awake: bool,
    ) -> usize {
        self.reorder();
        self.were_awake.push(was_awake);
        self.handles.push(handle);
        self.keys.push(key);
        self.previous.push(pose);
        self.current.push(pose);
        self.use_trajectory.push(true);
        self.trajectories.push(Trajectory::default());
        self.keys.len() - 1
    }

    pub fn swap(&mut self, one: usize, other: usize) {
        self.reorder();
        self.handles.swap(one, other);
        self.keys.swap(one, other);
        self.previous.swap(one, other);
        self.current.swap(one, other);
        self.use_trajectory.swap(one, other);
        self.trajectories.swap(one, other);
        self.were_awake.swap(one, other);
    }

    pub fn swap_remove(&mut self, index: usize) {
        self.reorder();
        self.handles.swap_remove(index);
        self.keys.swap_remove(index);
        self.previous.swap_remove(index);
        self.current.swap_remove(index);
        self.use_trajectory.swap_remove(index);
        self.trajectories.swap_remove(index);
        self.were_awake.swap_remove(index);
    }

    /// Draws another version, because the poses are about to change.
    pub fn renew_version(&mut self) {
        self.version = unique();
    }
}

/// # Steps
impl Movers {
    /// Begins a step: the current state becomes the previous one. `tick` steps have run. `is_curved` is whether a body
    /// needs its velocity at the beginning, even if its last path was plain.
    pub fn begin_step(
        &mut self,
        world: &World,
        is_curved: impl Fn(BodyKey) -> bool,
        dt: f32,
        tick: u64,
    ) {
        self.renew_version();
        // `end_step` overwrites `current`, which is out of date until then.
        std::mem::swap(&mut self.previous, &mut self.current);
        // Bodies that were awake after the last step are where it left them.
        for index in self.awake..self.keys.len() {
            let position = self.position(index, world, self.previous[index]);
            self.previous[index] = position;
            self.current[index] = position;
        }
        if !self.any_uses_trajectory(0..self.keys.len()) {
            return;
        }
        let max_linear_velocity = world.rapier.integration_parameters.max_linear_velocity();
        for index in 0..self.keys.len() {
            let trajectory = &mut self.trajectories[index];
            if self.use_trajectory[index]
                && (is_curved(self.keys[index]) || !trajectory.is_plain())
                && let Some(body) = world.rapier.bodies.get(self.handles[index])
            {
                trajectory.begin(body, max_linear_velocity, dt, tick);
            }
        }
    }

    pub fn end_step(&mut self, world: &World, smoothing: impl Fn(BodyKey) -> Smoothing, dt: f32) {
        let (handles, current) = (&self.handles[..self.awake], &mut self.current[..self.awake]);
        for_each(current, |start, current| {
            for (handle, current) in handles[start..].iter().zip(current) {
                *current = *world.rapier.bodies[*handle].position();
            }
        });
        // Rapier has just checked that these are finite, except for links that a joint has moved to a pose that is not
        // finite.
        let is_finite = world.rapier.quarantine().bodies().is_empty();
        let first = if is_finite { self.awake } else { 0 };
        // Bodies that fell asleep in this step are read too, because it may still have moved them.
        for index in first..self.keys.len() {
            self.current[index] = self.position(index, world, self.previous[index]);
        }
        if !self.any_uses_trajectory(0..self.keys.len()) {
            return;
        }
        for index in 0..self.keys.len() {
            if self.use_trajectory[index]
                && let Some(body) = world.rapier.bodies.get(self.handles[index])
            {
                let trajectory = &mut self.trajectories[index];
                let smoothing = smoothing(self.keys[index]);
                if Trajectory::ends_plain(body, smoothing) {
                    self.use_trajectory[index] = false;
                    // A later edit reads the centre, which is zero now.
                    *trajectory = Trajectory::default();
                } else {
                    let has_moved = self.previous[index] != self.current[index];
                    trajectory.end(body, smoothing, dt, has_moved);
                }
            }
        }
    }

    /// Returns the bodies that fell asleep or woke up in the step.
    pub fn sleep_changes(&mut self, world: &World) -> Vec<(BodyKey, bool)> {
        let mut changes = Vec::new();
        for index in 0..self.keys.len() {
            // Rapier lists the first bodies as awake.
            if self.were_awake[index] != (index < self.awake) {
                changes.extend(self.sleep_change(index, world));
            }
        }
        changes
    }

    /// Returns whether this body fell asleep, if it did or woke up.
    pub fn sleep_change(&mut self, index: usize, world: &World) -> Option<(BodyKey, bool)> {
        let body = world.rapier.bodies.get(self.handles[index])?;
        let is_awake = can_sleep(body) && !body.is_sleeping();
        let was_awake = std::mem::replace(&mut self.were_awake[index], is_awake);
        (was_awake != is_awake && can_sleep(body)).then_some((self.keys[index], !is_awake))
    }

    fn position(&self, index: usize, world: &World, last: Pose) -> Pose {
        let position = world.position(self.handles[index]);
        position.filter(Pose::is_finite).unwrap_or(last)
    }

    /// Returns whether a body that is not awake stays unchanged until it is found awake or teleported.
    pub fn is_at_rest(&self, index: usize, world: &World) -> bool {
        let handle = self.handles[index];
        let is_extrapolated =
            || self.use_trajectory[index] && self.trajectories[index].is_extrapolated();
        let body = world.rapier.bodies.get(handle);
        let moves_on = || body.is_some_and(is_about_to_move) || world.is_carried(handle);
        self.previous[index] == self.current[index] && !is_extrapolated() && !moves_on()
    }

    pub fn set_tick(&mut self, old: u64, new: u64) {
        for trajectory in &mut self.trajectories {
            trajectory.set_tick(old, new);
        }
    }
}

/// # Placing
impl Movers {
    /// Rechecks a body: from the next step on, its displayed poses may need more than the two poses.
    pub fn recheck(&mut self, index: usize) {
        self.use_trajectory[index] = true;
    }

    pub fn recheck_all(&mut self) {
        self.use_trajectory.fill(true);
    }

    /// Moves a body to `position` after `tick` steps. The changed part is not blended with the old pose.
    pub fn put(&mut self, index: usize, position: Pose, tick: u64) {
        self.renew_version();
        let (previous, current) = (&mut self.previous[index], &mut self.current[index]);
        let trajectory = &mut self.trajectories[index];
        trajectory.put(tick);
        if position.rotation != current.rotation {
            previous.rotation = position.rotation;
            trajectory.stop_turning();
        }
        if position.translation != current.translation {
            // The centre of mass is at rest, and the body still turns about it.
            let center = trajectory.center();
            let swing = position.rotation * center - previous.rotation * center;
            previous.translation = position.translation + swing;
            trajectory.stop_moving();
        }
        *current = position;
    }

    pub fn teleport(&mut self, index: usize, position: Pose, tick: u64) {
        self.set(index, position, position);
        self.stop(index);
        self.trajectories[index].put(tick);
    }

    pub fn set(&mut self, index: usize, previous: Pose, current: Pose) {
        self.renew_version();
        self.previous[index] = previous;
        self.current[index] = current;
    }

    /// Displays the path of the last step, of length `dt`, with another smoothing.
    pub fn retime(&mut self, index: usize, smoothing: Smoothing, body: &RigidBody, dt: Real) {
        self.renew_version();
        self.use_trajectory[index] = true;
        self.trajectories[index].retime(smoothing, body, dt);
    }

    pub fn turn(&mut self, index: usize, by: Rotation, tick: u64) {
        self.trajectories[index].turn(by);
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
    pub fn blend(&self, start: usize, weights: &Weights, poses: &mut [Pose]) {
        let places = start..start + poses.len();
        let (previous, current) = (
            &self.previous[places.clone()],
            &self.current[places.clone()],
        );
        weights.blend.all(previous, current, poses);
        if self.any_uses_trajectory(places) {
            self.blend_with_curves(start, weights, poses);
        }
    }

    /// Blends the poses again, because some of the movers have a curve or another smoothing. Most scenes have none.
    #[inline(never)]
    fn blend_with_curves(&self, start: usize, weights: &Weights, poses: &mut [Pose]) {
        let (fours, rest) = poses.as_chunks_mut::<LANES>();
        let rest_start = start + fours.len() * LANES;
        for (n, four) in fours.iter_mut().enumerate() {
            self.blend_four(start + n * LANES, weights, four);
        }
        for (index, pose) in (rest_start..).zip(rest) {
            *pose = self.pair(index).weighted(weights);
        }
    }

    fn blend_four(&self, start: usize, weights: &Weights, poses: &mut [Pose; LANES]) {
        let mut left = *four(&self.use_trajectory, start);
        let trajectories = four(&self.trajectories, start);
        while let Some(first) = left.iter().position(|is_left| *is_left) {
            let smoothing = trajectories[first].smoothing();
            let motions = Motions {
                trajectories,
                previous: four(&self.previous, start),
                current: four(&self.current, start),
                plain: poses,
            };
            let shown = motions.at(smoothing, weights);
            for i in first..LANES {
                if left[i] && trajectories[i].smoothing() == smoothing {
                    (poses[i], left[i]) = (shown[i], false);
                }
            }
        }
    }
}

#[cfg(feature = "serde")]
impl Movers {
    pub fn is_consistent(&self) -> bool {
        let len = self.keys.len();
        let poses = [&self.previous, &self.current];
        poses.iter().all(|list| list.len() == len)
            && poses.into_iter().flatten().all(Pose::is_finite)
            && self.handles.len() == len
            && self.use_trajectory.len() == len
            && self.trajectories.len() == len
            && self.were_awake.len() == len
            && self.awake <= len
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

#[cfg(feature = "parallel")]
pub(super) fn for_each(poses: &mut [Pose], work: impl Fn(usize, &mut [Pose]) + Sync) {
    use rayon::prelude::*;

    // A thread of a pool would run other jobs while it waits for its pieces, as in `step::pool`.
    if poses.len() < 2 * PIECE || rayon::current_thread_index().is_some() {
        return work(0, poses);
    }
    let pieces = poses.par_chunks_mut(PIECE).enumerate();
    pieces.for_each(|(n, piece)| work(n * PIECE, piece));
}

#[cfg(not(feature = "parallel"))]
pub(super) fn for_each(poses: &mut [Pose], work: impl Fn(usize, &mut [Pose])) {
    work(0, poses);
}
