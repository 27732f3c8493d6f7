//! Which body is under the mouse, where it is shown.

use evenstep::BodyKey;
use evenstep::rapier::math::Vector;
use evenstep::rapier::parry::query::Ray;

use crate::shown::{Looks, Shown};

/// What a ray meets first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Which body.
    pub key: BodyKey,
    /// Where, in world space of the simulation.
    pub point: Vector,
    /// Where, in the body's own frame.
    pub local: Vector,
    /// Whether it can be dragged.
    pub is_dynamic: bool,
}

/// Metres.
const FAR: f32 = 100.0;

/// The first body that a ray meets, at the poses that are shown and not at those of the simulation: what is under the
/// mouse is what the player sees there.
#[must_use]
pub fn pick(looks: &Looks, shown: &Shown, from: Vector, direction: Vector) -> Option<Hit> {
    let ray = Ray::new(from, direction);
    let hits = shown.poses.iter().filter_map(|(key, pose)| {
        let look = looks.get(key)?;
        let parts = look.parts.iter();
        let way = parts
            .filter_map(|(place, shape)| shape.cast_ray(&(pose * place), &ray, FAR, true))
            .min_by(f32::total_cmp)?;
        Some((way, key, pose, look.is_dynamic))
    });
    let (way, key, pose, is_dynamic) = hits.min_by(|one, other| one.0.total_cmp(&other.0))?;
    let point = ray.point_at(way);
    Some(Hit {
        key: *key,
        point,
        local: pose.inverse() * point,
        is_dynamic,
    })
}
