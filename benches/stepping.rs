//! Measures the cost of each stepping strategy for one second of frames, compared with fixed steps.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;

use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::{Rate, Simulation};
use scenes::strategies::{STRATEGIES, Strategy};

/// Returns a pile that is kept awake, so that all seconds cost the same.
fn start(strategy: &Strategy) -> Simulation {
    let mut simulation = scenes::with_floor(Rate::hz(strategy.hz));
    simulation
        .clock_settings_mut()
        .set_stepping(strategy.stepping);
    simulation.smoothing = strategy.smoothing;
    let keys = scenes::pile(&mut simulation, 300);
    scenes::keep_awake(&mut simulation, &keys);
    simulation
}

fn second(simulation: &mut Simulation, fps: u32) {
    for _ in 0..fps {
        simulation.advance(Duration::from_secs(1) / fps, |_, _| ());
    }
}

fn stepping(c: &mut Criterion) {
    let [others @ .., fixed] = &STRATEGIES;
    for fps in [30, 60, 144] {
        for strategy in others {
            let (mut ours, mut theirs) = (start(strategy), start(fixed));
            compare::compare(
                c,
                &format!("one second at {fps} frames per second"),
                (strategy.name, || second(&mut ours, fps)),
                (&format!("{} beside {}", fixed.name, strategy.name), || {
                    second(&mut theirs, fps);
                }),
            );
        }
    }
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = stepping
}
criterion_main!(benches);
