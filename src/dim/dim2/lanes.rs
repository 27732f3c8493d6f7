//! Vectors and rotations of four bodies.

use std::ops::Mul;

use rapier::math::{AngVector, Pose, Rotation, Vector};

use crate::dim::lanes::{Floats, LANES, Lanes};

pub(crate) type Vectors = Lanes<2>;

/// Angles of rotation, or angular velocities.
pub(crate) type Spins = Lanes<1>;

/// The cosines and the sines of the angles.
#[derive(Clone, Copy)]
pub(crate) struct Rotations {
    pub(super) re: Floats,
    pub(super) im: Floats,
}

impl Vectors {
    #[inline]
    pub fn new(vectors: [Vector; LANES]) -> Self {
        Self([
            Floats::new(vectors.map(|vector| vector.x)),
            Floats::new(vectors.map(|vector| vector.y)),
        ])
    }

    #[inline]
    pub fn translations(poses: &[Pose; LANES]) -> Self {
        let [.., x, y] = Floats::transpose(poses.each_ref().map(four_floats));
        Self([x, y])
    }

    #[inline]
    pub fn to_array(self) -> [Vector; LANES] {
        let [x, y] = self.0.map(Floats::to_array);
        std::array::from_fn(|i| Vector::new(x[i], y[i]))
    }
}

impl Spins {
    #[inline]
    pub fn new(spins: [AngVector; LANES]) -> Self {
        Self([Floats::new(spins)])
    }
}

impl Rotations {
    #[inline]
    pub fn new(rotations: [Rotation; LANES]) -> Self {
        Self {
            re: Floats::new(rotations.map(|rotation| rotation.re)),
            im: Floats::new(rotations.map(|rotation| rotation.im)),
        }
    }

    #[inline]
    pub fn of(poses: &[Pose; LANES]) -> Self {
        let [re, im, ..] = Floats::transpose(poses.each_ref().map(four_floats));
        Self { re, im }
    }

    #[inline]
    pub fn to_array(self) -> [Rotation; LANES] {
        let (re, im) = (self.re.to_array(), self.im.to_array());
        std::array::from_fn(|i| Rotation::from_cos_sin_unchecked(re[i], im[i]))
    }

    #[inline]
    pub fn inverse(self) -> Self {
        let im = -self.im;
        Self { re: self.re, im }
    }

    /// Normalises rotations whose length is 1 except for rounding. One step of Newton's method is enough.
    #[inline]
    pub fn renormalized(self) -> Self {
        let length_squared = self.re * self.re + self.im * self.im;
        let by = 1.5 - length_squared * 0.5;
        Self {
            re: self.re * by,
            im: self.im * by,
        }
    }

    #[inline]
    pub fn rotate(self, Lanes([x, y]): Vectors) -> Vectors {
        Lanes([self.re * x - self.im * y, self.im * x + self.re * y])
    }
}

impl Mul for Rotations {
    type Output = Self;

    #[inline]
    fn mul(self, other: Self) -> Self {
        Self {
            re: self.re * other.re - self.im * other.im,
            im: self.im * other.re + self.re * other.im,
        }
    }
}

#[inline]
pub(super) fn four_floats(pose: &Pose) -> Floats {
    let Vector { x, y } = pose.translation;
    Floats::new([pose.rotation.re, pose.rotation.im, x, y])
}
