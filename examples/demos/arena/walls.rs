//! The walls of an arena.

use evenstep::Physics;
use evenstep::rapier::prelude::*;

/// Builds a floor and four walls. `half` is half the length of a side, in metres.
pub fn build_walls(physics: &mut Physics, half: f32) {
    let walls = physics.insert_body(RigidBodyBuilder::fixed());
    let mut add = |place: Vector, size: Vector| {
        let wall = ColliderBuilder::cuboid(size.x, size.y, size.z);
        let added = physics.insert_collider(walls, wall.translation(place));
        added.expect("the body was just inserted");
    };
    add(Vector::Y * -0.5, Vector::new(half, 0.5, half));
    for side in [Vector::X, Vector::NEG_X, Vector::Z, Vector::NEG_Z] {
        let size = Vector::splat(half) - side.abs() * (half - 0.5);
        let place = side * (half + 0.5) + Vector::Y * 4.0;
        add(place, Vector::new(size.x, 4.5, size.z));
    }
}
