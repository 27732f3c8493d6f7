//! What a frame costs on top of Rapier's own step, and what its poses cost.
//!
//! Each pair is measured side by side: both members run in turn within one measurement, so what
//! disturbs the machine disturbs both. Beside criterion's report each pair prints the median of its
//! ratios.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;
#[path = "../tests/scenes/mod.rs"]
mod scenes;

use std::cell::RefCell;
use std::hint::black_box;
use std::time::Duration;

use compare::compare;
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::rapier3d::prelude::*;
use evenstep::{BodyKey, Rate, Simulation};

/// A little more than a step of 1/60 s: every such frame has one.
const STEP: Duration = Duration::from_nanos(16_666_667);

/// A frame without a step, in which everything moves a little on the screen.
const NO_STEP: Duration = Duration::from_nanos(1);

/// A scene, and whether its bodies are kept awake.
type Scene = (
    &'static str,
    fn(&mut Simulation, usize) -> Vec<BodyKey>,
    bool,
);

const SCENES: [Scene; 3] = [
    ("pile", scenes::pile, true),
    ("spinning", scenes::spinners, true),
    ("asleep", scenes::sleepers, false),
];

fn build(scene: &Scene, count: usize) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = scenes::with_floor(Rate::hz(60).expect("60 is a rate"));
    let keys = scene.1(&mut simulation, count);
    for key in keys.iter().filter(|_| scene.2) {
        // A pile that fell asleep half way through the measurement would be two scenes in one.
        let body = simulation.get_mut(*key).expect("just inserted");
        *body.activation_mut() = RigidBodyActivation::cannot_sleep();
    }
    (simulation, keys)
}

/// `advance` by one step against Rapier's own step on the same world.
fn advance(c: &mut Criterion) {
    for scene in &SCENES {
        for count in [1_000, 10_000] {
            let (mut simulation, _) = build(scene, count);
            let mut bare = std::mem::take(build(scene, count).0.world_mut());
            bare.integration_parameters.dt = simulation.clock().rate().dt();
            let mut steps = 0;
            compare(
                c,
                &format!("frame with a step, {} {count}", scene.0),
                ("advance", || {
                    steps += simulation.advance(STEP, |_, _| ()).steps;
                }),
                ("bare step", || bare.step()),
            );
        }
    }
}

/// A frame without a step, that is the poses of all bodies and the list of those that moved, against
/// Rapier's own interpolation in a loop.
fn poses(c: &mut Criterion) {
    for count in [1_000, 10_000] {
        let (mut simulation, keys) = build(&SCENES[1], count);
        simulation.advance(STEP * 2, |_, _| ());
        let pair = |key: &BodyKey| (simulation.previous(*key), simulation.current(*key));
        let pairs: Vec<(Pose, Pose)> = keys
            .iter()
            .map(pair)
            .map(|(previous, current)| previous.zip(current).expect("just inserted"))
            .collect();
        let mut out = vec![Pose::IDENTITY; count];
        let mut lerp = || {
            for ((previous, current), out) in pairs.iter().zip(&mut out) {
                *out = previous.lerp(current, black_box(0.3));
            }
            black_box(&mut out);
        };
        let simulation = RefCell::new(simulation);
        compare(
            c,
            &format!("frame without a step, spinning {count}"),
            ("advance", || {
                simulation.borrow_mut().advance(NO_STEP, |_, _| ());
                black_box(simulation.borrow().moved());
            }),
            ("Pose3::lerp", &mut lerp),
        );
        compare(
            c,
            &format!("poses one by one, spinning {count}"),
            ("pose", || {
                let simulation = simulation.borrow();
                for key in &keys {
                    black_box(simulation.pose(*key));
                }
            }),
            ("Pose3::lerp", &mut lerp),
        );
    }
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = advance, poses
}
criterion_main!(benches);
