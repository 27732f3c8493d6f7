//! Measures nanoseconds per moved body in a frame without a step, from a hundred bodies to a million. Stores them in
//! `docs/pictures/growth.json`, and plots them in docs/book/src/growth.svg.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use evenstep::Simulation;
use evenstep::ecs::hecs::Entities;
use evenstep::rapier::prelude::*;
use pictures::growth::{Cache, Growth, Point};
use scenes::NO_STEP;

const COUNTS: [u32; 9] = [
    100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000,
];

const MEASURED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/pictures/growth.json");
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/book/src/growth.svg");

/// Creates turning bodies between two states. They have no colliders: Rapier would be slow with a million of these, and
/// nothing here uses them.
fn between_states(count: usize) -> Simulation {
    let mut simulation = scenes::space(1);
    for _ in 0..count {
        let body = RigidBodyBuilder::dynamic()
            .additional_mass_properties(MassProperties::new(Vector::ZERO, 1.0, Vector::ONE))
            .angvel(Vector::new(1.0, 2.0, 0.5))
            .can_sleep(false);
        simulation.physics.insert_body(body);
    }
    scenes::to_between_states(&mut simulation);
    simulation
}

/// Runs `work` as often as criterion asks, and returns the median of its times in nanoseconds.
fn measure(c: &mut Criterion, name: &str, count: usize, mut work: impl FnMut()) -> Option<f64> {
    let mut times = Vec::new();
    c.benchmark_group("growth")
        .bench_function(BenchmarkId::new(name, count), |b| {
            b.iter_custom(|iterations| {
                let start = Instant::now();
                for _ in 0..iterations {
                    work();
                }
                let time = start.elapsed();
                times.push(time.as_secs_f64() * 1e9 / iterations as f64);
                time
            });
        });
    times.sort_by(f64::total_cmp);
    // The result is `None` if a filter on the command line excluded it.
    times.get(times.len() / 2).copied()
}

fn growth(c: &mut Criterion) {
    let mut points = Vec::new();
    for bodies in COUNTS {
        let count = bodies as usize;
        let mut simulation = between_states(count);
        let mut world = hecs::World::new();
        let mut entities = Entities::default();
        let keys: Vec<_> = simulation.moved().iter().map(|(key, _)| *key).collect();
        assert_eq!(keys.len(), count);
        for key in keys {
            let entity = world.spawn(());
            let attached = entities.attach(&mut world, &mut simulation, entity, key);
            attached.unwrap();
        }
        let advance = measure(c, "advance", count, || {
            simulation.advance(NO_STEP, |_, _| ());
        });
        let with_sync = measure(c, "advance and sync", count, || {
            simulation.advance(NO_STEP, |_, _| ());
            entities.sync(&mut world, &mut simulation);
        });
        if let (Some(advance), Some(with_sync)) = (advance, with_sync) {
            let per_body = |nanos: f64| (nanos / f64::from(bodies) * 10.0).round() / 10.0;
            points.push(Point {
                bodies,
                frame: per_body(advance),
                frame_and_hecs: per_body(with_sync),
            });
        }
    }
    if points.len() == COUNTS.len() {
        let caches = caches();
        store(&Growth { caches, points }).expect("the folders are writable");
        println!("written: {MEASURED}, {PICTURE}");
    }
}

fn store(measured: &Growth) -> Result<(), Box<dyn Error>> {
    fs::write(MEASURED, serde_json::to_string_pretty(measured)? + "\n")?;
    Ok(fs::write(PICTURE, measured.svg()?)?)
}

/// Returns the data caches of the first core as Linux reports them, or an empty list on other systems.
fn caches() -> Vec<Cache> {
    let read = |i: u8, what: &str| {
        let file = format!("/sys/devices/system/cpu/cpu0/cache/index{i}/{what}");
        fs::read_to_string(file)
            .map(|text| text.trim().to_owned())
            .ok()
    };
    let cache = |i: u8| {
        let level = read(i, "level")?.parse().ok()?;
        let kilobytes = read(i, "size")?.strip_suffix('K')?.parse().ok()?;
        (read(i, "type")? != "Instruction").then_some(Cache { level, kilobytes })
    };
    (0..5).filter_map(cache).collect()
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2));
    targets = growth
}
criterion_main!(benches);
