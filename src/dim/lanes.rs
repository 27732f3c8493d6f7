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
pub(crate) struct Vectors(pub(super) [Floats; 3]);

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
    let rows = Mat4::from_cols(x, y, z, w).transpose();
    [rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis]
}

impl Vectors {
    #[inline]
    pub fn new(vectors: [Vector; LANES]) -> Self {
        let [x, y, z, _] = transposed(vectors.map(|vector| vector.extend(0.0)));
        Self([x, y, z])
    }

    #[inline]
    pub fn translations(poses: &[Pose; LANES]) -> Self {
        let [x, y, z, _] = transposed(poses.each_ref().map(four_floats));
        Self([x, y, z])
    }

    #[inline]
    pub fn to_array(self) -> [Vector; LANES] {
        let Self([x, y, z]) = self;
        transposed([x, y, z, Vec4::ZERO]).map(Vec4::truncate)
    }

    #[inline]
    pub fn length_squared(self) -> Floats {
        self.dot(self)
    }

    #[inline]
    fn dot(self, Self([x, y, z]): Self) -> Floats {
        self.0[0] * x + self.0[1] * y + self.0[2] * z
    }

    #[inline]
    fn cross(self, Self([bx, by, bz]): Self) -> Self {
        let Self([x, y, z]) = self;
        Self([y * bz - z * by, z * bx - x * bz, x * by - y * bx])
    }
}

impl Add for Vectors {
    type Output = Self;

    #[inline]
    fn add(self, Self([x, y, z]): Self) -> Self {
        Self([self.0[0] + x, self.0[1] + y, self.0[2] + z])
    }
}

impl Sub for Vectors {
    type Output = Self;

    #[inline]
    fn sub(self, Self([x, y, z]): Self) -> Self {
        Self([self.0[0] - x, self.0[1] - y, self.0[2] - z])
    }
}

impl<Factor: Copy> Mul<Factor> for Vectors
where
    Floats: Mul<Factor, Output = Floats>,
{
    type Output = Self;

    #[inline]
    fn mul(self, by: Factor) -> Self {
        let Self([x, y, z]) = self;
        Self([x * by, y * by, z * by])
    }
}

impl Rotations {
    #[inline]
    pub fn new(rotations: [Rotation; LANES]) -> Self {
        let [x, y, z, w] = transposed(rotations.map(Vec4::from));
        let vector = Vectors([x, y, z]);
        Self { vector, w }
    }

    #[inline]
    pub fn of([a, b, c, d]: &[Pose; LANES]) -> Self {
        Self::new([a.rotation, b.rotation, c.rotation, d.rotation])
    }

    #[inline]
    pub fn to_array(self) -> [Rotation; LANES] {
        let Vectors([x, y, z]) = self.vector;
        transposed([x, y, z, self.w]).map(Rotation::from_vec4)
    }

    #[inline]
    pub fn inverse(self) -> Self {
        let vector = self.vector * -1.0;
        Self { vector, w: self.w }
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
