//! Three dimensions: boxes in a cube, which spin about different axes.

use avian::prelude as avian;
use bevy::prelude::{GlobalTransform, Transform};
use bevy_rapier::prelude as plugin;
use evenstep::rapier::math::{AngVector, Pose, Rotation, Vector};
use evenstep::rapier::prelude::ColliderBuilder;

/// Half the extents of every body, in metres.
const HALF_EXTENTS: Vector = Vector::new(0.5, 0.3, 0.2);

/// Returns the first `count` points of a cubic grid.
pub fn grid(count: usize, spacing: f32) -> impl Iterator<Item = Vector> {
    let side = (1..).find(|side| side * side * side >= count).unwrap_or(1);
    (0..count).map(move |i| {
        Vector::from([i % side, i / side % side, i / side / side].map(|n| spacing * n as f32))
    })
}

/// Returns a spin at about this many radians per second.
pub fn spin(rate: f32) -> AngVector {
    AngVector::new(1.0, rate, 0.5)
}

/// Returns every body's collider, for Rapier's API.
pub fn collider() -> ColliderBuilder {
    let [x, y, z] = HALF_EXTENTS.to_array();
    ColliderBuilder::cuboid(x, y, z)
}

/// Returns every body's collider, for bevy_rapier.
pub fn plugin_collider() -> plugin::Collider {
    let [x, y, z] = HALF_EXTENTS.to_array();
    plugin::Collider::cuboid(x, y, z)
}

/// Returns every body's collider, for avian.
pub fn avian_collider() -> avian::Collider {
    let [x, y, z] = (HALF_EXTENTS * 2.0).to_array();
    avian::Collider::cuboid(x, y, z)
}

/// Returns the pose of a body after avian's last step.
pub fn avian_pose(position: &avian::Position, rotation: &avian::Rotation) -> Pose {
    Pose::from_parts(position.0, rotation.0)
}

/// Returns a body at its start, for Bevy.
pub fn placed(at: Vector) -> Transform {
    Transform::from_translation(at)
}

/// Writes a pose into a Bevy transform.
pub fn write(pose: &Pose, transform: &mut Transform) {
    transform.translation = pose.translation;
    transform.rotation = pose.rotation;
}

/// Reads a pose from Bevy.
pub fn read(transform: &GlobalTransform) -> Pose {
    let (_, rotation, translation) = transform.to_scale_rotation_translation();
    Pose::from_parts(translation, rotation)
}

/// Returns the fraction of the turn between two rotations that a third has completed. It is not a number if there is no
/// turn.
pub fn part_of_turn(from: Rotation, shown: Rotation, to: Rotation) -> f32 {
    let turn = turn_between(from, to);
    turn_between(from, shown).dot(turn) / turn.length_squared()
}

/// Returns the axis of the turn, times the sine of half its angle. For small angles that is proportional to the angle.
fn turn_between(from: Rotation, to: Rotation) -> Vector {
    let turn = from.inverse() * to;
    turn.xyz() * turn.w.signum()
}
