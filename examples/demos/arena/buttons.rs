//! A player's input.

use evenstep::rapier::prelude::Vector;
use serde::{Deserialize, Serialize};

use crate::Random;

/// The buttons that a player holds down in a step: a bit for each direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buttons(pub u8);

impl Buttons {
    /// Returns the buttons of a scripted player, who holds some for half a second, then others.
    #[must_use]
    pub fn of_script(player: usize, tick: u64) -> Self {
        let seed = (tick + 11 * player as u64) / 30 * 4 + player as u64;
        Self(Random::new(seed).below(16) as u8)
    }

    /// Returns the sum of the directions that are held down, each of length 1.
    #[must_use]
    pub fn direction(self) -> Vector {
        let [right, left, down, up] = [1, 2, 4, 8].map(|bit| f32::from(u8::from(self.0 & bit > 0)));
        Vector::new(right - left, 0.0, down - up)
    }
}
