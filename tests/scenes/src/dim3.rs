//! Helpers for tests that run in two and in three dimensions.

use rapier::dynamics::{
    GenericJoint, RevoluteJointBuilder, SoftBodyBuilder, SphericalJointBuilder,
};
use rapier::geometry::ColliderBuilder;
use rapier::math::{AngVector, Pose, Rotation, Vector};

pub const fn vector(x: f32, y: f32, z: f32) -> Vector {
    Vector::new(x, y, z)
}

pub fn translation(x: f32, y: f32, z: f32) -> Pose {
    Pose::from_translation(vector(x, y, z))
}

pub fn pose(translation: Vector, by: AngVector) -> Pose {
    Pose::new(translation, by)
}

/// Returns an angular velocity about an axis, whose length is the speed.
pub fn spin(x: f32, y: f32, z: f32) -> AngVector {
    AngVector::new(x, y, z)
}

pub fn turned(by: AngVector) -> Rotation {
    Rotation::from_scaled_axis(by)
}

pub fn scaled(rotation: Rotation, by: f32) -> Rotation {
    rotation * by
}

pub fn angle_between(one: Rotation, other: Rotation) -> f32 {
    // The sine is accurate for small angles.
    let difference = if one.dot(other) < 0.0 {
        one + other
    } else {
        one - other
    };
    4.0 * libm::asinf((0.5 * difference.length()).min(1.0))
}

pub fn turned_spin(by: Rotation, spin: AngVector) -> AngVector {
    by * spin
}

pub fn length(spin: AngVector) -> f32 {
    spin.length()
}

pub fn cuboid(x: f32, y: f32, z: f32) -> ColliderBuilder {
    ColliderBuilder::cuboid(x, y, z)
}

pub fn hinge() -> RevoluteJointBuilder {
    RevoluteJointBuilder::new(Vector::Z)
}

pub fn ball_joint(anchor1: Vector, anchor2: Vector) -> GenericJoint {
    SphericalJointBuilder::new()
        .local_anchor1(anchor1)
        .local_anchor2(anchor2)
        .into()
}

pub fn cuboid_of(half: Vector) -> ColliderBuilder {
    cuboid(half.x, half.y, half.z)
}

pub fn axes() -> [Vector; 3] {
    [Vector::X, Vector::Y, Vector::Z]
}

pub fn cloth(corner: Vector, side: f32, particles: usize) -> SoftBodyBuilder {
    let (x, z) = (Vector::X * side, Vector::Z * side);
    SoftBodyBuilder::cloth(corner, x, z, particles, particles)
}

/// Half of a floor's width in metres.
pub const FLOOR: f32 = 50.0;

/// Returns x and z of one of many bodies on the ground, in rows of `side`.
pub fn on_ground(i: usize, side: usize) -> [f32; 2] {
    [i % side, i / side].map(|n| n as f32)
}

pub fn in_layers(i: usize, side: usize) -> [f32; 3] {
    [i % side, i / side / side, i / side % side].map(|n| n as f32)
}

pub fn rotation_numbers(rotation: Rotation) -> [f32; 4] {
    rotation.to_array()
}

pub fn spin_numbers(spin: AngVector) -> [f32; 3] {
    spin.to_array()
}

pub fn spaced(x: f32, y: f32, z: f32) -> Vector {
    vector(x, y, z)
}

pub fn at_most(spin: AngVector, most: f32) -> AngVector {
    spin.clamp_length_max(most)
}

pub fn about_z(rotation: Rotation) -> f32 {
    rotation.to_scaled_axis().z
}

/// Returns the angle by which Rapier turns a body that should turn by `angle`. Rapier integrates with tangents.
pub fn integrated(angle: f32) -> f32 {
    2.0 * libm::atanf(0.5 * angle)
}

/// Returns the angular velocity that the root of a multibody can have.
pub fn of_root(spin: AngVector) -> AngVector {
    spin
}

/// Whether Rapier computes contacts from the bodies' relative positions, not from the origin.
pub const CONTACTS_ARE_RELATIVE: bool = true;

/// Returns a rotation with as many components as possible equal to −0.
pub fn with_minus_zeros() -> Rotation {
    Rotation::from_xyzw(-0.0, -0.6, -0.0, 0.8)
}

pub fn soft_cube(center: Vector, half: f32, particles: usize) -> SoftBodyBuilder {
    let half = Vector::splat(half);
    SoftBodyBuilder::cuboid(center, half, particles, particles, particles)
}

pub mod exact {
    use nalgebra::{Isometry3, UnitQuaternion, Vector3};

    pub type Vector = Vector3<f64>;
    pub type Rotation = UnitQuaternion<f64>;
    pub type Isometry = Isometry3<f64>;

    pub fn vector(v: super::Vector) -> Vector {
        Vector::new(v.x.into(), v.y.into(), v.z.into())
    }

    pub fn pose(pose: super::Pose) -> Isometry {
        let mut isometry = Isometry3::<f32>::from(pose).cast();
        isometry.rotation.renormalize();
        isometry
    }

    pub fn turn(spin: super::AngVector, seconds: f64) -> Rotation {
        Rotation::from_scaled_axis(vector(spin) * seconds)
    }

    pub fn part(rotation: Rotation, t: f64) -> Option<Rotation> {
        (rotation.w.abs() > 1e-3).then(|| rotation.powf(t))
    }
}
