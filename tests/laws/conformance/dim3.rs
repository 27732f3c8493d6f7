//! The three-dimensional parts of the scenes.

use evenstep::rapier::parry::utils::Array2;
use evenstep::rapier::prelude::*;

use super::parts::wave;

/// The direction in which bodies are placed side by side.
pub const ASIDE: Vector = Vector::Z;

/// The index of that axis.
pub const DEPTH: usize = 2;

/// Returns one of many shapes.
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

/// Returns the position of one of many bodies in a heap of `width` by 2.
pub fn in_heap(i: u8, width: u8) -> [u8; 3] {
    [i % width, i / width / 2, i / width % 2]
}

/// Returns a height field.
pub fn hills() -> ColliderBuilder {
    let height = |i, j| 0.3 * wave(i as u64, 4) + 0.2 * wave(j as u64, 3);
    let heights = Array2::from_fn(9, 9, height);
    ColliderBuilder::heightfield(heights, Vector::new(12.0, 1.0, 12.0))
}

pub fn block(x: i32, y: i32, z: i32) -> IVector {
    IVector::new(x, y, z)
}

/// Returns two layers of 6 by 6 voxels. The upper layer has gaps.
pub fn blocks() -> Vec<IVector> {
    (0..6 * 6 * 2)
        .map(|i| IVector::new(i % 6, i / 36, i / 6 % 6))
        .filter(|block| block.y == 0 || (block.x + block.z) % 3 > 0)
        .collect()
}

/// Returns an upright hinge.
pub fn door_hinge() -> RevoluteJointBuilder {
    RevoluteJointBuilder::new(Vector::Y)
}

/// The step in which a link becomes fixed. After one step in seven, Rapier rounds its pose once more.
pub const FIXED_AT: u64 = 15;

/// Returns a joint with a limit along x that leaves most other axes free.
pub fn loose(limits: [f32; 2]) -> GenericJoint {
    GenericJointBuilder::new(JointAxesMask::LIN_Y | JointAxesMask::ANG_X)
        .limits(JointAxis::LinX, limits)
        .into()
}

/// Returns the impulse with which a ball joint held its bodies in the last step.
pub fn impulse(joint: &ImpulseJoint) -> Vector {
    let [x, y, z, ..] = joint.impulses;
    Vector::new(x, y, z)
}

/// Returns a level cloth that is held at its corners.
pub fn cloth(_is_written: bool) -> SoftBodyBuilder {
    let corner = Vector::new(-1.0, 2.5, -1.0);
    let cloth = SoftBodyBuilder::cloth(corner, Vector::X * 0.4, Vector::Z * 0.4, 6, 6);
    cloth.pinned_particles([0, 5, 30, 35])
}

/// Returns an upright blade through the middle of the cloth.
pub fn blade() -> [Vector; 3] {
    let corners = [(-2.0, -2.0), (2.0, -2.0), (0.0, 4.0)];
    corners.map(|(y, z)| Vector::new(0.05, 2.2 + y, z))
}
