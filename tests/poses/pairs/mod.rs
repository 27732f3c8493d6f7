//! The poses that a frame displays, case by case.

mod edited;
mod sleeping;
mod spawned;

use evenstep::rapier::prelude::*;
use evenstep::render::interpolate;
use evenstep::{BodyError, BodyKey, Physics, Rate, Simulation, Step};
use scenes::testing::{ball_joint, spin, translation};
use scenes::{MS, advance, assert_near, ball, flyer, moved_keys, shown_x};
use std::time::Duration;

/// Creates free space at 100 Hz, so that a step is 10 ms.
fn space() -> Simulation {
    scenes::space(100)
}

fn at(x: f32) -> Pose {
    translation(x, 0.0, 0.0)
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// Returns the pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}
