//! Measures the cost of a frame on top of Rapier's step, and the cost of its poses.
//!
//! The two sides of each pair run in turn within one measurement, so disturbances of the machine affect both. In
//! addition to criterion's report, each pair prints the median of its ratios.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Duration;

use compare::compare;
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::rapier::prelude::*;
use evenstep::render::{interpolate_all, write_matrices_4x4};
use evenstep::{BodyKey, Physics, Rate, Simulation, Smoothing};
use scenes::NO_STEP;
use scenes::testing::{spin, vector};

// The matrices that are smaller than 4x4.
#[cfg(dim2)]
use evenstep::render::write_matrices_3x3 as write_small_matrices;
#[cfg(not(dim2))]
use evenstep::render::write_matrices_3x4 as write_small_matrices;

/// Slightly more than a step of 1/60 s, so every such frame has one step.
const STEP: Duration = Duration::from_nanos(16_666_667);

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
    let mut simulation = scenes::with_floor(Rate::hz(60));
    let keys = scene.1(&mut simulation, count);
    if scene.2 {
        scenes::keep_awake(&mut simulation, &keys);
    }
    (simulation, keys)
}

/// Creates turning bodies between two states, for frames of [`NO_STEP`].
fn between_states(count: usize) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = scenes::space(1);
    let keys = scenes::spinners(&mut simulation, count);
    scenes::keep_awake(&mut simulation, &keys);
    scenes::to_between_states(&mut simulation);
    simulation.advance(NO_STEP, |_, _| ());
    assert!(simulation.moved().len() > count / 10 * 9);
    (simulation, keys)
}

/// Returns the last two states of all bodies.
fn states(simulation: &Simulation, keys: &[BodyKey]) -> (Vec<Pose>, Vec<Pose>) {
    let pair = |key: &BodyKey| {
        previous_pose(simulation, *key).zip(current_pose(&simulation.physics, *key))
    };
    keys.iter().map(|key| pair(key).expect("alive")).unzip()
}

/// Compares `advance` with as many bare steps of Rapier in the same world.
fn advance(c: &mut Criterion) {
    for scene in &SCENES {
        for count in [1_000, 10_000] {
            steps(c, scene, count, 1);
        }
    }
    // A frame has one pair of poses per body, whatever its number of steps.
    steps(c, &SCENES[1], 1_000, 10);
}

fn steps(c: &mut Criterion, scene: &Scene, count: usize, steps: u32) {
    let (mut simulation, _) = build(scene, count);
    let mut bare = std::mem::take(build(scene, count).0.physics.rapier_mut());
    bare.integration_parameters.dt = simulation.clock().settings().rate().dt();
    compare(
        c,
        &format!("frame with {steps} step(s), {} {count}", scene.0),
        ("advance", || {
            let frame = simulation.advance(STEP * steps, |_, _| ());
            assert!(frame.steps >= steps.into());
        }),
        ("bare steps", || (0..steps).for_each(|_| bare.step())),
    );
}

/// Compares the arithmetic alone, for all pairs of states in one call, with Rapier's interpolation in a loop and with a
/// copy of the same bytes.
fn batch(c: &mut Criterion) {
    for count in [1_000, 10_000, 100_000] {
        let (simulation, keys) = between_states(count);
        let (previous, current) = states(&simulation, &keys);
        let out = RefCell::new(vec![Pose::IDENTITY; count]);
        let mut batch = || {
            let out = &mut *out.borrow_mut();
            interpolate_all(&previous, &current, black_box(0.3), out);
            black_box(out);
        };
        compare(
            c,
            &format!("batch of {count}"),
            ("interpolate_all", &mut batch),
            ("Pose::lerp", || {
                let out = &mut *out.borrow_mut();
                lerp(&previous, &current, out);
                black_box(out);
            }),
        );
        // Two poses are read and one is written, as many bytes as 1.5 copies move.
        let mut copies = [vec![Pose::IDENTITY; count], vec![Pose::IDENTITY; count / 2]];
        compare(
            c,
            &format!("batch of {count}, beside a copy"),
            ("interpolate_all beside a copy", &mut batch),
            ("copy", || {
                copies[0].copy_from_slice(black_box(&previous));
                copies[1].copy_from_slice(black_box(&current[..count / 2]));
                black_box(&mut copies);
            }),
        );
    }
}

fn lerp(previous: &[Pose], current: &[Pose], out: &mut [Pose]) {
    let alpha = black_box(0.3);
    for ((previous, current), out) in previous.iter().zip(current).zip(out) {
        *out = previous.lerp(current, alpha);
    }
}

/// Compares a frame without a step (the poses of all bodies and the list of moved bodies) with Rapier's interpolation
/// in a loop, and reads all poses by key.
fn poses(c: &mut Criterion) {
    for count in [1_000, 10_000, 100_000] {
        let (simulation, keys) = between_states(count);
        let (previous, current) = states(&simulation, &keys);
        let mut out = vec![Pose::IDENTITY; count];
        let mut lerp = || {
            lerp(&previous, &current, &mut out);
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
            ("Pose::lerp", &mut lerp),
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
            ("Pose::lerp", &mut lerp),
        );
    }
}

/// Compares writing the poses of a frame as matrices with interpolating them.
fn matrices(c: &mut Criterion) {
    for count in [1_000, 10_000] {
        let (simulation, keys) = between_states(count);
        let (previous, current) = states(&simulation, &keys);
        let moved: Vec<_> = keys.iter().copied().zip(current.iter().copied()).collect();
        let mut out = vec![Pose::IDENTITY; count];
        let mut interpolate = || {
            interpolate_all(&previous, &current, black_box(0.3), &mut out);
            black_box(&mut out);
        };
        let mut rows = vec![Default::default(); count];
        compare(
            c,
            &format!("{count} matrices"),
            ("the smaller matrices", || {
                write_small_matrices(black_box(&moved), &mut rows);
                black_box(&mut rows);
            }),
            ("interpolate_all", &mut interpolate),
        );
        let mut columns = vec![[[0.0; 4]; 4]; count];
        compare(
            c,
            &format!("{count} matrices"),
            ("write_matrices_4x4", || {
                write_matrices_4x4(black_box(&moved), &mut columns);
                black_box(&mut columns);
            }),
            (
                "interpolate_all beside write_matrices_4x4",
                &mut interpolate,
            ),
        );
    }
}

/// Compares the cost of each smoothing in a frame without a step with plain interpolation, and measures bodies whose
/// centre of mass is not their origin.
fn smoothing(c: &mut Criterion) {
    const COUNT: usize = 10_000;
    let all_with = |smoothing, center: Vector| {
        let (mut simulation, keys) = between_states(COUNT);
        simulation.smoothing = smoothing;
        for key in &keys {
            let body = simulation.physics.body_mut(*key).expect("alive");
            let mass = MassProperties::new(center, 1.0, spin(1.0, 1.0, 1.0));
            body.set_additional_mass_properties(mass, true);
        }
        // The visual errors decay that the change of smoothing has caused.
        for _ in 0..40 {
            simulation.advance(Duration::from_millis(105), |_, _| ());
        }
        simulation
    };
    for (name, smoothing, center) in [
        ("Interpolate off centre", Smoothing::Interpolate, Vector::X),
        ("Hermite", Smoothing::Hermite, Vector::ZERO),
        ("Extrapolate", Smoothing::Extrapolate, Vector::ZERO),
        ("Latest", Smoothing::Latest, Vector::ZERO),
    ] {
        let mut special = all_with(smoothing, center);
        let mut plain = all_with(Smoothing::Interpolate, Vector::ZERO);
        compare(
            c,
            &format!("frame without a step, {COUNT} of one smoothing"),
            (name, || {
                special.advance(NO_STEP, |_, _| ());
            }),
            (&format!("Interpolate beside {name}"), || {
                plain.advance(NO_STEP, |_, _| ());
            }),
        );
    }
}

/// Compares a thousand spinning bodies alone with the same among a hundred thousand sleeping ones.
fn movement(c: &mut Criterion) {
    let build = |sleepers| {
        let (mut simulation, _) = between_states(1_000);
        scenes::sleepers(&mut simulation, sleepers);
        simulation.advance(Duration::from_secs(1), |_, _| ());
        assert_eq!(simulation.advance(NO_STEP, |_, _| ()).movers, 1_000);
        simulation
    };
    let (mut among, mut alone) = (build(100_000), build(0));
    compare(
        c,
        "frame without a step, 1000 awake",
        ("among 100000 asleep", || {
            among.advance(NO_STEP, |_, _| ());
        }),
        ("alone", || {
            alone.advance(NO_STEP, |_, _| ());
        }),
    );
    let step = Duration::from_secs(1);
    compare(
        c,
        "frame with a step, 1000 awake",
        ("among 100000 asleep, with a step", || {
            among.advance(step, |_, _| ());
        }),
        ("alone, with a step", || {
            alone.advance(step, |_, _| ());
        }),
    );
}

/// Bodies that are inserted and removed. Each frame inserts some, and removes as many of the oldest.
struct Churn<K> {
    alive: VecDeque<K>,
    spawned: u16,
}

impl<K> Churn<K> {
    /// Inserts bodies, and returns those to remove.
    fn turn(&mut self, count: u16, mut insert: impl FnMut(Vector) -> K) -> Vec<K> {
        for _ in 0..count {
            self.spawned = self.spawned.wrapping_add(1);
            let at = [
                self.spawned % 97,
                self.spawned / 97 % 89,
                self.spawned / 97 / 89,
            ];
            let [x, y, z] = at.map(|n| 2.0 * f32::from(n));
            let at = vector(x, y, z);
            self.alive.push_back(insert(at));
        }
        let surplus = self.alive.len().saturating_sub(2 * usize::from(count));
        self.alive.drain(..surplus).collect()
    }
}

/// Compares inserting and removing a thousand bodies in each frame with Rapier doing the same, and with twice as many.
fn churn(c: &mut Criterion) {
    let body = |at| {
        RigidBodyBuilder::dynamic()
            .translation(at)
            .angvel(spin(1.0, 1.0, 1.0))
    };
    let ball = || ColliderBuilder::ball(0.4);
    let ours = |count| {
        let mut simulation = scenes::space(60);
        let mut churn = Churn {
            alive: VecDeque::new(),
            spawned: 0,
        };
        move || {
            for key in churn.turn(count, |at| simulation.physics.insert(body(at), ball())) {
                simulation.physics.remove(key).expect("alive");
            }
            simulation.advance(STEP, |_, _| ());
        }
    };
    let mut bare = std::mem::take(scenes::space(60).physics.rapier_mut());
    let mut rapiers = Churn {
        alive: VecDeque::new(),
        spawned: 0,
    };
    compare(
        c,
        "1000 inserted and removed in each frame",
        ("insert, remove, advance", ours(1_000)),
        ("bare", || {
            for handle in rapiers.turn(1_000, |at| bare.insert(body(at), ball()).0) {
                bare.remove_body(handle);
            }
            bare.step();
        }),
    );
    compare(
        c,
        "2000 inserted and removed in each frame",
        ("2000", ours(2_000)),
        ("1000", ours(1_000)),
    );
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = advance, batch, poses, matrices, smoothing, movement, churn
}
criterion_main!(benches);

/// Returns the pose right after the last step.
fn current_pose(physics: &Physics, key: BodyKey) -> Option<Pose> {
    Some(*physics.body(key)?.position())
}

/// Returns the pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}
