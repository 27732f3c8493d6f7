//! The two-dimensional parts of the scenes.

use evenstep::rapier::prelude::*;

use super::parts::wave;
use scenes::testing::hinge;

/// The direction in which bodies are placed side by side.
pub const ASIDE: Vector = Vector::X;

/// The index of that axis.
pub const DEPTH: usize = 0;

/// Returns one of many shapes.
pub fn shape(number: u8) -> ColliderBuilder {
    let corners = [[0.0, 0.4], [0.4, -0.3], [-0.3, -0.3], [0.3, 0.3]].map(Vector::from);
    let part = |side: Vector| (Pose::from_translation(0.2 * side), SharedShape::ball(0.2));
    match number % 9 {
        0 => ColliderBuilder::ball(0.3),
        1 => ColliderBuilder::cuboid(0.3, 0.2),
        2 => ColliderBuilder::capsule_x(0.3, 0.2),
        3 => ColliderBuilder::round_cuboid(0.2, 0.3, 0.05),
        4 => ColliderBuilder::round_triangle(corners[0], corners[1], corners[2], 0.05),
        5 => ColliderBuilder::capsule_y(0.2, 0.25),
        6 => ColliderBuilder::convex_hull(&corners).expect("not flat"),
        7 => ColliderBuilder::compound(vec![part(Vector::X), part(Vector::Y), part(-Vector::X)]),
        _ => ColliderBuilder::triangle(corners[0], corners[1], corners[2]),
    }
}

/// Returns the position of one of many bodies in a heap of this `width`.
pub fn in_heap(i: u8, width: u8) -> [u8; 3] {
    [i % width, i / width, 0]
}

/// Returns a height field.
pub fn hills() -> ColliderBuilder {
    let heights = (0..9).map(|i| 0.3 * wave(i, 4)).collect();
    ColliderBuilder::heightfield(heights, Vector::new(12.0, 1.0))
}

pub fn block(x: i32, y: i32, _z: i32) -> IVector {
    IVector::new(x, y)
}

/// Returns two layers of 6 voxels. The upper layer has gaps.
pub fn blocks() -> Vec<IVector> {
    (0..6 * 2)
        .map(|i| IVector::new(i % 6, i / 6))
        .filter(|block| block.y == 0 || block.x % 3 > 0)
        .collect()
}

pub fn door_hinge() -> RevoluteJointBuilder {
    hinge()
}

/// The step in which a link becomes fixed. After one step in four, Rapier rounds its pose once more.
pub const FIXED_AT: u64 = 14;

/// Returns a joint with a limit along x that allows rotation: a pin in a slot.
pub fn loose(limits: [f32; 2]) -> GenericJoint {
    PinSlotJointBuilder::new(Vector::X).limits(limits).into()
}

/// Returns the impulse with which a hinge held its bodies in the last step.
pub fn impulse(joint: &ImpulseJoint) -> Vector {
    Vector::new(joint.impulses.x, joint.impulses.y)
}

/// Returns a level line that is held at both ends. If not `is_written`, returns a strip, which bodies press into.
/// Rapier does not write the impulses of a strip.
pub fn cloth(is_written: bool) -> SoftBodyBuilder {
    let center = Vector::Y * 2.5;
    if is_written {
        let line = SoftBodyBuilder::rope(center - Vector::X, center + Vector::X, 11);
        return line.pinned_particles([0, 10]);
    }
    let strip = SoftBodyBuilder::grid(center, Vector::new(1.0, 0.2), 11, 3);
    strip.pinned_particles([0, 1, 2, 30, 31, 32])
}

/// Returns an upright blade through the remaining cloth.
pub fn blade() -> [Vector; 2] {
    [0.2, 6.2].map(|y| Vector::new(0.65, y))
}
