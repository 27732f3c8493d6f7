//! Displayed poses between two states, and beyond the last one, compared with the true motion.

mod changes;
mod eased;
mod hermite;
mod listed;
mod trajectories;

use evenstep::forces::ForceGenerator;
use evenstep::rapier::prelude::*;
use evenstep::render::interpolate;
use evenstep::rewind::Kept;
use evenstep::{BodyError, BodyKey, Correction, Physics, Simulation, Smoothing};
use scenes::testing::{
    angle_between, cuboid, integrated, length, pose, rotation_numbers, spin, translation, turned,
    vector, with_minus_zeros,
};
use scenes::{MS, advance, ball, shown_x, space};
use std::time::Duration;

/// Creates a body whose mass is 1 m from its origin, flying along x and turning fast.
fn thrown_hammer(simulation: &mut Simulation) -> BodyKey {
    simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .linvel(Vector::X * 5.0)
            .angvel(spin(0.0, 0.0, 6.0)),
        ColliderBuilder::ball(0.1).translation(Vector::X),
    )
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// Returns the pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}
