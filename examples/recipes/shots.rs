//! Lag compensation: a server checks a shot against the world that the shooter saw.

use evenstep::rapier::prelude::*;
use evenstep::rewind::RewindError;
use evenstep::{BodyKey, Simulation};

/// Sent by the client: the tick and alpha of the frame in which the player fired.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    /// The `tick` of the frame.
    pub tick: u64,
    /// The `alpha` of the frame.
    pub alpha: f32,
    /// The path of the bullet, with a direction of length 1.
    pub ray: Ray,
}

/// Returns the body that the shot hits, if any. The server must keep the states of the last ticks.
pub fn hit(server: &Simulation, shot: &Shot) -> Result<Option<BodyKey>, RewindError> {
    let past = server.world_at(shot.tick, shot.alpha)?;
    let pipeline = past.query_pipeline(QueryFilter::default());
    let hit = pipeline.cast_ray(&shot.ray, 100.0, true);
    Ok(hit.and_then(|(collider, _)| past.key_of_collider(collider)))
}
