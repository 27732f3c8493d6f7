//! A server checks a shot against the world that the shooter saw.

use super::*;
use evenstep::rewind::{Kept, RewindError};

/// Sent by the client: the tick and alpha of the frame in which the player fired.
struct Shot {
    tick: u64,
    alpha: f32,
    ray: Ray,
}

fn hit(server: &Simulation, shot: &Shot) -> Result<Option<BodyKey>, RewindError> {
    let past = server.world_at(shot.tick, shot.alpha)?;
    let pipeline = past.query_pipeline(QueryFilter::default());
    let hit = pipeline.cast_ray(&shot.ray, 100.0, true);
    Ok(hit.and_then(|(collider, _)| past.key_of_collider(collider)))
}

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
