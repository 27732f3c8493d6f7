//! Measures how two costs grow: that of kinematic targets in any order of the calls, and that of force generators
//! after a peak. Each cost must be proportional to the present number of targets or generators.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use evenstep::forces::{ForceGenerator, ForceGeneratorKey};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation};

/// Longer than a frame with a single step, so targets stay in progress.
const LATER: Duration = Duration::from_secs(3_600);

fn platforms(count: usize) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = scenes::space(60);
    let keys = (0..count)
        .map(|_| {
            simulation
                .physics
                .insert_body(RigidBodyBuilder::kinematic_position_based())
        })
        .collect();
    (simulation, keys)
}

/// Returns the same keys in orders that are typical of games.
fn orders(keys: &[BodyKey]) -> [(&'static str, Vec<BodyKey>); 3] {
    let in_order = keys.to_vec();
    let reversed = keys.iter().rev().copied().collect();
    let mut mixed = keys.to_vec();
    for i in 0..mixed.len() {
        mixed.swap(i, i * 7_919 % keys.len());
    }
    [
        ("in order", in_order),
        ("reversed", reversed),
        ("mixed", mixed),
    ]
}

fn set_all(physics: &mut Physics, keys: &[BodyKey]) {
    for key in keys {
        let pose = Pose::translation(1.0, 0.0, 0.0);
        (physics.set_kinematic_target(*key, pose, LATER)).expect("all bodies are kinematic");
    }
}

/// Sets a target for each body, and teleports each, which discards the target.
fn targets(c: &mut Criterion) {
    let mut group = c.benchmark_group("targets");
    for count in [1_000, 10_000, 32_000] {
        group.throughput(Throughput::Elements(count as u64));
        let (mut simulation, keys) = platforms(count);
        for (name, keys) in orders(&keys) {
            group.bench_function(BenchmarkId::new(name, count), |b| {
                b.iter(|| {
                    set_all(&mut simulation.physics, &keys);
                    for key in &keys {
                        simulation.physics.teleport(*key, Pose::IDENTITY).unwrap();
                    }
                });
            });
        }
    }
    group.finish();
}

/// Runs a frame of one step in which each body gets and reaches a target.
fn led(c: &mut Criterion) {
    let mut group = c.benchmark_group("led");
    group.sample_size(20);
    let count = 10_000;
    let (mut simulation, keys) = platforms(count);
    let mut height = 0.0;
    for (name, keys) in orders(&keys) {
        group.bench_function(BenchmarkId::new(name, count), |b| {
            b.iter(|| {
                height = 1.0 - height;
                for key in &keys {
                    let pose = Pose::translation(0.0, height, 0.0);
                    (simulation
                        .physics
                        .set_kinematic_target(*key, pose, Duration::ZERO))
                    .expect("all bodies are kinematic");
                }
                scenes::advance(&mut simulation, 17)
            });
        });
    }
    group.finish();
}

/// Runs a step with a thousand generators that return no force, after a time when there were more of them.
fn generators(c: &mut Criterion) {
    let mut group = c.benchmark_group("generators");
    for peak in [1_000, 1_000_000] {
        let mut simulation = scenes::space(60);
        let key = simulation
            .physics
            .insert_body(RigidBodyBuilder::dynamic().additional_mass(1.0));
        let nothing = ForceGenerator::Drag {
            linear: 0.0,
            angular: 0.0,
        };
        let generators: Vec<ForceGeneratorKey> = (0..peak)
            .map(|_| {
                (simulation
                    .physics
                    .insert_force_generator(key, nothing.clone()))
                .unwrap()
            })
            .collect();
        for (i, generator) in generators.into_iter().enumerate() {
            if !i.is_multiple_of(peak / 1_000) {
                simulation.physics.remove_force_generator(generator);
            }
        }
        group.bench_function(BenchmarkId::new("after a peak of", peak), |b| {
            b.iter(|| scenes::advance(&mut simulation, 17));
        });
    }
    group.finish();
}

criterion_group!(benches, targets, led, generators);
criterion_main!(benches);
