//! A sword in a hand that is jointed to a head, seen by a camera in the head.

use super::{SECOND, position};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use scenes::space;

/// Returns the displayed pose of a bone, in the frame of its parent.
fn bone(simulation: &Simulation, parent: BodyKey, child: BodyKey) -> Option<Pose> {
    Some(simulation.pose(parent)?.inverse() * simulation.pose(child)?)
}

#[test]
fn attachments_of_attachments_keep_their_displayed_offset() {
    let mut simulation = space(60);
    // In the frames of the hand, the sword and the head.
    let grip = Pose::from_parts(Vector::Z * 0.1, Rotation::from_rotation_x(1.2));
    let tip = Vector::Y * 0.5;
    let eye = Pose::translation(0.0, 0.1, 0.0);
    let arm = Pose::translation(0.4, -0.5, 0.3); // to the hand

    let body = RigidBodyBuilder::dynamic()
        .linvel(Vector::X * 9.0)
        .angvel(Vector::Y * 2.0);
    let physics = &mut simulation.physics;
    let head = physics.insert(body.clone(), ColliderBuilder::ball(0.2));
    let hand = physics.insert(body.pose(arm), ColliderBuilder::ball(0.1));
    let blade = ColliderBuilder::capsule_y(0.5, 0.03)
        .position(grip)
        .density(1.0);
    physics.insert_collider(hand, blade).unwrap();
    let [one, two] = [head, hand].map(|key| physics.handle(key).unwrap());
    let joint = FixedJointBuilder::new().local_frame1(arm);
    physics
        .rapier_mut_except_bodies()
        .insert_impulse_joint(one, two, joint);

    let seen = (eye.inverse() * arm * grip) * tip; // from the head
    let mut wrong = 0.0_f32;
    for _ in 0..300 {
        simulation.advance(SECOND / 144, |_, _| ());
        let camera = simulation.pose(head).unwrap() * eye;
        let sword = simulation.pose(hand).unwrap() * grip;
        assert!((camera.inverse() * (sword * tip)).distance(seen) < 0.01);

        let bone = bone(&simulation, head, hand).unwrap();
        assert!(bone.translation.distance(arm.translation) < 0.01);

        let ahead = position(&simulation.physics, hand) * grip * tip;
        wrong = wrong.max((camera.inverse() * ahead).distance(seen));
    }
    assert!(wrong > 0.1, "{wrong} m"); // from the true pose
}
