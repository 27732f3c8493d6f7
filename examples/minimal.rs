//! Drops one ball and displays it at 144 Hz while the physics runs at 60 Hz.
//!
//! `cargo run --example minimal`

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{Rate, Simulation};

fn main() {
    let mut simulation = Simulation::new(Rate::hz(60));
    simulation.physics.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::cuboid(10.0, 0.1, 10.0),
    );
    let ball = simulation.physics.insert(
        RigidBodyBuilder::dynamic().translation(Vector::Y * 3.0),
        ColliderBuilder::ball(0.5).restitution(0.7),
    );
    for frame in 0..288 {
        simulation.advance(Duration::from_secs(1) / 144, |_, _| ());
        let pose = simulation.pose(ball).unwrap();
        if frame % 12 == 0 {
            println!(
                "{:>width$}",
                "o",
                width = (pose.translation.y * 20.0) as usize
            );
        }
    }
}
