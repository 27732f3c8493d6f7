//! Rollback for input that arrives late, over a connection of five ticks.
//!
//! `cargo run --example late_input`

use std::collections::BTreeMap;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::rewind::{Kept, RewindError};
use evenstep::{BodyKey, Physics, Simulation, Step};

const DELAY: u64 = 5;

/// Applies the other player's input. A missing one is predicted to equal the last one.
fn play(physics: &mut Physics, step: Step, ball: BodyKey, inputs: &BTreeMap<u64, f32>) {
    let input = inputs.range(..=step.tick).next_back();
    let force = Vector::X * input.map_or(0.0, |(_, input)| *input);
    physics.add_force(ball, force).unwrap();
}

/// Returns the real input of the other player in this tick.
fn truth(tick: u64) -> f32 {
    if tick % 40 < 20 { 5.0 } else { -5.0 }
}

fn main() -> Result<(), RewindError> {
    let mut simulation = Simulation::default();
    let ball = ColliderBuilder::ball(0.5).mass(1.0);
    let ball = (simulation.physics).insert(RigidBodyBuilder::dynamic(), ball);
    simulation.keep(Kept {
        ticks: 2 * DELAY,
        ..Kept::default()
    });
    let mut inputs = BTreeMap::new();
    let mut rollbacks = 0;
    for _ in 0..240 {
        simulation.advance(Duration::from_millis(17), |physics, step| {
            play(physics, step, ball, &inputs);
        });
        // A packet arrives, with the input of five ticks ago.
        let Some(tick) = simulation.physics.tick().checked_sub(DELAY) else {
            continue;
        };
        let predicted = inputs.range(..=tick).next_back().map(|(_, input)| *input);
        inputs.insert(tick, truth(tick));
        simulation.confirm(tick + 1); // the inputs before this tick are known
        if predicted != Some(truth(tick)) {
            rollbacks += 1;
            simulation.resimulate(tick, |physics, step| play(physics, step, ball, &inputs))?;
        }
        // The picture does not jump: the error that the rollback shows decays.
        let pose = simulation.pose(ball).unwrap();
        println!(
            "tick {}: drawn at {:.2} m",
            simulation.physics.tick(),
            pose.translation.x
        );
    }
    println!("{rollbacks} rollbacks");
    Ok(())
}
