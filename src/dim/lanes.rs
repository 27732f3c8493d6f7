//! Four bodies at once: each component of a vector or rotation is a vector of four floats.
//!
//! Each body gets the same operations in the same order, so its result does not depend on the others. They are only
//! sums, products, quotients and comparisons, never fused, so they have the same bits on every platform. glam's vectors
//! have them too, but under `enhanced-determinism` glam computes one float after another.

use std::ops::{Add, Mul, Sub};

use wide::f32x4;

/// The number of bodies.
pub(crate) const LANES: usize = 4;

/// One number for each body.
pub(crate) type Floats = f32x4;

/// A vector with this many components for each body.
#[derive(Clone, Copy)]
pub(crate) struct Lanes<const COMPONENTS: usize>(pub(super) [Floats; COMPONENTS]);

/// Returns the indices of the bodies whose bit is set.
pub(crate) fn chosen(bits: u32) -> impl Iterator<Item = usize> {
    (0..LANES).filter(move |i| bits >> i & 1 == 1)
}

impl<const COMPONENTS: usize> Lanes<COMPONENTS> {
    #[inline]
    pub fn length_squared(self) -> Floats {
        self.dot(self)
    }

    #[inline]
    pub fn dot(self, other: Self) -> Floats {
        let mut sum = self.0[0] * other.0[0];
        for i in 1..COMPONENTS {
            sum += self.0[i] * other.0[i];
        }
        sum
    }
}

impl<const COMPONENTS: usize> Add for Lanes<COMPONENTS> {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }
}

impl<const COMPONENTS: usize> Sub for Lanes<COMPONENTS> {
    type Output = Self;

    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] - other.0[i]))
    }
}

impl<const COMPONENTS: usize, Factor: Copy> Mul<Factor> for Lanes<COMPONENTS>
where
    Floats: Mul<Factor, Output = Floats>,
{
    type Output = Self;

    #[inline]
    fn mul(self, by: Factor) -> Self {
        Self(self.0.map(|component| component * by))
    }
}
