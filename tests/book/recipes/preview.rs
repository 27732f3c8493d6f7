//! A preview of the next step, which displays the present.

use evenstep::Rate;
use evenstep::rapier::prelude::*;
use recipes::preview::ahead;
use scenes::with_floor;
use std::time::Duration;

#[test]
fn without_new_input_a_preview_equals_the_picture_one_step_later() {
    let mut simulation = with_floor(Rate::default());
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.6);
    let ball = ColliderBuilder::ball(0.5).restitution(0.8);
    let ball = simulation.physics.insert(body, ball);
    for _ in 0..100 {
        let frame = simulation.advance(Duration::from_millis(19), |_, _| ());
        let preview = ahead(&simulation, |_, _| ()).pose(ball);
        let mut later = simulation.clone();
        let due = later.clock().until_next_step().unwrap();
        later.advance(due, |_, _| ());
        let picture = later.pose_at(ball, frame.tick + 1, frame.alpha);
        assert_eq!(picture, preview);
    }
}
