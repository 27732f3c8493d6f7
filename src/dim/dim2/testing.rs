//! What tests are written with that run in two dimensions and in three: of three numbers the last one is left out.
#![allow(dead_code, reason = "each test takes what it needs")]

use rapier::dynamics::{GenericJoint, RevoluteJointBuilder, SoftBodyBuilder};
use rapier::geometry::ColliderBuilder;
use rapier::math::{AngVector, Pose, Rotation, Vector};

pub const fn vector(x: f32, y: f32, _z: f32) -> Vector {
    Vector::new(x, y)
}

/// Not turned.
pub fn translation(x: f32, y: f32, z: f32) -> Pose {
    Pose::from_translation(vector(x, y, z))
}

pub fn pose(translation: Vector, by: AngVector) -> Pose {
    Pose::new(translation, by)
}

/// Of the axes about which a body turns here is one.
pub fn spin(x: f32, y: f32, z: f32) -> AngVector {
    x + y + z
}

pub fn turned(by: AngVector) -> Rotation {
    Rotation::from_angle(by)
}

/// Not of unit length.
pub fn scaled(rotation: Rotation, by: f32) -> Rotation {
    Rotation::from_cos_sin_unchecked(rotation.re * by, rotation.im * by)
}

/// How far it is from one rotation to another, in radians.
pub fn angle_between(one: Rotation, other: Rotation) -> f32 {
    one.angle_between(&other).abs()
}

/// An angular velocity after the world was turned.
pub fn turned_spin(_by: Rotation, spin: AngVector) -> AngVector {
    spin
}

pub fn length(spin: AngVector) -> f32 {
    spin.abs()
}

pub fn cuboid(x: f32, y: f32, _z: f32) -> ColliderBuilder {
    ColliderBuilder::cuboid(x, y)
}

/// About the axis z.
pub fn hinge() -> RevoluteJointBuilder {
    RevoluteJointBuilder::new()
}

/// That turns in all directions there are.
pub fn ball_joint(anchor1: Vector, anchor2: Vector) -> GenericJoint {
    hinge().local_anchor1(anchor1).local_anchor2(anchor2).into()
}

pub fn cuboid_of(half: Vector) -> ColliderBuilder {
    cuboid(half.x, half.y, 0.0)
}

pub fn axes() -> [Vector; 2] {
    [Vector::X, Vector::Y]
}

/// Upright, with so many particles in a row.
pub fn cloth(corner: Vector, side: f32, particles: usize) -> SoftBodyBuilder {
    let half = Vector::splat(0.5 * side);
    SoftBodyBuilder::grid(corner + half, half, particles, particles)
}

/// Half of a floor's width, for as many bodies as in space: metres.
pub const FLOOR: f32 = 2_000.0;

/// The place on the ground of one of many: in one row, whatever `side` is.
pub fn on_ground(i: usize, _side: usize) -> [f32; 2] {
    [i as f32, 0.0]
}

/// The place of one of many in layers, one on the other, that are `side` wide.
pub fn in_layers(i: usize, side: usize) -> [f32; 3] {
    [(i % side) as f32, (i / side) as f32, 0.0]
}

pub fn rotation_numbers(rotation: Rotation) -> [f32; 2] {
    [rotation.re, rotation.im]
}

pub fn spin_numbers(spin: AngVector) -> [f32; 1] {
    [spin]
}

/// Places that are apart in depth: here along x.
pub fn spaced(x: f32, y: f32, z: f32) -> Vector {
    Vector::new(x + 3.0 * z, y)
}

pub fn at_most(spin: AngVector, most: f32) -> AngVector {
    spin.clamp(-most, most)
}

/// By which angle a rotation about the axis z turns.
pub fn about_z(rotation: Rotation) -> f32 {
    rotation.angle()
}

/// By which angle Rapier turns a body that is to turn by an angle: by tangents.
pub fn integrated(angle: f32) -> f32 {
    libm::atanf(angle)
}

/// What the root of a multibody can be turned by: Rapier forgets it with the next step, see docs/upstream/multibody-root.md.
pub fn of_root(_spin: AngVector) -> AngVector {
    0.0
}

/// Whether Rapier computes contacts from how far bodies are from each other, not from the origin: see
/// docs/upstream/relative-pose.md.
pub const CONTACTS_ARE_RELATIVE: bool = false;

/// A rotation of which as many components as can be are −0.
pub fn with_minus_zeros() -> Rotation {
    Rotation::from_cos_sin_unchecked(-1.0, -0.0)
}

/// Of so many particles along each edge.
pub fn soft_cube(center: Vector, half: f32, particles: usize) -> SoftBodyBuilder {
    SoftBodyBuilder::grid(center, Vector::splat(half), particles, particles)
}

/// The same in nalgebra's types of f64, for references.
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

    /// How far a body turns in so many seconds.
    pub fn turn(spin: super::AngVector, seconds: f64) -> Rotation {
        Rotation::new(f64::from(spin) * seconds)
    }

    /// A part of a rotation, by the shorter way. `None` half a turn off, where it takes more than f32 to tell which that is.
    pub fn part(rotation: Rotation, t: f64) -> Option<Rotation> {
        let angle = rotation.angle();
        (angle.abs() < std::f64::consts::PI - 2e-3).then(|| Rotation::new(angle * t))
    }
}
