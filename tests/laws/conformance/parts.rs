//! The parts of the scenes.

use evenstep::rapier::prelude::*;

use super::dim::{in_heap, shape};
use super::world::World;
use scenes::testing::{cuboid, spin, vector};

pub fn at(kind: RigidBodyType, x: f32, y: f32, z: f32) -> RigidBodyBuilder {
    RigidBodyBuilder::new(kind).translation(vector(x, y, z))
}

/// Inserts a floor whose top is at 0.
pub fn floor(world: &mut dyn World) {
    let floor = cuboid(30.0, 0.5, 30.0);
    world.insert(at(RigidBodyType::Fixed, 0.0, -0.5, 0.0), floor);
}

/// Inserts `count` bodies of many shapes in the air, in a heap of `width` by 2, or by 1 in two dimensions.
pub fn heap(world: &mut dyn World, corner: Vector, width: u8, count: u8) -> Vec<RigidBodyHandle> {
    let insert = |i| {
        let [x, y, z] = in_heap(i, width).map(f32::from);
        let body = RigidBodyBuilder::dynamic().translation(corner + vector(x, 0.8 * y, z));
        world.insert(body.rotation(spin(x, 0.3, z)), shape(i))
    };
    (0..count).map(insert).collect()
}

/// Returns a triangle wave from -1 to 1.
pub fn wave(tick: u64, period: u64) -> f32 {
    let part = (tick % period) as f32 / period as f32;
    4.0 * (part - 0.5).abs() - 1.0
}
