//! A player that crouches and stands up: a capsule whose height changes while its feet stay on the ground.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

/// The capsule's radius, in metres.
pub const RADIUS: f32 = 0.3;

/// Sets half the height of the capsule without its caps. Call it in the hook before a step. Cast a ray first to see if
/// there is room above.
pub fn set_height(physics: &mut Physics, player: BodyKey, half: f32) -> Option<()> {
    let body = physics.body(player)?;
    let (old, pose) = (body.colliders()[0], *body.position());
    let capsule = physics.rapier().colliders[old].shape().as_capsule()?;
    let rise = half - capsule.half_height();
    // The new collider has the groups, the friction and the flags of the old one.
    let mut collider = physics.remove_collider(old)?;
    collider.set_shape(SharedShape::capsule_y(half, RADIUS));
    physics.insert_collider(player, collider).ok()?;
    let body = physics.body_mut(player)?;
    body.set_translation(pose.translation + Vector::Y * rise, true);
    Some(())
}
