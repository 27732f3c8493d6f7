//! Four bodies at once: each component of a vector or quaternion is a vector of four floats.
//!
//! The operations are those of one body, in the same order for each of the four: what is made of a body
//! does not depend on the others.

use std::ops::{Add, Mul, Sub};

use rapier::glamx::{Mat4, Vec4};
use rapier::math::{Pose, Rotation, Vector};

use super::slerp::four_floats;

/// How many bodies.
pub(crate) const LANES: usize = 4;

/// A number for each.
pub(crate) type Floats = Vec4;

#[derive(Clone, Copy)]
pub(crate) struct Vectors {
    pub(super) x: Floats,
    pub(super) y: Floats,
    pub(super) z: Floats,
}

/// How far they turn, or how fast: about an axis, by its length.
pub(crate) type Spins = Vectors;

#[derive(Clone, Copy)]
pub(crate) struct Rotations {
    pub(super) vector: Vectors,
    pub(super) w: Floats,
}

/// The bodies whose bit is set.
pub(crate) fn chosen(bits: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |i| bits >> i & 1 == 1)
}

/// From four floats for each body to the first of all, the second of all, and so on; and back.
#[inline]
pub(super) fn transposed([x, y, z, w]: [Vec4; LANES]) -> [Vec4; LANES] {
    let columns = Mat4::from_cols(x, y, z, w).transpose();
    [
        columns.x_axis,
        columns.y_axis,
        columns.z_axis,
        columns.w_axis,
    ]
}

impl Vectors {
    #[inline]
    pub fn new(vectors: [Vector; LANES]) -> Self {
        Self::of_four_floats(vectors.map(|vector| vector.extend(0.0)))
    }

    #[inline]
    pub fn translations(poses: &[Pose; LANES]) -> Self {
        Self::of_four_floats(poses.each_ref().map(four_floats))
    }

    /// The last of which says nothing.
    #[inline]
    fn of_four_floats(rows: [Vec4; LANES]) -> Self {
        let [x, y, z, _] = transposed(rows);
        Self { x, y, z }
    }

    #[inline]
    pub fn to_array(self) -> [Vector; LANES] {
        transposed([self.x, self.y, self.z, Vec4::ZERO]).map(Vec4::truncate)
    }

    #[inline]
    pub fn length_squared(self) -> Floats {
        self.dot(self)
    }

    #[inline]
    fn dot(self, other: Self) -> Floats {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline]
    fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }
}

impl Add for Vectors {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self {
            x: self.x + other.x,
            y: self.y + other.y,
            z: self.z + other.z,
        }
    }
}

impl Sub for Vectors {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self {
            x: self.x - other.x,
            y: self.y - other.y,
            z: self.z - other.z,
        }
    }
}

impl<Factor: Copy> Mul<Factor> for Vectors
where
    Floats: Mul<Factor, Output = Floats>,
{
    type Output = Self;

    #[inline]
    fn mul(self, by: Factor) -> Self {
        Self {
            x: self.x * by,
            y: self.y * by,
            z: self.z * by,
        }
    }
}

impl Rotations {
    #[inline]
    pub fn new(rotations: [Rotation; LANES]) -> Self {
        let [x, y, z, w] = transposed(rotations.map(Vec4::from));
        let vector = Vectors { x, y, z };
        Self { vector, w }
    }

    #[inline]
    pub fn to_array(self) -> [Rotation; LANES] {
        let Vectors { x, y, z } = self.vector;
        transposed([x, y, z, self.w]).map(Rotation::from_vec4)
    }

    #[inline]
    pub fn inverse(self) -> Self {
        Self {
            vector: self.vector * -1.0,
            w: self.w,
        }
    }

    /// To unit length, of which it is but for rounding: a step of Newton's is all that takes.
    #[inline]
    pub fn renormalized(self) -> Self {
        let length_squared = self.vector.length_squared() + self.w * self.w;
        let by = Vec4::splat(1.5) - length_squared * 0.5;
        Self {
            vector: self.vector * by,
            w: self.w * by,
        }
    }

    #[inline]
    pub fn rotate(self, vector: Vectors) -> Vectors {
        let swing = self.vector.cross(vector) * 2.0;
        vector + swing * self.w + self.vector.cross(swing)
    }
}

impl Mul for Rotations {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.vector, other.vector);
        Self {
            vector: a * other.w + b * self.w + a.cross(b),
            w: self.w * other.w - a.dot(b),
        }
    }
}
