//! A unit test of a game's rules, as the book recommends it.

use super::{SECOND, position};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Rate, Simulation};
use scenes::with_floor;
use std::time::Duration;

/// A game without a window: a hero who jumps once.
struct Game {
    simulation: Simulation,
    hero: BodyKey,
    highest: f32,
}

impl Game {
    fn new() -> Self {
        let mut simulation = with_floor(Rate::hz(60));
        let body = RigidBodyBuilder::dynamic().translation(Vector::Y);
        let hero = ColliderBuilder::capsule_y(0.6, 0.4).mass(70.0);
        Self {
            hero: simulation.physics.insert(body, hero),
            simulation,
            highest: 0.0,
        }
    }

    fn frame(&mut self, frame_time: Duration) {
        self.simulation.advance(frame_time, |physics, step| {
            if step.tick == 10 {
                let impulse = Vector::Y * 350.0;
                physics.apply_impulse(self.hero, impulse).unwrap();
            }
            let height = position(physics, self.hero).translation.y;
            self.highest = self.highest.max(height);
        });
    }
}

/// Returns the greatest height of a jump, in metres.
fn jump(frames_per_second: u32) -> f32 {
    let mut game = Game::new();
    for _ in 0..2 * frames_per_second {
        game.frame(SECOND / frames_per_second);
    }
    game.highest
}

#[test]
fn a_jump_reaches_a_ledge_at_every_frame_rate() {
    assert!(jump(60) > 2.2);
    for frames_per_second in [15, 144, 1_000] {
        assert_eq!(jump(frames_per_second), jump(60));
    }
}
