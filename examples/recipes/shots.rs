//! Lag compensation: a server checks a shot against the world that the shooter saw.
//!
//! A client that predicts its player runs ahead of the server, and draws the targets in the past. So it sends the time
//! at which it displays the targets.

use evenstep::rapier::prelude::*;
use evenstep::rewind::RewindError;
use evenstep::{BodyKey, Simulation};

/// Sent by the client: the time at which it displayed the targets when the player fired, and the path of the bullet.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// The tick of that time. Without prediction, it is the `tick` of the frame.
    pub tick: u64,
    /// The alpha of that time. Without prediction, it is the `alpha` of the frame.
    pub alpha: f32,
    /// The path of the bullet, with a direction of length 1.
    pub ray: Ray,
}

/// Returns the tick and alpha at which a client displays proxies, from the server's tick that your `Delay` returns, such
/// as 41.25. See `remote_bodies.rs`.
pub fn time_of_proxies(displayed_tick: f64) -> (u64, f32) {
    let tick = displayed_tick.ceil();
    (tick as u64, (1.0 - (tick - displayed_tick)) as f32)
}

/// Returns the body that the shot hits, if any. It passes through the shooter and through sensors. The server must keep
/// the states of the last ticks, with an interval of 1.
pub fn hit(
    server: &Simulation,
    shooter: BodyKey,
    shot: &Shot,
) -> Result<Option<BodyKey>, RewindError> {
    let past = server.world_at(shot.tick, shot.alpha)?;
    let mut filter = QueryFilter::new().exclude_sensors();
    filter.exclude_rigid_body = server.physics.handle(shooter);
    let pipeline = past.query_pipeline(filter);
    let hit = pipeline.cast_ray(&shot.ray, 100.0, true);
    Ok(hit.and_then(|(collider, _)| past.key_of_collider(collider)))
}
