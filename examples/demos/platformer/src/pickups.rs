//! Coins: turning sensors that the character collects.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

use crate::level::Paint;

/// The radius of a coin, in metres.
const RADIUS: f32 = 0.35;
/// The angular speed of a coin, in rad/s.
const TURN: f32 = 2.5;

/// The remaining coins, and the score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pickups {
    left: Vec<BodyKey>,
    score: u32,
}

impl Pickups {
    /// Inserts coins.
    pub fn build(physics: &mut Physics, places: &[Vector]) -> Self {
        let left = places.iter().map(|place| {
            let body = RigidBodyBuilder::kinematic_velocity_based()
                .translation(*place)
                .angvel(Vector::Y * TURN)
                .user_data(Paint::Coin.into());
            let collider = ColliderBuilder::ball(RADIUS)
                .sensor(true)
                .active_events(ActiveEvents::COLLISION_EVENTS)
                // The character is kinematic, too. By default Rapier ignores pairs of kinematic bodies.
                .active_collision_types(ActiveCollisionTypes::KINEMATIC_KINEMATIC);
            physics.insert(body, collider)
        });
        Self {
            left: left.collect(),
            score: 0,
        }
    }

    /// Collects coins from the events of the step. Called in the hook after each step. Each coin counts once, because
    /// it is then removed.
    pub fn collect(&mut self, physics: &mut Physics, hero: BodyKey) {
        let collisions = physics.events().collisions();
        let touched: Vec<BodyKey> = collisions
            .filter(|collision| collision.started && collision.bodies.contains(&Some(hero)))
            .flat_map(|collision| collision.bodies.into_iter().flatten())
            .collect();
        for key in touched {
            if let Some(place) = self.left.iter().position(|left| *left == key) {
                self.left.swap_remove(place);
                physics.remove(key);
                self.score += 1;
            }
        }
    }

    /// Returns the number of collected coins.
    #[must_use]
    pub fn score(&self) -> u32 {
        self.score
    }

    /// Returns the number of remaining coins.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }
}
