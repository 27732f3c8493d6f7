//! The loop in the pull form: the order of a step, settings within a frame, and every misuse.

mod misuse;
mod order;

use evenstep::rapier::prelude::*;
use evenstep::time::Dropped;
use evenstep::{BodyKey, Frame, Hooks, Physics, Rate, Simulation, Step, Stepping};
use scenes::testing::translation;
use scenes::{MS, Yard, advance, assert_near, ball, flyer_in_space, hash, moved_keys, space};
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Runs all due steps.
fn run_steps(simulation: &mut Simulation) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(step) = simulation.next_step() {
        steps.push(step);
        assert!(steps.len() < 100, "the steps do not end");
        assert!(simulation.run_step());
    }
    steps
}

fn rise(simulation: &Simulation, key: BodyKey) -> f32 {
    simulation.physics.body(key).unwrap().linvel().y
}

fn x(simulation: &Simulation, key: BodyKey) -> f32 {
    scenes::stepped_x(&simulation.physics, key)
}
