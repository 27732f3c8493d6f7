//! Measures a round of many small matches, which is one step of each, on one thread and on two. The ratio is the gain
//! from the second thread. It also measures matches whose bodies are all asleep.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;

use std::time::Duration;

use compare::compare;
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::{Rate, Simulation};
use rayon::prelude::*;

/// A frame time in which exactly one step at 60 Hz is due.
const FRAME: Duration = Duration::from_nanos(16_666_667);

fn match_of(bodies: usize) -> Simulation {
    let mut simulation = scenes::with_floor(Rate::default());
    let keys = scenes::pile(&mut simulation, bodies);
    scenes::keep_awake(&mut simulation, &keys);
    for _ in 0..120 {
        simulation.advance(FRAME, |_, _| ());
    }
    simulation
}

fn pool(threads: usize) -> rayon::ThreadPool {
    let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
    builder.build().unwrap()
}

fn round(pool: &rayon::ThreadPool, matches: &mut [Simulation]) {
    pool.install(|| {
        matches.par_iter_mut().for_each(|playing| {
            playing.advance(FRAME, |_, _| ());
        });
    });
}

fn rounds(c: &mut Criterion) {
    let (one, two) = (pool(1), pool(2));
    for (count, bodies) in [(200, 50), (50, 200), (10, 1_000)] {
        let mut by_one = vec![match_of(bodies); count];
        let mut by_two = by_one.clone();
        compare(
            c,
            &format!("a round of {count} matches of {bodies} bodies"),
            ("two threads", || round(&two, &mut by_two)),
            ("one thread", || round(&one, &mut by_one)),
        );
    }
}

fn asleep(c: &mut Criterion) {
    let one = pool(1);
    let mut simulation = scenes::with_floor(Rate::default());
    scenes::sleepers(&mut simulation, 50);
    let mut asleep = vec![simulation; 200];
    let mut awake = vec![match_of(50); 200];
    compare(
        c,
        "a round of 200 matches of 50 bodies on one thread",
        ("all asleep", || round(&one, &mut asleep)),
        ("all awake", || round(&one, &mut awake)),
    );
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = rounds, asleep
}
criterion_main!(benches);
