//! Ragdolls, and objects that a mouse drags or a hand throws.

use evenstep::rapier::prelude::*;
use evenstep::{Correction, Rate, Simulation};
use recipes::dragging::{pull, start};
use recipes::grabbing::{hold, throw};
use recipes::ragdoll::Ragdoll;
use scenes::{space, with_floor};
use std::time::Duration;

#[test]
fn a_ragdoll_keeps_its_velocity_and_its_joints() {
    let mut simulation = with_floor(Rate::hz(60));
    let ragdoll = Ragdoll::build(&mut simulation.physics, Vector::Y * 1.5);
    for key in ragdoll.bones() {
        let bone = simulation.physics.body_mut(key).unwrap();
        bone.set_linvel(Vector::X * 3.0, true);
    }
    for frame in 0..600 {
        if frame == 60 {
            ragdoll.fall(&mut simulation.physics);
        }
        simulation.advance(Duration::from_millis(17), |_, _| ());
        let pose = |key| simulation.pose(key).unwrap();
        let gaps = ragdoll.limbs.each_ref().map(|limb| {
            let joint = pose(ragdoll.trunk) * limb.on_trunk;
            joint.distance(pose(limb.key) * limb.on_limb)
        });
        assert!(gaps.iter().all(|gap| *gap < 0.05), "{gaps:?} m");
    }
    let position = simulation.pose(ragdoll.trunk).unwrap().translation;
    assert!(position.x > 4.0 && position.y < 0.5, "{position}");
}

#[test]
fn a_dragged_point_reaches_the_mouse() {
    let mut simulation = Simulation::default();
    let body = RigidBodyBuilder::dynamic().angular_damping(2.0); // it soon stops swinging
    let cuboid = ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(20.0);
    simulation.physics.insert(body, cuboid);
    simulation.advance(Duration::from_millis(17), |_, _| ());
    let [press, target] = [0.4, 3.0].map(|y| Ray::new(Vector::new(0.0, y, 8.0), Vector::NEG_Z));
    assert!(start(&simulation.physics, &target).is_none()); // above the body
    let drag = start(&simulation.physics, &press).unwrap();
    for _ in 0..600 {
        simulation.advance(Duration::from_millis(17), |physics, _| {
            pull(physics, &drag, &target).unwrap()
        });
    }
    let point = simulation.pose(drag.key).unwrap() * drag.point;
    let distance = point.distance(target.point_at(drag.distance));
    assert!(distance < 0.01, "{distance} m");
}

/// Returns how fast a crate still turns, in rad/s, that was held at a corner for 5 s.
fn spin_of_held_corner(damping: f32) -> f32 {
    let mut simulation = Simulation::default();
    let cuboid = ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(20.0);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), cuboid);
    simulation.advance(Duration::from_millis(17), |_, _| ());
    let mouse = Ray::new(Vector::new(0.45, 0.45, 8.0), Vector::NEG_Z);
    let drag = start(&simulation.physics, &mouse).unwrap();
    let body = simulation.physics.body_mut(key).unwrap();
    body.set_angular_damping(damping);
    for _ in 0..300 {
        simulation.advance(Duration::from_millis(17), |physics, _| {
            pull(physics, &drag, &mouse).unwrap();
        });
    }
    simulation.physics.body(key).unwrap().angvel().length()
}

#[test]
fn a_body_that_is_dragged_off_its_centre_rests_only_with_damping() {
    assert!(
        spin_of_held_corner(10.0) < 0.05,
        "{}",
        spin_of_held_corner(10.0)
    );
    assert!(
        spin_of_held_corner(0.0) > 0.3,
        "{}",
        spin_of_held_corner(0.0)
    );
}

const FRAME: Duration = Duration::from_nanos(13_888_889); // 72 Hz

/// Returns the largest deviation of the drawn motion per frame from that of the hand, in metres.
fn uneven(correction: Correction, is_shown_from_hand: bool) -> f32 {
    let mut simulation = space(60);
    simulation.correction = correction;
    let body = RigidBodyBuilder::kinematic_position_based();
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.1));
    let velocity = Vector::X * 5.8;
    let hand = |frame: u32| Pose::from_translation(velocity * (FRAME * frame).as_secs_f32());
    let (mut last, mut worst) = (hand(0), 0.0_f32);
    for frame in 1..100 {
        let hand = hand(frame);
        if frame < 50 {
            hold(&mut simulation, key, hand, FRAME).unwrap();
        } else if frame == 50 {
            throw(&mut simulation.physics, key, hand, velocity);
            if !is_shown_from_hand {
                simulation.correction = Correction::OFF;
            }
        }
        simulation.advance(FRAME, |_, _| ());
        let drawn = match frame < 50 {
            true => hand,
            false => simulation.pose(key).unwrap(),
        };
        let moved = drawn.translation.x - last.translation.x;
        worst = worst.max((moved - 5.8 * FRAME.as_secs_f32()).abs());
        last = drawn;
    }
    worst
}

#[test]
fn a_thrown_object_leaves_the_hand_without_a_jump() {
    let half_life = |ms| Correction::half_life(Duration::from_millis(ms));
    let jump = uneven(Correction::default(), false);
    assert!((jump - 0.097).abs() < 0.002, "{jump} m");
    let default = uneven(Correction::default(), true);
    assert!(default < 0.005, "{default} m");
    let short = uneven(half_life(50), true);
    assert!((0.015..0.018).contains(&short), "{short} m");
    let linear = uneven(Correction::linear(Duration::from_millis(150)), true);
    assert!((0.008..0.0095).contains(&linear), "{linear} m");
}
