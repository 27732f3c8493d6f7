//! The origin of the world, which a game shifts to stay where floats are exact.

use rapier::math::{DIM, Vector};

/// The position of the origin: the sum of its shifts, in metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Origin([f64; DIM]);

impl Origin {
    pub fn shift(&mut self, by: Vector) {
        for (sum, by) in self.0.iter_mut().zip(by.to_array()) {
            *sum += f64::from(by);
        }
    }

    /// Returns the vector from another origin to this one.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the difference is small, or was asked for in f32"
    )]
    pub fn offset_from(&self, other: &Self) -> Vector {
        Vector::from_array(std::array::from_fn(|i| (self.0[i] - other.0[i]) as f32))
    }
}
