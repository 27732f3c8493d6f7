//! A renderer's instance buffer with a slot for each body, and poses in the types of other libraries.

use super::SECOND;
use evenstep::rapier::prelude::*;
use evenstep::{Physics, Rate, Simulation};
use recipes::instances::Instances;
use recipes::motion_vectors::Buffers;
use scenes::{space, with_floor};

/// Returns the number of slots that draw a body. Checks their poses.
fn check(instances: &Instances, simulation: &Simulation) -> usize {
    assert_eq!(instances.slots.len(), simulation.physics.bodies().count());
    for (key, slot) in &instances.slots {
        let pose = simulation.pose(*key).unwrap();
        assert_eq!(instances.matrices[*slot], pose.to_mat4().to_cols_array());
    }
    let matrices = instances.matrices.iter();
    let drawn = matrices.filter(|matrix| **matrix != [0.0; 16]);
    drawn.count()
}

#[test]
fn slots_hold_the_pose_of_each_body_and_are_used_again() {
    let mut simulation = with_floor(Rate::hz(60));
    let mut instances = Instances::default();
    let mut crates = Vec::new();
    let insert = |physics: &mut Physics, x: f32| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, 2.0, 0.0));
        physics.insert(body, ColliderBuilder::ball(0.5))
    };
    for i in 0..10u8 {
        crates.push(insert(&mut simulation.physics, 2.0 * f32::from(i)));
    }
    for frame in 0..600u16 {
        if frame % 100 == 50 {
            simulation.physics.remove(crates.remove(0));
        }
        if frame % 200 == 150 {
            let key = insert(&mut simulation.physics, -f32::from(frame) / 50.0);
            crates.push(key);
        }
        simulation.advance(SECOND / 144, |_, _| ());
        instances.update(&simulation);
        assert_eq!(check(&instances, &simulation), 1 + crates.len());
    }
    assert_eq!(instances.matrices.len(), 11); // new bodies use free slots

    // A copy of the simulation, such as a loaded one, lists only what changes from now on.
    let mut other = simulation.clone();
    other.advance(SECOND / 144, |_, _| ());
    instances.rewrite(&other);
    assert_eq!(check(&instances, &other), 1 + crates.len());
}

#[test]
fn poses_convert_to_other_versions_of_glam_and_back() {
    use evenstep::rapier::glamx::glam as raw;
    let (position, rotation) = (
        raw::Vec3::new(1.0, 2.0, 3.0),
        raw::Quat::from_rotation_y(0.5),
    );
    let pose = Pose::from_parts(position, rotation);
    let matrix = raw::Mat4::from_rotation_translation(rotation, position);
    assert_eq!(pose.to_mat4(), matrix);

    let other = glam::Vec3::from_array(pose.translation.to_array());
    let turned = glam::Quat::from_array(pose.rotation.to_array()); // x, y, z, w
    let back = Pose::from_parts(
        Vector::from_array(other.to_array()),
        Rotation::from_array(turned.to_array()),
    );
    assert_eq!(back, pose);
}

#[test]
fn poses_convert_to_nalgebra_and_back() {
    use evenstep::nalgebra::{Isometry3, Vector3};
    let isometry = Isometry3::new(Vector3::new(0.0, 4.0, 0.0), Vector3::y() * 0.5);
    assert_eq!(Isometry3::from(Pose::from(isometry)), isometry);
}

#[test]
#[cfg(feature = "mint")]
fn poses_convert_to_mint_and_back() {
    let pose = Pose::new(Vector::new(1.0, 2.0, 3.0), Vector::Y * 0.5);
    let position: mint::Vector3<f32> = pose.translation.into();
    let turned: mint::Quaternion<f32> = pose.rotation.into();
    let model: mint::ColumnMatrix4<f32> = pose.to_mat4().into();
    assert_eq!((position.y, model.w.y), (2.0, 2.0));
    let back = Pose::from_parts(Vector::from(position), Rotation::from(turned));
    assert_eq!(back, pose);
}

#[test]
fn motion_vectors_are_zero_for_a_teleported_body() {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m per step
    let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let mut buffers = Buffers::default();
    let mut motion = |simulation: &mut Simulation| {
        simulation.advance(SECOND / 120, |_, _| ());
        buffers.write(simulation);
        (buffers.poses[&ball].translation - buffers.before[&ball].translation).x
    };
    // The body is new, then its first step has not run yet, then it flies.
    for expected in [0.0, 0.0, 0.5, 0.5] {
        assert!((motion(&mut simulation) - expected).abs() < 1e-3);
    }
    simulation.physics.teleport(ball, Pose::IDENTITY).unwrap();
    assert_eq!(motion(&mut simulation), 0.0);
    // A body that stops has no motion in the next picture.
    let body = simulation.physics.body_mut(ball).unwrap();
    body.set_linvel(Vector::ZERO, true);
    for _ in 0..4 {
        motion(&mut simulation);
    }
    assert_eq!(motion(&mut simulation), 0.0);
}

#[test]
fn motion_vectors_follow_a_shifted_origin_and_forget_removed_bodies() {
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m per step
    let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let mut buffers = Buffers::default();
    for tick in 0..6 {
        simulation.advance(SECOND / 60, |physics, _| {
            if tick == 4 {
                physics.shift_origin(Vector::X * 100.0).unwrap();
            }
        });
        buffers.write(&simulation);
        let [now, before] = [&buffers.poses, &buffers.before].map(|it| it[&ball].translation.x);
        if tick > 1 {
            assert!(
                (now - before - 1.0).abs() < 1e-3,
                "{before} {now} at {tick}"
            );
        }
    }
    assert!(buffers.poses[&ball].translation.x < -90.0);
    simulation.physics.remove(ball);
    simulation.advance(SECOND / 60, |_, _| ());
    buffers.write(&simulation);
    assert!(buffers.poses.is_empty() && buffers.before.is_empty());
}
