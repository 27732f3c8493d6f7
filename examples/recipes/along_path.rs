//! A lift and a drone that move evenly along a path, and push other bodies.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

/// Returns the position on the path.
pub fn path(time: Duration) -> Vector {
    Vector::X * 3.0 * time.as_secs_f32()
}

/// Moves a kinematic lift and a dynamic drone along the path. Call it in the hook, before each step.
pub fn follow(physics: &mut Physics, step: Step, lift: BodyKey, drone: BodyKey) {
    let next = path(step.end_time);
    let lift = physics.body_mut(lift).unwrap();
    lift.set_next_kinematic_translation(next);

    let drone = physics.body_mut(drone).unwrap();
    drone.set_linvel((next - drone.translation()) / step.dt, true);
}
