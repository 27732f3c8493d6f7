//! A game that waits until all balls sleep.

use super::SECOND;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Rate};
use recipes::pool::follow;
use scenes::with_floor;
use std::collections::BTreeSet;

#[test]
fn a_shot_is_over_once_all_balls_sleep() {
    let mut simulation = with_floor(Rate::default());
    let balls = [0.0, 1.5, 3.0].map(|x| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, 0.5, 0.0));
        let ball = ColliderBuilder::ball(0.5).restitution(0.8);
        simulation.physics.insert(body.angular_damping(1.0), ball)
    });
    let mut rolling: BTreeSet<BodyKey> = balls.into();
    let mut ends = Vec::new();
    for frame in 0..3_000 {
        simulation.begin_frame(SECOND / 60);
        while let Some(step) = simulation.next_step() {
            if step.tick == 600 {
                (simulation.physics)
                    .apply_impulse(balls[0], Vector::X * 2.0)
                    .unwrap();
            }
            let was_over = rolling.is_empty();
            simulation.run_step();
            follow(&simulation.physics, &mut rolling);
            if rolling.is_empty() && !was_over {
                ends.push(frame);
            }
            let is_over = balls
                .iter()
                .all(|it| simulation.physics.body(*it).unwrap().is_sleeping());
            assert_eq!(rolling.is_empty(), is_over);
        }
        simulation.end_frame();
    }
    assert_eq!(ends.len(), 2, "{ends:?}");
    assert!(ends[0] < 600 && ends[1] > 660, "{ends:?}");
}

#[test]
fn a_pocketed_ball_does_not_roll() {
    let pockets: [fn(&mut evenstep::Physics, BodyKey); 2] = [
        |physics, ball| drop(physics.remove(ball)),
        |physics, ball| physics.body_mut(ball).unwrap().set_enabled(false),
    ];
    for pocket in pockets {
        let mut simulation = with_floor(Rate::default());
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let ball = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
        let mut rolling = BTreeSet::from([ball]);
        pocket(&mut simulation.physics, ball);
        simulation.advance(SECOND / 50, |_, _| ());
        follow(&simulation.physics, &mut rolling);
        assert!(rolling.is_empty());
    }
}
