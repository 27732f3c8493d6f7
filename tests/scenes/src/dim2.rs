//! Helpers for tests that run in two and in three dimensions. Of three numbers, the last one is ignored here.

use rapier::dynamics::{GenericJoint, RevoluteJointBuilder, SoftBodyBuilder};
use rapier::geometry::ColliderBuilder;
use rapier::math::{AngVector, Pose, Rotation, Vector};

pub const fn vector(x: f32, y: f32, _z: f32) -> Vector {
    Vector::new(x, y)
}

pub fn translation(x: f32, y: f32, z: f32) -> Pose {
    Pose::from_translation(vector(x, y, z))
}

pub fn pose(translation: Vector, by: AngVector) -> Pose {
    Pose::new(translation, by)
}

/// Returns an angular velocity. Bodies in a plane turn about one axis only.
pub fn spin(x: f32, y: f32, z: f32) -> AngVector {
    x + y + z
}

pub fn turned(by: AngVector) -> Rotation {
    Rotation::from_angle(by)
}

pub fn scaled(rotation: Rotation, by: f32) -> Rotation {
    Rotation::from_cos_sin_unchecked(rotation.re * by, rotation.im * by)
}

pub fn angle_between(one: Rotation, other: Rotation) -> f32 {
    one.angle_between(&other).abs()
}

pub fn turned_spin(_by: Rotation, spin: AngVector) -> AngVector {
    spin
}

pub fn length(spin: AngVector) -> f32 {
    spin.abs()
}

pub fn cuboid(x: f32, y: f32, _z: f32) -> ColliderBuilder {
    ColliderBuilder::cuboid(x, y)
}

pub fn hinge() -> RevoluteJointBuilder {
    RevoluteJointBuilder::new()
}

pub fn ball_joint(anchor1: Vector, anchor2: Vector) -> GenericJoint {
    hinge().local_anchor1(anchor1).local_anchor2(anchor2).into()
}

pub fn cuboid_of(half: Vector) -> ColliderBuilder {
    cuboid(half.x, half.y, 0.0)
}

pub fn axes() -> [Vector; 2] {
    [Vector::X, Vector::Y]
}

pub fn cloth(corner: Vector, side: f32, particles: usize) -> SoftBodyBuilder {
    let half = Vector::splat(0.5 * side);
    SoftBodyBuilder::grid(corner + half, half, particles, particles)
}

pub const FLOOR: f32 = 2_000.0;

/// Returns the position of one of many bodies on the ground: in one row, whatever `side` is.
pub fn on_ground(i: usize, _side: usize) -> [f32; 2] {
    [i as f32, 0.0]
}

pub fn in_layers(i: usize, side: usize) -> [f32; 3] {
    [(i % side) as f32, (i / side) as f32, 0.0]
}

pub fn rotation_numbers(rotation: Rotation) -> [f32; 2] {
    [rotation.re, rotation.im]
}

pub fn spin_numbers(spin: AngVector) -> [f32; 1] {
    [spin]
}

pub fn spaced(x: f32, y: f32, z: f32) -> Vector {
    Vector::new(x + 3.0 * z, y)
}

pub fn at_most(spin: AngVector, most: f32) -> AngVector {
    spin.clamp(-most, most)
}

pub fn about_z(rotation: Rotation) -> f32 {
    rotation.angle()
}

pub fn integrated(angle: f32) -> f32 {
    libm::atanf(angle)
}

/// Returns the angular velocity that the root of a multibody can have: none, because Rapier forgets it, see
/// docs/upstream/multibody-root.md.
pub fn of_root(_spin: AngVector) -> AngVector {
    0.0
}

/// Whether Rapier computes contacts from the bodies' relative positions, not from the origin: see
/// docs/upstream/relative-pose.md.
pub const CONTACTS_ARE_RELATIVE: bool = false;

/// Returns a rotation with as many components as possible equal to −0.
pub fn with_minus_zeros() -> Rotation {
    Rotation::from_cos_sin_unchecked(-1.0, -0.0)
}

pub fn soft_cube(center: Vector, half: f32, particles: usize) -> SoftBodyBuilder {
    SoftBodyBuilder::grid(center, Vector::splat(half), particles, particles)
}

pub mod exact {
    use nalgebra::{Isometry2, UnitComplex, Vector2};

    pub type Vector = Vector2<f64>;
    pub type Rotation = UnitComplex<f64>;
    pub type Isometry = Isometry2<f64>;

    pub fn vector(v: super::Vector) -> Vector {
        Vector::new(v.x.into(), v.y.into())
    }

    pub fn pose(pose: super::Pose) -> Isometry {
        let mut isometry = Isometry2::<f32>::from(pose).cast();
        isometry.rotation.renormalize();
        isometry
    }

    pub fn turn(spin: super::AngVector, seconds: f64) -> Rotation {
        Rotation::new(f64::from(spin) * seconds)
    }

    pub fn part(rotation: Rotation, t: f64) -> Option<Rotation> {
        let angle = rotation.angle();
        (angle.abs() < std::f64::consts::PI - 2e-3).then(|| Rotation::new(angle * t))
    }
}
