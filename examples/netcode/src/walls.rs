//! The walls of an arena.

use evenstep::Physics;
use evenstep::rapier::prelude::*;

/// Builds a floor and four walls. `half` is half the length of a side, in metres.
pub fn build_walls(physics: &mut Physics, half: f32) {
    let world = physics.rapier_mut();
    let floor = ColliderBuilder::cuboid(half, 0.5, half).translation(Vector::Y * -0.5);
    world.insert_collider(floor, None);
    for side in [Vector::X, Vector::NEG_X, Vector::Z, Vector::NEG_Z] {
        let size = Vector::splat(half) - side.abs() * (half - 0.5);
        let wall = ColliderBuilder::cuboid(size.x, 4.5, size.z);
        let place = side * (half + 0.5) + Vector::Y * 4.0;
        world.insert_collider(wall.translation(place), None);
    }
}
