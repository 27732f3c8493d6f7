//! What `advance` adds to Rapier's bare step, beside the least that it could: a pass that reads the pose of every
//! body that is awake, and does nothing with it.
//!
//! All three are made in turn within one measurement. Times are medians, in nanoseconds a body. With the feature
//! `parallel` the share of a frame that is not Rapier's is that on as many threads as `RAYON_NUM_THREADS` says.
#![allow(missing_docs, reason = "a program")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

#[path = "../tests/scenes/mod.rs"]
mod scenes;

use std::hint::black_box;
use std::time::{Duration, Instant};

use evenstep::{BodyKey, Rate, Simulation};

/// A little more than a step of 1/60 s: every such frame has one.
const STEP: Duration = Duration::from_nanos(16_666_667);

fn build(scene: fn(&mut Simulation, usize) -> Vec<BodyKey>, count: usize) -> Simulation {
    let mut simulation = scenes::with_floor(Rate::hz(60).expect("60 is a rate"));
    let keys = scene(&mut simulation, count);
    scenes::keep_awake(&mut simulation, &keys);
    simulation
}

/// The medians of what is ours, of the plain pass and of Rapier's step.
fn measure(scene: fn(&mut Simulation, usize) -> Vec<BodyKey>, count: usize) -> [f64; 3] {
    let mut simulation = build(scene, count);
    let mut bare = std::mem::take(build(scene, count).physics_mut());
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

fn main() {
    // `cargo test` and `cargo bench` pass arguments of their own.
    for (name, scene) in [
        (
            "spinning",
            scenes::spinners as fn(&mut Simulation, usize) -> _,
        ),
        ("pile", scenes::pile),
    ] {
        for count in [1_000, 10_000, 100_000] {
            let [ours, floor, step] = measure(scene, count);
            println!(
                "{name} {count}: {ours:.1} ns a body above the step of {step:.0}; a plain pass takes {floor:.1}, \
                 {:.2} of that; {:.1} % of the frame",
                ours / floor,
                100.0 * ours / (ours + step),
            );
        }
    }
}
