//! An object that a hand holds and throws. It leaves the hand without a jump.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Physics, Simulation};

/// Moves the held object, which is kinematic. Call it before each frame. `hand` is the pose for the end of the frame,
/// at which you draw the object.
pub fn hold(
    simulation: &mut Simulation,
    key: BodyKey,
    hand: Pose,
    frame_time: Duration,
) -> Result<(), BodyError> {
    let time = simulation.clock().time_after(frame_time);
    simulation.physics.set_kinematic_target(key, hand, time)
}

/// Lets the object fly on. `hand` is the pose at which it was drawn last.
pub fn throw(physics: &mut Physics, key: BodyKey, hand: Pose, velocity: Vector) {
    let body = physics.body_mut(key).unwrap();
    body.set_body_type(RigidBodyType::Dynamic, true);
    body.set_linvel(velocity, true);
    physics.show_from(key, hand).unwrap();
}
