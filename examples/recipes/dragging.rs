//! Objects that the mouse drags. A spring pulls the grabbed point, so they still collide and swing.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

/// The grip of the mouse on a body.
#[derive(Clone, Copy, Debug)]
pub struct Drag {
    /// The dragged body.
    pub key: BodyKey,
    /// The grabbed point in the body's frame.
    pub point: Vector,
    /// The distance of that point from the eye, in metres.
    pub distance: f32,
}

/// Starts when the button is pressed. `mouse` is the ray from the eye through the mouse, with a direction of length 1.
pub fn start(physics: &Physics, mouse: &Ray) -> Option<Drag> {
    let filter = QueryFilter::only_dynamic();
    let (collider, distance) = physics.rapier().cast_ray(mouse, 100.0, true, filter)?;
    let key = physics.key_of_collider(collider)?;
    let point = physics.body(key)?.position().inverse() * mouse.point_at(distance);
    Some(Drag {
        key,
        point,
        distance,
    })
}

/// Pulls for one step. Call it in the hook. Returns `None` if the body was removed.
pub fn pull(physics: &mut Physics, drag: &Drag, mouse: &Ray) -> Option<()> {
    let Drag {
        key,
        point,
        distance,
    } = *drag;
    let body = physics.body(key)?;
    let point = body.position() * point;
    let spring = (mouse.point_at(distance) - point) * 100.0;
    let damping = body.velocity_at_point(point) * 15.0;
    let force = (spring - damping - physics.gravity()) * body.mass();
    physics.add_force_at_point(key, force, point).ok()
}
