//! Two dimensions: boxes in a square, which spin.

use avian::prelude as avian;
use bevy::prelude::{GlobalTransform, Quat, Transform};
use bevy_rapier::prelude as plugin;
use evenstep::rapier::math::{AngVector, Pose, Rotation, Vector};
use evenstep::rapier::prelude::ColliderBuilder;

/// Half the extents of every body, in metres.
const HALF_EXTENTS: Vector = Vector::new(0.5, 0.3);

/// Returns the first `count` points of a square grid.
pub fn grid(count: usize, spacing: f32) -> impl Iterator<Item = Vector> {
    let side = (1..).find(|side| side * side >= count).unwrap_or(1);
    (0..count).map(move |i| Vector::from([i % side, i / side].map(|n| spacing * n as f32)))
}

/// Returns a spin at this many radians per second.
pub fn spin(rate: f32) -> AngVector {
    rate
}

/// Returns every body's collider, for Rapier's API.
pub fn collider() -> ColliderBuilder {
    let [x, y] = HALF_EXTENTS.to_array();
    ColliderBuilder::cuboid(x, y)
}

/// Returns every body's collider, for bevy_rapier.
pub fn plugin_collider() -> plugin::Collider {
    let [x, y] = HALF_EXTENTS.to_array();
    plugin::Collider::cuboid(x, y)
}

/// Returns every body's collider, for avian.
pub fn avian_collider() -> avian::Collider {
    let [x, y] = (HALF_EXTENTS * 2.0).to_array();
    avian::Collider::rectangle(x, y)
}

/// Returns the pose of a body after avian's last step.
pub fn avian_pose(position: &avian::Position, rotation: &avian::Rotation) -> Pose {
    Pose::from_parts(
        position.0,
        Rotation::from_cos_sin_unchecked(rotation.cos, rotation.sin),
    )
}

/// Returns a body at its start, for Bevy.
pub fn placed(at: Vector) -> Transform {
    Transform::from_translation(at.extend(0.0))
}

/// Writes a pose into a Bevy transform. Its z, which is the drawing order, stays.
pub fn write(pose: &Pose, transform: &mut Transform) {
    transform.translation = pose.translation.extend(transform.translation.z);
    transform.rotation = Quat::from_rotation_z(pose.rotation.angle());
}

/// Reads a pose from Bevy.
pub fn read(transform: &GlobalTransform) -> Pose {
    let (_, rotation, translation) = transform.to_scale_rotation_translation();
    let rotation = Rotation::from_angle(2.0 * rotation.z.atan2(rotation.w));
    Pose::from_parts(translation.truncate(), rotation)
}

/// Returns the fraction of the turn between two rotations that a third has completed. It is not a number if there is no
/// turn.
pub fn part_of_turn(from: Rotation, shown: Rotation, to: Rotation) -> f32 {
    (from.inverse() * shown).angle() / (from.inverse() * to).angle()
}
