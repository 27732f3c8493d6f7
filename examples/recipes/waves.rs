//! Waves of enemies, which are the same at every frame rate and after a rollback.

use evenstep::Physics;
use evenstep::rapier::prelude::*;

/// The tick of each wave, and its number of enemies.
const WAVES: [(u64, u8); 3] = [(60, 2), (180, 4), (300, 8)];

/// Spawns the enemies of this tick. Call it in the hook before each step.
pub fn spawn(physics: &mut Physics, tick: u64) {
    for (_, enemies) in WAVES.iter().filter(|wave| wave.0 == tick) {
        for i in 0..*enemies {
            let position = Vector::new(0.1, 1.5, 0.0) * f32::from(i) + Vector::Y * 3.0;
            let body = RigidBodyBuilder::dynamic().translation(position);
            physics.insert(body, ColliderBuilder::ball(0.6));
        }
    }
}
