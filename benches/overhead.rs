//! Measures what `advance` adds to Rapier's bare step. For comparison, a plain pass reads the pose of every awake body
//! and does nothing with it.
//!
//! All three run in turn within one measurement. Times are medians, in nanoseconds per body. With the feature
//! `parallel`, Rapier uses as many threads as `RAYON_NUM_THREADS` says, and evenstep's share applies to that number.
#![allow(missing_docs, reason = "a program")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use evenstep::{BodyKey, Physics, Rate, Simulation};

/// Slightly more than a step of 1/60 s, so every such frame has one step.
const STEP: Duration = Duration::from_nanos(16_666_667);

fn build(scene: fn(&mut Simulation, usize) -> Vec<BodyKey>, count: usize) -> Simulation {
    let mut simulation = scenes::with_floor(Rate::hz(60));
    let keys = scene(&mut simulation, count);
    scenes::keep_awake(&mut simulation, &keys);
    simulation
}

/// Returns the medians of evenstep's part, of the plain pass and of Rapier's step.
fn measure(scene: fn(&mut Simulation, usize) -> Vec<BodyKey>, count: usize) -> [f64; 3] {
    let mut simulation = build(scene, count);
    let mut bare = std::mem::take(build(scene, count).physics.rapier_mut());
    bare.integration_parameters.dt = simulation.clock().settings().rate().dt();
    let mut times: [Vec<f64>; 3] = Default::default();
    for frame in 0..(400_000 / count).clamp(12, 200) {
        let start = Instant::now();
        let ours = simulation.advance(STEP, |_, _| ());
        let advanced = Instant::now();
        bare.step();
        let stepped = Instant::now();
        for handle in bare.islands.active_bodies() {
            black_box(*bare.bodies[handle].position());
        }
        let read = stepped.elapsed();
        assert_eq!(ours.steps, 1);
        if frame >= 3 {
            let step = (stepped - advanced).as_secs_f64();
            times[0].push((advanced - start).as_secs_f64() - step);
            times[1].push(read.as_secs_f64());
            times[2].push(step);
        }
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] * 1e9 / count as f64
    })
}

type Habit = (&'static str, fn(&mut Physics));

/// The calls of a game in each step if it creates its bodies through Rapier: none, each alone, and both.
const HABITS: [Habit; 4] = [
    ("nothing", |_| ()),
    ("track_all", Physics::track_all),
    ("rapier_mut", |physics| {
        physics.rapier_mut();
    }),
    ("both", |physics| {
        physics.rapier_mut();
        physics.track_all();
    }),
];

/// Measures Rapier's step, and the time beyond it of frames in a game with each habit. It uses the shortest times,
/// because longer ones include other work of the machine.
fn measure_habits(
    scene: fn(&mut Simulation, usize) -> Vec<BodyKey>,
    count: usize,
) -> (f64, [f64; 4]) {
    let mut games = HABITS.map(|(_, habit)| (habit, build(scene, count)));
    let mut bare = std::mem::take(build(scene, count).physics.rapier_mut());
    bare.integration_parameters.dt = games[0].1.clock().settings().rate().dt();
    let mut times: [Vec<f64>; 5] = Default::default();
    for frame in 0..100 {
        let mut last = Instant::now();
        bare.step();
        let mut all = vec![last.elapsed().as_secs_f64()];
        for (habit, simulation) in &mut games {
            last = Instant::now();
            simulation.advance(STEP, |physics, _| habit(physics));
            all.push(last.elapsed().as_secs_f64());
        }
        if frame >= 3 {
            for (times, time) in times.iter_mut().zip(all) {
                times.push(time);
            }
        }
    }
    let [step, frames @ ..] = times.map(|times| {
        let shortest = times.into_iter().fold(f64::MAX, f64::min);
        shortest * 1e9 / count as f64
    });
    (step, frames.map(|frame| frame - step))
}

fn main() {
    // `cargo test` and `cargo bench` pass other arguments.
    for (name, scene) in [
        (
            "spinning",
            scenes::spinners as fn(&mut Simulation, usize) -> _,
        ),
        ("pile", scenes::pile),
    ] {
        let (step, above) = measure_habits(scene, 10_000);
        for ((habit, _), above) in HABITS.iter().zip(above) {
            println!(
                "{name} 10000, in each step {habit}: {above:.1} ns per body beyond the step of {step:.0}; {:.1} % of the frame",
                100.0 * above / (step + above),
            );
        }
        for count in [1_000, 10_000, 100_000] {
            let [ours, floor, step] = measure(scene, count);
            println!(
                "{name} {count}: {ours:.1} ns per body beyond the step of {step:.0}; a plain pass takes {floor:.1}, \
                 ratio {:.2}; {:.1} % of the frame",
                ours / floor,
                100.0 * ours / (ours + step),
            );
        }
    }
}
