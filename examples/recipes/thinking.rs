//! Enemies that make a plan ten times per second, and move in every step.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

/// The steps between two plans: 10 Hz at 60 Hz.
const THINK: u64 = 6;

/// An enemy, which the simulation's state does not contain. Save and roll it back together with the state.
#[derive(Clone, Debug)]
pub struct Enemy {
    /// The body.
    pub key: BodyKey,
    /// The plan: a force in newtons, zero at first.
    pub steering: Vector,
}

/// Moves all enemies. Call it in the hook.
pub fn steer(enemies: &mut [Enemy], physics: &mut Physics, step: Step, target: Vector) {
    for (number, enemy) in (0..).zip(enemies) {
        if (step.tick + number).is_multiple_of(THINK) {
            let position = physics.body(enemy.key).unwrap().translation();
            enemy.steering = (target - position).normalize_or_zero() * 20.0;
        }
        physics.add_force(enemy.key, enemy.steering).unwrap();
    }
}
