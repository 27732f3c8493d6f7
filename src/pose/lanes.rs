//! Four bodies at once: each component of a vector or quaternion is a vector of four floats.
//!
//! The operations are those of one body, in the same order for each of the four: what is made of a body
//! does not depend on the others.

use std::ops::{Add, Mul, Sub};

use rapier::glamx::{Mat4, Quat, Vec3, Vec4};

/// How many bodies.
pub(super) const LANES: usize = 4;

#[derive(Clone, Copy)]
pub(super) struct Vectors {
    pub x: Vec4,
    pub y: Vec4,
    pub z: Vec4,
}

#[derive(Clone, Copy)]
pub(super) struct Quats {
    pub vector: Vectors,
    pub w: Vec4,
}

impl Vectors {
    #[inline]
    pub fn new(vectors: [Vec3; LANES]) -> Self {
        Self::transposed(vectors.map(|vector| vector.extend(0.0))).vector
    }

    /// From four floats each, of which the last says nothing.
    #[inline]
    pub fn of_four_floats(vectors: [Vec4; LANES]) -> Self {
        Self::transposed(vectors).vector
    }

    #[inline]
    fn transposed(rows: [Vec4; LANES]) -> Quats {
        let [x, y, z, w] = rows;
        let columns = Mat4::from_cols(x, y, z, w).transpose();
        Quats {
            vector: Self {
                x: columns.x_axis,
                y: columns.y_axis,
                z: columns.z_axis,
            },
            w: columns.w_axis,
        }
    }

    #[inline]
    pub fn to_array(self) -> [Vec3; LANES] {
        let w = Vec4::ZERO;
        Quats { vector: self, w }.rows().map(Vec4::truncate)
    }

    #[inline]
    pub fn dot(self, other: Self) -> Vec4 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline]
    pub fn cross(self, other: Self) -> Self {
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

impl Mul<Vec4> for Vectors {
    type Output = Self;

    #[inline]
    fn mul(self, by: Vec4) -> Self {
        Self {
            x: self.x * by,
            y: self.y * by,
            z: self.z * by,
        }
    }
}

impl Mul<f32> for Vectors {
    type Output = Self;

    #[inline]
    fn mul(self, by: f32) -> Self {
        self * Vec4::splat(by)
    }
}

impl Quats {
    #[inline]
    pub fn new(quats: [Quat; LANES]) -> Self {
        Vectors::transposed(quats.map(Vec4::from))
    }

    /// Four floats for each.
    #[inline]
    pub fn rows(self) -> [Vec4; LANES] {
        let Vectors { x, y, z } = self.vector;
        let rows = Mat4::from_cols(x, y, z, self.w).transpose();
        [rows.x_axis, rows.y_axis, rows.z_axis, rows.w_axis]
    }

    #[inline]
    pub fn to_array(self) -> [Quat; LANES] {
        self.rows().map(Quat::from_vec4)
    }

    #[inline]
    pub fn conjugate(self) -> Self {
        Self {
            vector: self.vector * -1.0,
            w: self.w,
        }
    }

    /// To unit length, of which it is but for rounding: a step of Newton's is all that takes.
    #[inline]
    pub fn renormalized(self) -> Self {
        let length_squared = self.vector.dot(self.vector) + self.w * self.w;
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

impl Mul for Quats {
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
