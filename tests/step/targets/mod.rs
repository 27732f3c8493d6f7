//! Kinematic bodies that the game moves to targets.

mod disabled;
mod edges;
mod motion;

use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Physics, Rate, Simulation, Smoothing};
use scenes::testing::{
    about_z, cuboid, pose, scaled, spin, spin_numbers, translation, turned, vector,
};
use scenes::{MS, STEPPINGS, advance, ball, space};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn platform(simulation: &mut Simulation) -> BodyKey {
    simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based(),
        cuboid(2.0, 0.1, 2.0).friction(1.0),
    )
}

fn at(x: f32) -> Pose {
    translation(x, 0.0, 0.0)
}

/// Runs a frame in which the game moves the platform along `path`, a function of seconds.
fn advance_along(
    simulation: &mut Simulation,
    key: BodyKey,
    frame_time: Duration,
    path: impl Fn(f64) -> Pose,
) {
    let time = simulation.clock().time_after(frame_time);
    let pose = path(time.as_secs_f64());
    simulation
        .physics
        .set_kinematic_target(key, pose, time)
        .unwrap();
    simulation.advance(frame_time, |_, _| ());
}

fn position(physics: &Physics, key: BodyKey) -> Vector {
    physics.body(key).unwrap().translation()
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}
