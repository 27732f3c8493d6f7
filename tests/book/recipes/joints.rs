//! A door with a motor.

use super::*;

const STIFFNESS: f32 = 40.0; // rad/s² for each radian
const DAMPING: f32 = 26.0; // rad/s² for each rad/s: enough not to overshoot

/// Turns the door to this angle, in radians.
fn turn(physics: &mut Physics, hinge: ImpulseJointHandle, angle: f32) {
    let joints = &mut physics.rapier_mut_except_bodies().impulse_joints;
    let hinge = joints.get_mut(hinge, true).unwrap(); // wakes both bodies
    let motor = &mut hinge.data;
    motor.set_motor_position(JointAxis::AngX, angle, STIFFNESS, DAMPING);
}

#[test]
fn a_door_that_sleeps_opens_evenly_and_falls_asleep_again() {
    let mut simulation = space(60);
    let post = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let door = simulation.physics.insert(
        RigidBodyBuilder::dynamic().translation(Vector::X * 0.5),
        ColliderBuilder::cuboid(0.5, 1.0, 0.05).mass(30.0),
    );
    let hinge = RevoluteJointBuilder::new(Vector::Y)
        .local_anchor2(Vector::X * -0.5)
        .limits([0.0, 1.6])
        .motor_position(0.0, STIFFNESS, DAMPING);
    let [post, leaf] = [post, door].map(|key| simulation.physics.handle(key).unwrap());
    let rapier = simulation.physics.rapier_mut_except_bodies();
    let hinge = rapier.insert_impulse_joint(post, leaf, hinge);

    let mut angle = 0.0;
    for frame in 0..144 * 8 {
        if frame == 144 * 4 {
            assert_eq!(simulation.frame().awake, 0);
            turn(&mut simulation.physics, hinge, 1.5);
        }
        simulation.advance(SECOND / 144, |_, _| ());
        let rotation = simulation.pose(door).unwrap().rotation;
        let drawn = rotation.to_scaled_axis().y;
        assert!(drawn > angle - 1e-4, "it swings back in frame {frame}");
        assert!(drawn < angle + 0.03, "it jumps in frame {frame}");
        angle = drawn;
    }
    assert!((angle - 1.5).abs() < 0.01, "{angle} radians");
    assert_eq!(simulation.frame().awake, 0);
}
