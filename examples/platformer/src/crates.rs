//! What the character pushes: ordinary bodies.

use evenstep::Physics;
use evenstep::rapier::prelude::*;

use crate::level::Paint;

/// Half of a crate's edge: metres.
pub const HALF: f32 = 0.5;
/// Kilograms.
const MASS: f32 = 20.0;

/// Puts crates into a world.
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
