//! A capsule that crouches and stands up.

use evenstep::Rate;
use evenstep::rapier::prelude::*;
use recipes::crouching::{RADIUS, set_height};
use scenes::with_floor;
use std::time::Duration;

#[test]
fn a_player_that_crouches_and_stands_up_stands_on_the_floor() {
    let mut simulation = with_floor(Rate::default());
    let body = RigidBodyBuilder::dynamic().lock_rotations();
    let body = body.translation(Vector::Y * 0.8);
    let capsule = ColliderBuilder::capsule_y(0.5, RADIUS);
    let player = simulation.physics.insert(body, capsule);
    let step = Duration::from_nanos(16_666_667);
    for height in [0.5, 0.2, 0.5, 0.2] {
        for n in 0..60 {
            simulation.advance(step, |physics, _| {
                if n == 0 {
                    set_height(physics, player, height).unwrap();
                }
            });
            let y = simulation.physics.body(player).unwrap().translation().y;
            assert!(
                (y - height - RADIUS).abs() < 0.02,
                "{height}: {y} in step {n}"
            );
        }
    }
}
