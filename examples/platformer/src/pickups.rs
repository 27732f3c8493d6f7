//! What the character collects: sensors that turn.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

use crate::level::Paint;

/// Metres.
const RADIUS: f32 = 0.35;
/// Radians a second.
const TURN: f32 = 2.5;

/// The coins that are left, and the score.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pickups {
    left: Vec<BodyKey>,
    score: u32,
}

impl Pickups {
    /// Puts coins into a world.
    pub fn build(physics: &mut Physics, places: &[Vector]) -> Self {
        let left = places.iter().map(|place| {
            let body = RigidBodyBuilder::kinematic_velocity_based()
                .translation(*place)
                .angvel(Vector::Y * TURN)
                .user_data(Paint::Coin.into());
            let collider = ColliderBuilder::ball(RADIUS)
                .sensor(true)
                .active_events(ActiveEvents::COLLISION_EVENTS)
                // The character is kinematic too: by default no such pair is looked at.
                .active_collision_types(ActiveCollisionTypes::KINEMATIC_KINEMATIC);
            physics.insert(body, collider)
        });
        Self {
            left: left.collect(),
            score: 0,
        }
    }

    /// In the hook after each step, by its events: each coin counts once, as it is gone then.
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

    /// How many were collected.
    #[must_use]
    pub fn score(&self) -> u32 {
        self.score
    }

    /// How many are left.
    #[must_use]
    pub fn left(&self) -> usize {
        self.left.len()
    }
}
