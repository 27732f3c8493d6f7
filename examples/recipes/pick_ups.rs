//! Coins that the player collects by touching them. Each counts once.

use evenstep::{BodyKey, Physics};

/// Removes the coins that the player has just touched, and returns their number. Call it after each step. Every sensor
/// counts as a coin.
pub fn collect(physics: &mut Physics, player: BodyKey) -> usize {
    let mut coins = 0;
    for touch in physics.events().collisions() {
        if touch.started && touch.sensor && touch.bodies.contains(&Some(player)) {
            for coin in touch.bodies.into_iter().flatten() {
                if coin != player && physics.remove(coin).is_some() {
                    coins += 1;
                }
            }
        }
    }
    coins
}
