//! One motion, displayed in four ways: a setting per body.
//!
//! `cargo run --example smoothing`

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{Rate, Simulation, Smoothing};

fn main() {
    let ways = [
        ("latest", Smoothing::Latest),
        ("interpolate", Smoothing::Interpolate),
        ("hermite", Smoothing::Hermite),
        ("extrapolate", Smoothing::Extrapolate),
    ];
    let mut simulation = Simulation::new(Rate::hz(20));
    // Four pendulums, which differ in nothing but how they are displayed.
    let balls = ways.map(|(_, smoothing)| {
        let physics = &mut simulation.physics;
        let hook = physics.insert_body(RigidBodyBuilder::fixed());
        let ball = RigidBodyBuilder::dynamic().translation(Vector::X);
        let no_contacts = InteractionGroups::none();
        let collider = ColliderBuilder::ball(0.1).collision_groups(no_contacts);
        let ball = physics.insert(ball, collider);
        physics.set_body_smoothing(ball, Some(smoothing)).unwrap();
        let ends = [hook, ball].map(|key| physics.handle(key).unwrap());
        let arm = RevoluteJointBuilder::new(Vector::Z).local_anchor2(-Vector::X);
        let joints = physics.rapier_mut_except_bodies();
        joints.insert_impulse_joint(ends[0], ends[1], arm);
        ball
    });
    println!("{}", ways.map(|(name, _)| format!("{name:>12}")).concat());
    for _ in 0..60 {
        simulation.advance(Duration::from_secs(1) / 60, |_, _| ());
        let heights = balls.map(|ball| simulation.pose(ball).unwrap().translation.y);
        println!(
            "{}",
            heights.map(|height| format!("{height:>12.3}")).concat()
        );
    }
}
