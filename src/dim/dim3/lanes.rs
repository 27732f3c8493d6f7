//! Vectors and rotations of four bodies.

use std::ops::Mul;

use rapier::math::{Pose, Rotation, Vector};

use crate::dim::lanes::{Floats, LANES, Lanes};

pub(crate) type Vectors = Lanes<3>;

/// Rotations or angular velocities, as axes whose length is the angle or the speed.
pub(crate) type Spins = Vectors;

#[derive(Clone, Copy)]
pub(crate) struct Rotations {
    pub(super) vector: Vectors,
    pub(super) w: Floats,
}

impl Vectors {
    #[inline]
    pub fn new(vectors: [Vector; LANES]) -> Self {
        let fours = vectors.map(|vector| Floats::new([vector.x, vector.y, vector.z, 0.0]));
        let [x, y, z, _] = Floats::transpose(fours);
        Self([x, y, z])
    }

    #[inline]
    pub fn translations(poses: &[Pose; LANES]) -> Self {
        let [x, y, z, _] = Floats::transpose(poses.each_ref().map(translation));
        Self([x, y, z])
    }

    #[inline]
    pub fn to_array(self) -> [Vector; LANES] {
        let Self([x, y, z]) = self;
        Floats::transpose([x, y, z, Floats::ZERO]).map(to_vector)
    }

    #[inline]
    fn cross(self, Self([bx, by, bz]): Self) -> Self {
        let Self([x, y, z]) = self;
        Self([y * bz - z * by, z * bx - x * bz, x * by - y * bx])
    }
}

impl Rotations {
    #[inline]
    pub fn new(rotations: [Rotation; LANES]) -> Self {
        let [x, y, z, w] = Floats::transpose(rotations.map(rotation));
        let vector = Lanes([x, y, z]);
        Self { vector, w }
    }

    #[inline]
    pub fn of([a, b, c, d]: &[Pose; LANES]) -> Self {
        Self::new([a.rotation, b.rotation, c.rotation, d.rotation])
    }

    #[inline]
    pub fn to_array(self) -> [Rotation; LANES] {
        let Lanes([x, y, z]) = self.vector;
        Floats::transpose([x, y, z, self.w]).map(|floats| Rotation::from_array(floats.to_array()))
    }

    #[inline]
    pub fn inverse(self) -> Self {
        let vector = self.vector * -1.0;
        Self { vector, w: self.w }
    }

    /// Normalises rotations whose length is 1 except for rounding. One step of Newton's method is enough.
    #[inline]
    pub fn renormalized(self) -> Self {
        let length_squared = self.vector.length_squared() + self.w * self.w;
        let by = 1.5 - length_squared * 0.5;
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

/// Returns the translation with the padding behind it, so that one load is enough, not three.
#[inline]
pub(super) fn translation(pose: &Pose) -> Floats {
    let Vector { x, y, z } = pose.translation;
    Floats::new([x, y, z, f32::from_bits(pose.padding)])
}

#[inline]
pub(super) fn rotation(rotation: Rotation) -> Floats {
    Floats::new(rotation.to_array())
}

#[inline]
pub(super) fn to_vector(floats: Floats) -> Vector {
    let [x, y, z, _] = floats.to_array();
    Vector::new(x, y, z)
}
