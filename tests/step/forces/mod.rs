//! Forces that act in one step, and force generators.

mod centers;
mod generators;
mod once;
mod pauses;

use evenstep::forces::ForceGenerator;
use evenstep::rapier::prelude::*;
use evenstep::threads::Overlap;
use evenstep::time::FrameTime;
use evenstep::{BodyError, BodyKey, Hooks, Physics, Rate, Simulation, Step};
use scenes::MS;
use scenes::testing::{pose, spin, vector};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Creates a ball of 1 kg in free space at 100 Hz.
fn ball(physics: &mut Physics) -> BodyKey {
    physics.insert(
        RigidBodyBuilder::dynamic(),
        ColliderBuilder::ball(0.5).mass(1.0),
    )
}

fn space() -> Simulation {
    scenes::space(100)
}

fn speed(simulation: &Simulation, key: BodyKey) -> f32 {
    simulation.physics.body(key).unwrap().linvel().x
}

fn nothing(_: &mut Physics, _: Step) {}

#[track_caller]
fn assert_near(a: f32, b: f32) {
    assert!((a - b).abs() < 1e-5, "{a} is not {b}");
}
