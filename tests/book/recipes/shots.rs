//! A server checks a shot against the world that the shooter saw.

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use recipes::shots::{Shot, hit};
use scenes::space;
use std::time::Duration;

#[test]
fn a_shot_hits_what_the_shooter_saw() {
    let mut server = space(60);
    server.keep(Kept {
        ticks: 30,
        ..Kept::default()
    });
    let runner = RigidBodyBuilder::dynamic().linvel(Vector::X * 6.0);
    let runner = server.physics.insert(runner, ColliderBuilder::ball(0.3));
    let frame = server.advance(Duration::from_millis(75), |_, _| ());
    let seen = server.pose(runner).unwrap().translation;
    let shot = Shot {
        tick: frame.tick,
        alpha: frame.alpha,
        ray: Ray::new(seen + Vector::Y * 5.0, Vector::NEG_Y),
    };
    server.advance(Duration::from_millis(100), |_, _| ()); // the shot travels to the server
    assert_eq!(hit(&server, &shot), Ok(Some(runner)));
    let now = server
        .physics
        .rapier()
        .cast_ray(&shot.ray, 100.0, true, QueryFilter::default());
    assert!(now.is_none()); // the runner has moved on
}
