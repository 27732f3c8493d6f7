//! A body that moves from one simulation into another, such as through a portal into another level.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

/// Moves a body before a step of both worlds. `by` is the isometry that maps the entry to the exit. Returns the body's
/// new key.
pub fn move_to(key: BodyKey, by: Pose, from: &mut Physics, to: &mut Physics) -> Option<BodyKey> {
    let handles = from.body(key)?.colliders().to_vec();
    let colliders = handles
        .into_iter()
        .map(|handle| from.remove_collider(handle));
    let colliders: Vec<Collider> = colliders.collect::<Option<_>>()?;
    let key = to.insert_body(from.remove(key)?);
    for collider in colliders {
        to.insert_collider(key, collider).ok()?;
    }
    to.teleport_by(key, by).ok()?;
    Some(key)
}
