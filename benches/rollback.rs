//! What a rollback costs: going back and making the steps since then again, beside as many bare steps of the same scene,
//! which are not saved and show nothing. A table at the end.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;
#[path = "../tests/scenes/mod.rs"]
mod scenes;

use std::time::Duration;

use compare::compare;
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::{BodyKey, Rate, Simulation};

const FRAME: Duration = Duration::from_millis(16);

type Fill = fn(&mut Simulation, usize) -> Vec<BodyKey>;

fn scene(fill: Fill, bodies: usize) -> Simulation {
    let mut simulation = scenes::with_floor(Rate::default());
    let keys = fill(&mut simulation, bodies);
    scenes::keep_awake(&mut simulation, &keys);
    for _ in 0..120 {
        simulation.advance(FRAME, |_, _| ());
    }
    simulation
}

/// How many milliseconds a rollback takes, as a line of the table.
fn rollback(
    c: &mut Criterion,
    name: &str,
    simulation: &Simulation,
    bodies: usize,
    steps: u64,
) -> Option<String> {
    let mut running = simulation.clone();
    running.set_rewind_limits(steps, usize::MAX);
    for _ in 0..=steps {
        running.advance(FRAME * 2, |_, _| ());
    }
    let present = running.tick();
    let mut bare = std::mem::take(simulation.clone().physics_mut());
    let (time, ratio) = compare(
        c,
        &format!("{name}, {bodies} bodies, {steps} steps"),
        ("rollback", || {
            running
                .resimulate(present - steps, |_, _| ())
                .expect("is kept");
        }),
        ("bare steps", || (0..steps).for_each(|_| bare.step())),
    )?;
    let bytes = running.rewind_bytes() / usize::try_from(steps).expect("few") / bodies;
    let fits = |limit: u64| {
        if time <= Duration::from_micros(limit) {
            "yes"
        } else {
            "no"
        }
    };
    Some(format!(
        "| {name} | {bodies} | {steps} | {:.2} ms | {ratio:.2} | {bytes} | {} | {} |",
        1e3 * time.as_secs_f64(),
        fits(4_000),
        fits(16_667),
    ))
}

fn rollbacks(c: &mut Criterion) {
    let fills: [(&str, Fill); 3] = [
        ("free", scenes::spinners),
        ("stacks", scenes::pile),
        ("heap", scenes::heap),
    ];
    let mut lines = Vec::new();
    for (name, fill) in fills {
        for bodies in [50, 200, 1_000] {
            let simulation = scene(fill, bodies);
            for steps in [8, 20] {
                lines.extend(rollback(c, name, &simulation, bodies, steps));
            }
        }
    }
    println!(
        "| scene | bodies | steps | time | × bare steps | bytes a body and state | in 4 ms | in 16.7 ms |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for line in lines {
        println!("{line}");
    }
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = rollbacks
}
criterion_main!(benches);
