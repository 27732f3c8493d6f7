//! How bodies go on from their last state, for frames that are beyond it.

use rapier::dynamics::{RigidBody, RigidBodyVelocity};
use rapier::math::{Pose, Real, Vector};

use crate::dim::LANES;

use super::motion::{finite_center, finite_velocity};
use super::paths::{all_moved_on, moved_on};

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
pub(super) fn move_on(poses: &mut [Pose], onward: &[Onward], seconds: f32) {
    let put = |pose: &mut Pose, beyond: Pose| {
        if beyond.is_finite() {
            *pose = beyond;
        }
    };
    let onward = &onward[..poses.len()];
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
