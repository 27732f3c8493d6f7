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
    let groups = InteractionGroups::new(Group::GROUP_2, Group::ALL, InteractionTestMode::And);
    let capsule = ColliderBuilder::capsule_y(0.5, RADIUS).collision_groups(groups);
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
    let body = simulation.physics.body(player).unwrap();
    let collider = &simulation.physics.rapier().colliders[body.colliders()[0]];
    assert_eq!(collider.collision_groups(), groups);
}

#[test]
fn a_body_that_is_no_capsule_keeps_its_collider() {
    let mut simulation = with_floor(Rate::default());
    let ball = ColliderBuilder::ball(0.5);
    let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ball);
    assert_eq!(set_height(&mut simulation.physics, ball, 0.2), None);
    let body = simulation.physics.body(ball).unwrap();
    assert_eq!(body.colliders().len(), 1);
}
