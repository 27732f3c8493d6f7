//! How bodies go on from their last state, for frames that are beyond it.

use rapier::dynamics::{RigidBody, RigidBodyVelocity};
use rapier::math::{Pose, Real, Vector};

use crate::dim::LANES;

use super::motion::{finite_center, finite_velocity};
use super::paths::{all_extrapolated, extrapolated};

/// How a body goes on from its last state.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extrapolation {
    velocity: RigidBodyVelocity<Real>,
    /// Of its mass, in its own frame.
    center: Vector,
}

impl Extrapolation {
    pub fn of(body: &RigidBody) -> Self {
        Self {
            velocity: finite_velocity(body),
            center: finite_center(body),
        }
    }
}

/// Moves bodies to where they are so many seconds later; who would be nowhere stays.
pub(super) fn extrapolate(poses: &mut [Pose], extrapolations: &[Extrapolation], seconds: f32) {
    let put = |pose: &mut Pose, beyond: Pose| {
        if beyond.is_finite() {
            *pose = beyond;
        }
    };
    let extrapolations = &extrapolations[..poses.len()];
    let (fours, rest) = poses.as_chunks_mut::<LANES>();
    let (extrapolation_fours, extrapolation_rest) = extrapolations.as_chunks::<LANES>();
    for (poses, four) in fours.iter_mut().zip(extrapolation_fours) {
        let velocities = four.each_ref().map(|it| &it.velocity);
        let centers = four.each_ref().map(|it| it.center);
        let beyond = all_extrapolated(poses, velocities, centers, [seconds; LANES]);
        poses
            .iter_mut()
            .zip(beyond)
            .for_each(|(pose, beyond)| put(pose, beyond));
    }
    for (pose, extrapolation) in rest.iter_mut().zip(extrapolation_rest) {
        let beyond = extrapolated(pose, &extrapolation.velocity, extrapolation.center, seconds);
        put(pose, beyond);
    }
}
