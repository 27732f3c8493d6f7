//! The rules: balls push crates about in an arena, and each can carry one. There is no network code.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation};
use serde::{Deserialize, Serialize};

use crate::Random;
use evenstep_arena::build_walls;

pub use evenstep_arena::Buttons;

/// The largest number of players. Each has a body from the beginning, which rests without a player.
pub const PLAYERS: usize = 4;

/// Half the length of a side, in metres.
const ARENA: f32 = 8.0;
/// The force on a player of 2 kg, in newtons. It reaches 4 m/s after some steps.
const PUSH: f32 = 24.0;

/// The button that takes a crate and holds it. A script never presses it.
pub const TAKE: u8 = 16;
/// A player takes crates within this distance, in metres.
pub const ARM: f32 = 2.0;
/// The height of a held crate above its player, in metres. Both have room to turn.
const HOLD: f32 = 1.2;
/// The speed of a held crate per metre to its position, in 1/s, and at most, in m/s.
const PULL: (f32, f32) = (10.0, 8.0);

/// For each player, the crate that it holds, as an index into the arena's list. It is a resource of the arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held(pub [Option<u16>; PLAYERS]);

/// Creates the arena before its first step, with the list of its bodies: players, then crates. The list is the same on
/// every machine, so an index into it identifies a body. Each body has its index as user data.
#[must_use]
pub fn arena(crates: usize) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = Simulation::default();
    simulation.physics.resources_mut().insert(Held::default());
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

/// Does what a player's buttons say. Players act in order, so of two who take a crate in the same step the first gets it.
pub fn act(physics: &mut Physics, bodies: &[BodyKey], player: usize, buttons: Buttons) {
    let force = buttons.direction() * PUSH;
    (physics.add_force(bodies[player], force)).expect("players are never removed");
    let mut held = held(physics);
    held.0[player] = match held.0[player] {
        _ if !takes(buttons) => None,
        None => free_crate(physics, bodies, player),
        before => before,
    };
    physics.resources_mut().insert(held);
    // A corrupted packet may name a crate that does not exist.
    if let Some(key) = held.0[player].and_then(|place| bodies.get(usize::from(place))) {
        pull(physics, *key, bodies[player]);
    }
}

/// Returns whether the player takes or holds a crate.
#[must_use]
pub fn takes(buttons: Buttons) -> bool {
    buttons.0 & TAKE > 0
}

/// Returns the held crates.
#[must_use]
pub fn held(physics: &Physics) -> Held {
    *physics.resources().get().expect("the arena has it")
}

/// Returns the nearest crate in reach of a player that nobody holds. A client's proxies cannot be taken.
fn free_crate(physics: &Physics, bodies: &[BodyKey], player: usize) -> Option<u16> {
    let own = physics.body(bodies[player])?.translation();
    let crates = (0..).zip(bodies).skip(PLAYERS);
    let free = crates.filter(|(place, _)| !held(physics).0.contains(&Some(*place)));
    let distances = free.filter_map(|(place, key)| {
        let body = physics.body(*key).filter(|body| body.is_dynamic())?;
        Some((place, body.translation().distance(own)))
    });
    let near = distances.filter(|(_, distance)| *distance < ARM);
    (near.min_by(|a, b| a.1.total_cmp(&b.1))).map(|(place, _)| place)
}

/// Moves a held crate towards its position above the player.
fn pull(physics: &mut Physics, held: BodyKey, player: BodyKey) {
    let player = physics.body(player).expect("players are never removed");
    let to = player.translation() + Vector::Y * HOLD;
    let body = physics.body_mut(held).expect("crates are never removed");
    let velocity = (to - body.translation()) * PULL.0;
    body.set_linvel(velocity.clamp_length_max(PULL.1), true);
    body.set_angvel(Vector::ZERO, true);
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
