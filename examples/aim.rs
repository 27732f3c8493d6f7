//! Aiming: a preview of the throw, and a ball that is drawn in the hand until it flies.
//!
//! `cargo run --example aim`

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation, Step};

const THROW: Vector = Vector::new(6.0, 4.0, 0.0);

/// Where the player sees the ball: in a hand, 30 cm beside the body that waits for the throw.
fn hand() -> Pose {
    Pose::from_translation(Vector::new(0.3, 1.7, 0.0))
}

/// The hook of the game. The preview calls it, too, so that both throws are the same.
fn before_step(physics: &mut Physics, step: Step, ball: BodyKey, throws_at: u64) {
    if step.tick == throws_at {
        let body = physics.body_mut(ball).unwrap();
        body.set_body_type(RigidBodyType::Dynamic, true);
        body.set_linvel(THROW, true);
    }
}

fn main() {
    let mut simulation = Simulation::default();
    let held = RigidBodyBuilder::kinematic_position_based().translation(Vector::Y * 1.7);
    let ball = (simulation.physics).insert(held, ColliderBuilder::ball(0.1).mass(0.4));

    // The dotted line: a copy throws now.
    let mut dots = Vec::new();
    let now = simulation.physics.tick();
    let landed = simulation.physics.preview(30, |physics, step| {
        dots.push(physics.body(ball).unwrap().translation());
        before_step(physics, step, ball, now);
    });
    let aimed_at = landed.body(ball).unwrap().translation();
    println!(
        "{} dots, and after 30 steps the ball is at {aimed_at:.2}",
        dots.len()
    );

    // The player throws. The picture begins at the hand, and reaches the ball's own path in a few frames.
    simulation.physics.show_from(ball, hand()).unwrap();
    let frame_time = Duration::from_secs(1) / 120;
    while simulation.physics.tick() < now + 30 {
        simulation.advance(frame_time, |physics, step| {
            before_step(physics, step, ball, now);
        });
        let off = simulation.pose(ball).unwrap().translation;
        println!("drawn at {off:.2}");
    }
    assert_eq!(
        simulation.physics.body(ball).unwrap().translation(),
        aimed_at
    );
}
