//! Two balls that push crates about in an arena.
//!
//! A step depends on the state, on its tick and on both players' buttons. It depends on no frame and no clock.

use std::hash::{Hash, Hasher};

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation, Step};
use twox_hash::XxHash3_64;

use crate::Random;
use evenstep_arena::build_walls;

pub use evenstep_arena::Buttons;

/// The game beside the simulation, as [`rollback`](crate::rollback) drives it. Its hash is part of the checksum.
pub trait Rules: Clone + Hash + Send + Sync + 'static {
    /// Runs the game's rules before a step.
    fn before_step(&mut self, physics: &mut Physics, step: Step, buttons: [Buttons; 2]);

    /// Runs the game's rules after a step.
    fn after_step(&mut self, physics: &mut Physics, step: Step);
}

/// Returns the checksum of everything that the next step depends on.
#[must_use]
pub fn checksum(physics: &Physics, game: &impl Rules) -> u64 {
    let mut hasher = PortableHasher(XxHash3_64::with_seed(physics.checksum()));
    game.hash(&mut hasher);
    hasher.finish()
}

/// A hasher that gets the same bytes on every platform. `derive(Hash)` writes numbers in the processor's byte order,
/// and lengths as `usize`, which has 4 bytes in a browser.
struct PortableHasher(XxHash3_64);

impl Hasher for PortableHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    fn write_u16(&mut self, number: u16) {
        self.write(&number.to_le_bytes());
    }

    fn write_u32(&mut self, number: u32) {
        self.write(&number.to_le_bytes());
    }

    fn write_u64(&mut self, number: u64) {
        self.write(&number.to_le_bytes());
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0.finish()
    }
}

/// The game's state, beside the simulation.
#[derive(Clone, Debug, Hash)]
pub struct Arena {
    /// The players' bodies.
    pub players: [BodyKey; 2],
    /// The number of collisions of each player. A player gets stronger with each of them.
    pub scores: [u32; 2],
    /// The balls in the arena, oldest first.
    pub balls: Vec<BodyKey>,
    /// Decides where the next ball falls, and where the wind blows.
    pub random: Random,
}

/// Half the length of a side, in metres.
const ARENA: f32 = 6.0;
/// The force on a player of about 2 kg, in newtons.
const PUSH: f32 = 50.0;
/// The number of ticks between two new balls.
const BALL_EVERY: u64 = 45;
/// The largest number of balls. A new ball replaces the oldest.
const MOST_BALLS: usize = 8;

impl Arena {
    /// Creates the arena before its first step, equal on every machine.
    #[must_use]
    pub fn start() -> (Simulation, Self) {
        let mut simulation = Simulation::default();
        build_walls(&mut simulation.physics, ARENA);
        for i in 0..16u8 {
            let place = Vector::new(f32::from(i % 4) - 1.5, 0.3, f32::from(i / 4) - 1.5);
            let crate_ =
                RigidBodyBuilder::dynamic().translation(place * Vector::new(1.4, 1.0, 1.4));
            simulation
                .physics
                .insert(crate_, ColliderBuilder::cuboid(0.3, 0.3, 0.3));
        }
        let players = [-4.5, 4.5].map(|x| {
            let ball = ColliderBuilder::ball(0.5).density(4.0);
            let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, 0.5, 0.0));
            simulation
                .physics
                .insert(body, ball.active_events(ActiveEvents::COLLISION_EVENTS))
        });
        let arena = Self {
            players,
            scores: [0; 2],
            balls: Vec::new(),
            random: Random::new(1),
        };
        (simulation, arena)
    }

    /// Drops a ball at a random position into the arena.
    pub fn drop_ball(&mut self, physics: &mut Physics) {
        let [x, z] = [self.random.signed(), self.random.signed()];
        let place = Vector::new(x * ARENA * 0.8, 4.0, z * ARENA * 0.8);
        let body = RigidBodyBuilder::dynamic().translation(place);
        self.balls
            .push(physics.insert(body, ColliderBuilder::ball(0.3)));
        if self.balls.len() > MOST_BALLS {
            physics.remove(self.balls.remove(0));
        }
    }

    /// Pushes the players, and blows on one of the balls.
    pub fn push(&mut self, physics: &mut Physics, buttons: [Buttons; 2]) {
        for (i, player) in self.players.into_iter().enumerate() {
            let force = buttons[i].direction() * (PUSH + self.scores[i] as f32);
            physics
                .add_force(player, force)
                .expect("players are never removed");
        }
        if !self.balls.is_empty() {
            let ball = self.balls[self.random.below(self.balls.len() as u64) as usize];
            let wind = Vector::new(self.random.signed(), 0.0, self.random.signed());
            physics
                .add_force(ball, wind)
                .expect("the list contains only live balls");
        }
    }
}

impl Rules for Arena {
    fn before_step(&mut self, physics: &mut Physics, step: Step, buttons: [Buttons; 2]) {
        if step.tick.is_multiple_of(BALL_EVERY) {
            self.drop_ball(physics);
        }
        self.push(physics, buttons);
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) {
        let hits = physics.events().collisions();
        for bodies in hits.filter(|hit| hit.started).map(|hit| hit.bodies) {
            for (player, score) in self.players.iter().zip(&mut self.scores) {
                *score += u32::from(bodies.contains(&Some(*player)));
            }
        }
    }
}
