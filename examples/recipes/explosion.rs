//! An explosion, which pushes each body in reach once, and none behind a wall.

use std::collections::BTreeSet;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

/// Pushes bodies away. Call it in the hook before a step. `impulse` is the one at the centre, in N s. It falls to zero
/// at the radius.
pub fn explode(physics: &mut Physics, centre: Vector, radius: f32, impulse: f32) {
    let rapier = physics.rapier();
    let (pose, ball) = (Pose::from_translation(centre), Ball::new(radius));
    let hit = rapier.intersect_shape(pose, &ball, QueryFilter::only_dynamic());
    // Takes each body once, always in the same order.
    let keys = hit.filter_map(|(collider, _)| physics.key_of_collider(collider));
    for key in keys.collect::<BTreeSet<BodyKey>>() {
        let offset = physics.body(key).unwrap().center_of_mass() - centre;
        let (ray, walls) = (Ray::new(centre, offset), QueryFilter::only_fixed());
        if physics.rapier().cast_ray(&ray, 1.0, true, walls).is_none() {
            let strength = impulse * (1.0 - offset.length() / radius).max(0.0);
            let impulse = offset.normalize_or_zero() * strength;
            physics.apply_impulse(key, impulse).unwrap();
        }
    }
}
