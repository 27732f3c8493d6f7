//! What is shown of states that come from another thread.

use slotmap::SecondaryMap;

use crate::dim::LANES;
use crate::key::BodyKey;
use rapier::dynamics::{RigidBody, RigidBodyVelocity};
use rapier::math::{Pose, Real, Vector};

use super::motion::{finite_center, finite_velocity};
use super::paths::{all_moved_on, moved_on};
use super::poses::Poses;

/// The pose of every body as it was last shown, and what changed then.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    shown: SecondaryMap<BodyKey, Pose>,
    moved: Vec<(BodyKey, Pose)>,
    removed: Vec<BodyKey>,
    /// What was shown last, and how often bodies had been removed by then.
    moment: Option<Moment>,
    removals: u64,
    /// Kept for its memory.
    buffer: Vec<Pose>,
}

/// What is shown of poses. Two that are equal show the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Moment {
    /// Which simulation's poses they are.
    pub simulation: u64,
    /// The number of their frame.
    pub frame: u64,
    /// How far between their two states.
    pub alpha: f32,
    /// How far beyond: in seconds.
    pub beyond: f32,
}

/// How a body goes on from its last state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Onward {
    velocity: RigidBodyVelocity<Real>,
    /// Of its mass, in its own frame.
    center: Vector,
}

impl Onward {
    pub fn of(body: &RigidBody) -> Self {
        Self {
            velocity: finite_velocity(body),
            center: finite_center(body),
        }
    }
}

/// Moves bodies to where they are so many seconds later; who would be nowhere stays.
fn move_on(poses: &mut [Pose], onward: &[Onward], seconds: f32) {
    let put = |pose: &mut Pose, beyond: Pose| {
        if beyond.is_finite() {
            *pose = beyond;
        }
    };
    let (fours, rest) = poses.as_chunks_mut::<LANES>();
    let (onward_fours, onward_rest) = onward.as_chunks::<LANES>();
    for (poses, onward) in fours.iter_mut().zip(onward_fours) {
        let velocities = onward.each_ref().map(|it| &it.velocity);
        let centers = onward.each_ref().map(|it| it.center);
        let beyond = all_moved_on(poses, velocities, centers, [seconds; LANES]);
        poses
            .iter_mut()
            .zip(beyond)
            .for_each(|(pose, beyond)| put(pose, beyond));
    }
    for (pose, onward) in rest.iter_mut().zip(onward_rest) {
        let beyond = moved_on(pose, &onward.velocity, onward.center, seconds);
        put(pose, beyond);
    }
}

impl Screen {
    /// Shows a moment of `poses`. `onward` is of all of them that move, and is asked for beyond the last state only.
    pub fn show(&mut self, poses: &Poses, onward: &[Onward], moment: Moment) {
        self.moved.clear();
        self.removed.clear();
        let last = self.moment.replace(moment);
        if last == Some(moment) {
            return;
        }
        let before = last.filter(|last| last.simulation == moment.simulation);
        let removals = std::mem::replace(&mut self.removals, poses.removals());
        if before.is_none() || removals != poses.removals() {
            let gone = self.shown.keys().filter(|key| !poses.contains(*key));
            self.removed.extend(gone);
            for key in &self.removed {
                self.shown.remove(*key);
            }
        }
        let since = before.map(|before| before.frame);
        poses.poses_at(moment.alpha, &mut self.buffer);
        if moment.beyond > 0.0 {
            move_on(&mut self.buffer, onward, moment.beyond);
        }
        for (key, pose) in poses.poses_since(since, &self.buffer) {
            if self.shown.insert(key, pose) != Some(pose) {
                self.moved.push((key, pose));
            }
        }
    }

    /// The body of this key was to come. If it is not shown now, it never will be, and is gone.
    pub fn settle(&mut self, key: BodyKey) {
        if !self.shown.contains_key(key) {
            self.removed.push(key);
        }
    }

    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.shown.get(key).copied()
    }

    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        &self.moved
    }

    pub fn removed(&self) -> &[BodyKey] {
        &self.removed
    }
}
