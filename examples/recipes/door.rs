//! A door with a motor, which opens and closes even if it has fallen asleep.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

const STIFFNESS: f32 = 40.0; // rad/s² for each radian
const DAMPING: f32 = 26.0; // rad/s² for each rad/s: enough not to overshoot

/// Inserts a closed door of 1 m, with its hinge at this position. Returns the door and the hinge.
pub fn insert(physics: &mut Physics, hinge: Vector) -> (BodyKey, ImpulseJointHandle) {
    let post = physics.insert_body(RigidBodyBuilder::fixed().translation(hinge));
    let door = physics.insert(
        RigidBodyBuilder::dynamic().translation(hinge + Vector::X * 0.5),
        ColliderBuilder::cuboid(0.5, 1.0, 0.05).mass(30.0),
    );
    let joint = RevoluteJointBuilder::new(Vector::Y)
        .local_anchor2(Vector::X * -0.5)
        .limits([0.0, 1.6])
        .motor_position(0.0, STIFFNESS, DAMPING);
    let [post, leaf] = [post, door].map(|key| physics.handle(key).unwrap());
    let rapier = physics.rapier_mut_except_bodies();
    (door, rapier.insert_impulse_joint(post, leaf, joint))
}

/// Turns the door to this angle, in radians.
pub fn turn(physics: &mut Physics, hinge: ImpulseJointHandle, angle: f32) {
    let joints = &mut physics.rapier_mut_except_bodies().impulse_joints;
    let hinge = joints.get_mut(hinge, true).unwrap(); // wakes both bodies
    let motor = &mut hinge.data;
    motor.set_motor_position(JointAxis::AngX, angle, STIFFNESS, DAMPING);
}
