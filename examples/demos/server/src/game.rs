//! The game of a match: crates in stacks of five, thrown up one after the other. Replace it with yours.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use serde::{Deserialize, Serialize};

use crate::match_::Game;

/// A crate is thrown up every `THROW_EVERY` steps.
const THROW_EVERY: u64 = 6;

/// The game's state beside the simulation.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Crates {
    crates: Vec<BodyKey>,
    /// Makes matches differ from each other.
    pub seed: u64,
    /// If true, nothing is thrown and all bodies fall asleep.
    is_quiet: bool,
    /// A bug: the tick in which the game panics.
    pub panics_at: Option<u64>,
}

impl Crates {
    /// Creates a world at 60 Hz with a floor and `crates` crates.
    #[must_use]
    pub fn new(crates: usize, seed: u64, is_quiet: bool) -> (Simulation, Self) {
        let mut simulation = Simulation::new(Rate::default());
        simulation.physics.insert(
            RigidBodyBuilder::fixed().translation(Vector::Y * -0.5),
            ColliderBuilder::cuboid(100.0, 0.5, 100.0),
        );
        let side = (crates as f32 / 5.0).sqrt().ceil() as usize;
        let at = |i: usize| {
            let [x, z, level] = [i / 5 % side, i / 5 / side, i % 5].map(|n| n as f32);
            Vector::new(2.0 * x, 0.5 + level, 2.0 * z)
        };
        let crates = (0..crates)
            .map(|i| {
                let body = RigidBodyBuilder::dynamic().translation(at(i));
                // Measurements need bodies that are awake.
                let body = body.can_sleep(is_quiet);
                simulation
                    .physics
                    .insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5))
            })
            .collect();
        let game = Self {
            crates,
            seed,
            is_quiet,
            panics_at: None,
        };
        (simulation, game)
    }
}

impl Game for Crates {
    /// The rules depend on the tick alone, so it does not matter when or where the step runs.
    fn before_step(&mut self, physics: &mut Physics, step: Step) {
        assert_ne!(Some(step.tick), self.panics_at, "a bug of the game");
        if self.is_quiet || !step.tick.is_multiple_of(THROW_EVERY) || self.crates.is_empty() {
            return;
        }
        let pick = (self.seed + step.tick / THROW_EVERY * 7) % self.crates.len() as u64;
        let body = physics.body_mut(self.crates[pick as usize]).unwrap();
        body.apply_impulse(Vector::new(0.5, 4.0, 0.0), true);
    }
}
