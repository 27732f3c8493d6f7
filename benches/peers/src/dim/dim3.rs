//! Three dimensions: boxes in a cube, which spin about different axes.

use avian::prelude as avian;
use bevy::prelude::{GlobalTransform, Transform};
use bevy_rapier::prelude as plugin;
use evenstep::rapier::math::{AngVector, Pose, Rotation, Vector};
use evenstep::rapier::prelude::ColliderBuilder;

/// Half the extents of every body, in metres.
const HALF_EXTENTS: Vector = Vector::new(0.5, 0.3, 0.2);

/// The first `count` points of a cube of points.
pub fn grid(count: usize, spacing: f32) -> impl Iterator<Item = Vector> {
    let side = (1..).find(|side| side * side * side >= count).unwrap_or(1);
    (0..count).map(move |i| {
        Vector::from([i % side, i / side % side, i / side / side].map(|n| spacing * n as f32))
    })
}

/// A spin at about this many radians a second.
pub fn spin(rate: f32) -> AngVector {
    AngVector::new(1.0, rate, 0.5)
}

/// Every body's collider, for Rapier's own API.
pub fn collider() -> ColliderBuilder {
    let [x, y, z] = HALF_EXTENTS.to_array();
    ColliderBuilder::cuboid(x, y, z)
}

/// Every body's collider, for bevy_rapier.
pub fn plugin_collider() -> plugin::Collider {
    let [x, y, z] = HALF_EXTENTS.to_array();
    plugin::Collider::cuboid(x, y, z)
}

/// Every body's collider, for avian.
pub fn avian_collider() -> avian::Collider {
    let [x, y, z] = (HALF_EXTENTS * 2.0).to_array();
    avian::Collider::cuboid(x, y, z)
}

/// Where avian's last step has led a body.
pub fn avian_pose(position: &avian::Position, rotation: &avian::Rotation) -> Pose {
    Pose::from_parts(position.0, rotation.0)
}

/// A body at the start, for Bevy.
pub fn placed(at: Vector) -> Transform {
    Transform::from_translation(at)
}

/// Writes a pose into a transform of Bevy.
pub fn write(pose: &Pose, transform: &mut Transform) {
    transform.translation = pose.translation;
    transform.rotation = pose.rotation;
}

/// A pose of Bevy's.
pub fn read(transform: &GlobalTransform) -> Pose {
    let (_, rotation, translation) = transform.to_scale_rotation_translation();
    Pose::from_parts(translation, rotation)
}

/// Which part of the turn from one rotation to another a third has made. Not a number if there is none.
pub fn part_of_turn(from: Rotation, shown: Rotation, to: Rotation) -> f32 {
    let turn = turn_between(from, to);
    turn_between(from, shown).dot(turn) / turn.length_squared()
}

/// The axis of the turn, times the sine of half its angle: for small angles as good as the angle.
fn turn_between(from: Rotation, to: Rotation) -> Vector {
    let turn = from.inverse() * to;
    turn.xyz() * turn.w.signum()
}
