//! Picks the body under the mouse, at its displayed pose.

use evenstep::BodyKey;
use evenstep::rapier::math::Vector;
use evenstep::rapier::parry::query::Ray;

use crate::shown::{Looks, Shown};

/// The first hit of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The body.
    pub key: BodyKey,
    /// The point, in world space of the simulation.
    pub point: Vector,
    /// The point, in the body's frame.
    pub local: Vector,
    /// Whether it can be dragged.
    pub is_dynamic: bool,
}

/// The length of the ray, in metres.
const FAR: f32 = 100.0;

/// Returns the first body that a ray meets. It uses displayed poses instead of simulated ones, because these are what
/// the player sees under the mouse.
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
