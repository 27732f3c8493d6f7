//! A player's input.

use evenstep::rapier::prelude::Vector;
use serde::{Deserialize, Serialize};

/// The buttons that a player holds down in a step: a bit for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buttons(pub u8);

impl Buttons {
    pub(crate) fn direction(self) -> Vector {
        let [right, left, down, up] = [1, 2, 4, 8].map(|bit| f32::from(u8::from(self.0 & bit > 0)));
        Vector::new(right - left, 0.0, down - up)
    }
}
