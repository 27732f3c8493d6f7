//! What the scenes are built from.

use evenstep::rapier::prelude::*;

use crate::world::World;

pub fn at(kind: RigidBodyType, x: f32, y: f32, z: f32) -> RigidBodyBuilder {
    RigidBodyBuilder::new(kind).translation(Vector::new(x, y, z))
}

/// A floor whose top is at 0.
pub fn floor(world: &mut dyn World) {
    let floor = ColliderBuilder::cuboid(30.0, 0.5, 30.0);
    world.insert(at(RigidBodyType::Fixed, 0.0, -0.5, 0.0), floor);
}

/// One of many shapes.
pub fn shape(number: u8) -> ColliderBuilder {
    let corners = [
        [0.0, 0.4, 0.0],
        [0.4, -0.3, 0.1],
        [-0.3, -0.3, 0.4],
        [-0.2, -0.3, -0.4],
    ];
    let part = |side: Vector| (Pose::from_translation(0.2 * side), SharedShape::ball(0.2));
    match number % 9 {
        0 => ColliderBuilder::ball(0.3),
        1 => ColliderBuilder::cuboid(0.3, 0.2, 0.4),
        2 => ColliderBuilder::capsule_x(0.3, 0.2),
        3 => ColliderBuilder::cylinder(0.3, 0.25),
        4 => ColliderBuilder::cone(0.4, 0.3),
        5 => ColliderBuilder::round_cuboid(0.2, 0.3, 0.2, 0.05),
        6 => ColliderBuilder::convex_hull(&corners.map(Vector::from)).expect("not flat"),
        7 => ColliderBuilder::compound(vec![part(Vector::X), part(Vector::Y), part(Vector::Z)]),
        _ => ColliderBuilder::round_cylinder(0.2, 0.2, 0.05),
    }
}

/// `count` bodies of many shapes in a heap of `width` by 2, in the air.
pub fn heap(world: &mut dyn World, corner: Vector, width: u8, count: u8) -> Vec<RigidBodyHandle> {
    let insert = |i| {
        let [x, y, z] = [i % width, i / width / 2, i / width % 2].map(f32::from);
        let body = RigidBodyBuilder::dynamic().translation(corner + Vector::new(x, 0.8 * y, z));
        world.insert(body.rotation(Vector::new(x, 0.3, z)), shape(i))
    };
    (0..count).map(insert).collect()
}

/// A triangle wave from -1 to 1.
pub fn wave(tick: u64, period: u64) -> f32 {
    let part = (tick % period) as f32 / period as f32;
    4.0 * (part - 0.5).abs() - 1.0
}
