//! Joints of multibodies that change while links are at rest. Rapier places all links in each step, and wakes none.

use evenstep::rapier::prelude::*;
use evenstep::threads::{Runner, RunnerSettings};
use evenstep::{BodyKey, Hooks, Physics, Simulation, Step};
use scenes::{MS, advance, ball, space};
use std::convert::Infallible;

struct Idle;

impl Hooks for Idle {
    type Error = Infallible;
}

fn join(physics: &mut Physics, keys: [BodyKey; 2], anchor: Vector) {
    let [root, link] = keys.map(|key| physics.handle(key).unwrap());
    let joint = FixedJointBuilder::new().local_anchor1(anchor);
    let world = physics.rapier_mut_except_bodies();
    world.insert_multibody_joint(root, link, joint).unwrap();
}

fn lengthen(physics: &mut Physics, tip: BodyKey, by: f32) {
    let handle = physics.handle(tip).unwrap();
    let joints = &mut physics.rapier_mut_except_bodies().multibody_joints;
    let link = *joints.rigid_body_link(handle).unwrap();
    let multibody = joints.get_multibody_mut(link.multibody).unwrap();
    let joint = &mut multibody.link_mut(link.id).unwrap().joint.data;
    joint.set_local_anchor1(joint.local_anchor1() + Vector::X * by);
}

/// Returns an arm that sleeps, with its tip 1 m from its root.
fn arm() -> (Simulation, BodyKey) {
    let mut simulation = space(100);
    let physics = &mut simulation.physics;
    let root = physics.insert(RigidBodyBuilder::fixed(), ball());
    let tip = physics.insert(RigidBodyBuilder::dynamic().translation(Vector::X), ball());
    join(physics, [root, tip], Vector::X);
    while simulation.physics.tick() < 300 {
        advance(&mut simulation, 10);
    }
    assert!(simulation.physics.body(tip).unwrap().is_sleeping());
    (simulation, tip)
}

#[test]
fn a_link_that_sleeps_is_displayed_where_a_changed_joint_places_it() {
    let (mut simulation, tip) = arm();
    for (frame, changes) in [1.0, 0.5, 0.0, 0.0, 0.25, 0.0].into_iter().enumerate() {
        simulation.advance(MS(10), |physics, _: Step| {
            if changes > 0.0 {
                lengthen(physics, tip, changes);
            }
        });
        let expected = [1.0, 2.0, 2.5, 2.5, 2.5, 2.75][frame];
        let shown = simulation.pose(tip).unwrap().translation.x;
        assert!((shown - expected).abs() < 1e-5, "{shown} in frame {frame}");
    }

    let (simulation, tip) = arm();
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, Idle, RunnerSettings::default());
    runner
        .call(move |simulation, _| lengthen(&mut simulation.physics, tip, 1.0))
        .unwrap();
    for ms in 0..60 {
        worker.run_until(MS(ms));
        runner.frame_at(MS(ms));
    }
    assert_eq!(runner.view().pose(tip).unwrap().translation.x, 2.0);
}

#[test]
fn bodies_at_rest_are_displayed_where_a_new_joint_places_them() {
    for is_disabled in [false, true] {
        let mut simulation = space(100);
        let [root, link] = [0.0, 5.0].map(|x| {
            let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
            simulation.physics.insert(body, ball())
        });
        for key in [root, link] {
            let body = simulation.physics.body_mut(key).unwrap();
            body.activation_mut().time_until_sleep = 0.0;
            body.set_enabled(!is_disabled || key == root);
        }
        for _ in 0..10 {
            advance(&mut simulation, 10);
        }
        join(&mut simulation.physics, [root, link], Vector::X);
        for _ in 0..10 {
            advance(&mut simulation, 10);
        }
        let rapier = *simulation.physics.body(link).unwrap().position();
        assert!(rapier.translation.x < 2.0);
        assert_eq!(simulation.pose(link), Some(rapier), "{is_disabled}");
    }
}
