//! The rules: balls push crates about in an arena. There is no network code.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation};

use crate::Random;
use crate::walls::build_walls;

pub use crate::buttons::Buttons;

/// The largest number of players. Each has a body from the beginning, which rests without a player.
pub const PLAYERS: usize = 4;

/// Half the length of a side, in metres.
const ARENA: f32 = 8.0;
/// The force on a player of 2 kg, in newtons. It reaches 4 m/s after some steps.
const PUSH: f32 = 24.0;

/// Creates the arena before its first step, with the list of its bodies: players, then crates. The list is the same on
/// every machine, so an index into it identifies a body. Each body has its index as user data.
#[must_use]
pub fn arena(crates: usize) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = Simulation::default();
    build_walls(&mut simulation.physics, ARENA);
    let players = (0..PLAYERS).map(|i| {
        let place = Vector::new(3.0 * i as f32 - 4.5, 0.5, 7.0);
        let body = RigidBodyBuilder::dynamic().translation(place);
        let body = body.linear_damping(2.0).angular_damping(2.0);
        (body, ColliderBuilder::ball(0.5).mass(2.0))
    });
    let crates = (0..crates).map(|i| {
        let [column, row, level] = [i % 8, i / 8 % 5, i / 40].map(|i| i as f32);
        let place = Vector::new(1.8 * column - 6.3, 0.35 + 0.7 * level, 1.8 * row - 5.4);
        let body = RigidBodyBuilder::dynamic().translation(place);
        (body, ColliderBuilder::cuboid(0.35, 0.35, 0.35).mass(1.0))
    });
    let bodies = players.chain(crates).enumerate();
    let keys = bodies.map(|(i, (body, collider))| {
        simulation
            .physics
            .insert(body.user_data(i as u128), collider)
    });
    let keys = keys.collect();
    (simulation, keys)
}

/// Pushes a player with its buttons.
pub fn push(physics: &mut Physics, player: BodyKey, buttons: Buttons) {
    let force = buttons.direction() * PUSH;
    (physics.add_force(player, force)).expect("players are never removed");
}

/// Throws a crate up twice per second. No client knows it before the server says so.
pub fn throw(physics: &mut Physics, bodies: &[BodyKey], tick: u64) {
    let crates = &bodies[PLAYERS..];
    if tick.is_multiple_of(30) && !crates.is_empty() {
        let mut random = Random::new(tick);
        let thrown = crates[random.below(crates.len() as u64) as usize];
        let impulse = Vector::new(random.signed(), 4.0, random.signed());
        (physics.apply_impulse(thrown, impulse)).expect("crates are never removed");
    }
}
