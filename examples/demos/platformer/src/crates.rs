//! Crates: ordinary bodies that the character pushes.

use evenstep::Physics;
use evenstep::rapier::prelude::*;

use crate::level::Paint;

/// Half the length of a crate's edge, in metres.
pub const HALF: f32 = 0.5;
/// The mass of a crate, in kilograms.
const MASS: f32 = 20.0;

/// Inserts crates.
pub fn build(physics: &mut Physics, places: &[Vector]) {
    for place in places {
        let body = RigidBodyBuilder::dynamic()
            .translation(*place)
            .user_data(Paint::Crate.into());
        let collider = ColliderBuilder::cuboid(HALF, HALF, HALF)
            .mass(MASS)
            .friction(0.6);
        physics.insert(body, collider);
    }
}
