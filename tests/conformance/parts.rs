//! What the scenes are built from.

use evenstep::rapier3d::prelude::*;

use crate::world::World;

/// A triangle wave from -1 to 1.
pub fn wave(tick: u64, period: u64) -> f32 {
    let part = (tick % period) as f32 / period as f32;
    4.0 * (part - 0.5).abs() - 1.0
}

pub fn at(x: f32, y: f32, z: f32) -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic().translation(Vector::new(x, y, z))
}

pub fn fixed_at(x: f32, y: f32, z: f32) -> RigidBodyBuilder {
    RigidBodyBuilder::fixed().translation(Vector::new(x, y, z))
}

/// A floor whose top is at 0.
pub fn floor(world: &mut dyn World) {
    let floor = ColliderBuilder::cuboid(30.0, 0.5, 30.0);
    world.insert(fixed_at(0.0, -0.5, 0.0), floor);
}

/// One of many shapes.
pub fn shape(number: u64) -> ColliderBuilder {
    let corners = [
        [0.0, 0.4, 0.0],
        [0.4, -0.3, 0.1],
        [-0.3, -0.3, 0.4],
        [-0.2, -0.3, -0.4],
    ];
    let parts = [Vector::X, Vector::Y, Vector::Z].map(|side| {
        let part = SharedShape::cuboid(0.1 + 0.2 * side.x, 0.1 + 0.2 * side.y, 0.1 + 0.2 * side.z);
        (Pose::from_translation(0.2 * side), part)
    });
    match number % 9 {
        0 => ColliderBuilder::ball(0.3),
        1 => ColliderBuilder::cuboid(0.3, 0.2, 0.4),
        2 => ColliderBuilder::capsule_x(0.3, 0.2),
        3 => ColliderBuilder::cylinder(0.3, 0.25),
        4 => ColliderBuilder::cone(0.4, 0.3),
        5 => ColliderBuilder::round_cuboid(0.2, 0.3, 0.2, 0.05),
        6 => ColliderBuilder::convex_hull(&corners.map(Vector::from)).expect("not flat"),
        7 => ColliderBuilder::compound(parts.into()),
        _ => ColliderBuilder::round_cylinder(0.2, 0.2, 0.05),
    }
}
