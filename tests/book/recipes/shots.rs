//! A server checks a shot against the world that the shooter saw.

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use recipes::shots::{Shot, hit, time_of_proxies};
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
    // The ray begins in the shooter's own body, and crosses a sensor.
    let shooter = RigidBodyBuilder::fixed().translation(Vector::new(0.45, 5.0, 0.0));
    let shooter = server.physics.insert(shooter, ColliderBuilder::ball(0.5));
    let area = RigidBodyBuilder::fixed().translation(Vector::Y * 2.0);
    let sensor = ColliderBuilder::ball(0.9).sensor(true);
    server.physics.insert(area, sensor);
    let frame = server.advance(Duration::from_millis(75), |_, _| ());
    let seen = server.pose(runner).unwrap().translation;
    let shot = Shot {
        tick: frame.tick,
        alpha: frame.alpha,
        ray: Ray::new(seen + Vector::Y * 5.0, Vector::NEG_Y),
    };
    server.advance(Duration::from_millis(100), |_, _| ()); // the shot travels to the server
    assert_eq!(hit(&server, shooter, &shot), Ok(Some(runner)));
    let now = Shot {
        tick: server.physics.tick(),
        alpha: 1.0,
        ..shot
    };
    assert_eq!(hit(&server, shooter, &now), Ok(None)); // the runner has moved on
}

#[test]
fn proxies_are_displayed_at_a_tick_and_an_alpha() {
    assert_eq!(time_of_proxies(41.25), (42, 0.25));
    assert_eq!(time_of_proxies(41.0), (41, 1.0));
    // A frame at this tick and alpha displays the time after 41.25 steps, too.
    let mut server = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 60.0); // 1 m per step
    let body = server.physics.insert(body, ColliderBuilder::ball(0.5));
    for _ in 0..7 {
        server.advance(Duration::from_millis(100), |_, _| ());
    }
    let (tick, alpha) = time_of_proxies(41.25);
    let pose = server.pose_at(body, tick, alpha).unwrap();
    assert!((pose.translation.x - 41.25).abs() < 1e-3, "{pose:?}");
}
