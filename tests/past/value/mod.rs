//! The state as a value: from a saved and restored state, a run continues bit for bit.

mod assignment;
mod copies;
mod in_games;
mod other_loops;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Smoothing, Step, Stepping};
use scenes::everything::Everything;
use scenes::mirror::Mirror;
use scenes::testing::{translation, vector};
use scenes::{
    MS, Yard, advance, assert_near, ball, break_rapier, flyer, flyer_in_space, hash, moved_keys,
    shown_x,
};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

#[cfg(feature = "checksum")]
fn checksum(physics: &Physics) -> u64 {
    physics.checksum()
}

#[cfg(not(feature = "checksum"))]
fn checksum(physics: &Physics) -> u64 {
    hash(physics.rapier())
}

/// Returns the simulation after it was saved and loaded.
#[cfg(feature = "serde")]
fn reloaded(simulation: &Simulation) -> Simulation {
    Simulation::load(&simulation.save().unwrap()).unwrap()
}

#[cfg(not(feature = "serde"))]
fn reloaded(simulation: &Simulation) -> Simulation {
    simulation.clone()
}

/// Returns the tick, the time and a hash of Rapier's world.
fn bits(physics: &Physics) -> (u64, Duration, u64) {
    (physics.tick(), physics.time(), hash(physics.rapier()))
}

/// Creates a flyer, a spinning body and a resting one.
fn three() -> (Simulation, [BodyKey; 3]) {
    let (mut simulation, flyer) = flyer_in_space();
    let spin = scenes::testing::spin(1.0, 2.0, 3.0);
    let bodies = [
        RigidBodyBuilder::dynamic().translation(Vector::Y * 5.0),
        RigidBodyBuilder::fixed().translation(Vector::Y * 9.0),
    ];
    let [spinner, wall] = bodies.map(|body| simulation.physics.insert(body.angvel(spin), ball()));
    (simulation, [flyer, spinner, wall])
}

/// Pushes the first body, and inserts one in some steps.
fn play(physics: &mut Physics, key: BodyKey, step: Step) {
    let push = vector(0.0, (step.tick % 5) as f32, 0.1);
    physics.apply_impulse(key, push).unwrap();
    if step.tick % 4 == 1 {
        physics.insert(flyer(), ball());
    }
}
