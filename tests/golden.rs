//! The bits of many scenes, as they are on every platform: states, shown poses and saved bytes, against `golden.csv`.
//!
//! After a change that is meant to change bits (another version of Rapier), write the file anew and say so in the
//! changelog: `GOLDEN=write cargo test --all-features --test golden`.
//!
//! The float functions are those of `portable_math`: without it, scenes with inertia that takes an eigenvalue differ.
#![cfg(all(feature = "enhanced-determinism", feature = "serde"))]

mod scenes;

use std::hash::Hasher;
use std::path::Path;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, ForceGenerator, Rate, Simulation, Smoothing, Step};
use scenes::everything::Everything;
use scenes::{MS, ball, pile, sleepers, space, with_floor};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

evenstep::portable_math!();

const FRAMES: u64 = 300;

/// What a scene gives: hashes as hexadecimal numbers.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Golden {
    scene: String,
    /// Of the checksums after every frame.
    states: String,
    /// Of all poses that moved, in every frame, with their keys.
    shown: String,
    /// Of the state at the end, as bytes.
    saved: String,
}

struct Hashes {
    states: XxHash3_64,
    shown: XxHash3_64,
}

impl Hashes {
    fn new() -> Self {
        let [states, shown] = [0, 1].map(XxHash3_64::with_seed);
        Self { states, shown }
    }

    fn add(&mut self, simulation: &Simulation) {
        self.states.write(&simulation.checksum().to_le_bytes());
        for (key, pose) in simulation.moved() {
            let key = format!("{key:?}");
            self.shown.write(key.as_bytes());
            let (at, turned) = (pose.translation.to_array(), pose.rotation.to_array());
            for number in at.into_iter().chain(turned) {
                self.shown.write(&number.to_bits().to_le_bytes());
            }
        }
    }

    fn end(self, scene: &str, simulation: &Simulation) -> Golden {
        let bytes = simulation.save().expect("it can be saved");
        let hex = |number: u64| format!("{number:016x}");
        Golden {
            scene: scene.into(),
            states: hex(self.states.finish()),
            shown: hex(self.shown.finish()),
            saved: hex(XxHash3_64::oneshot(&bytes)),
        }
    }
}

/// Frames of uneven length, none of them twice in a row.
fn frame_time(number: u64) -> Duration {
    Duration::from_micros(3_000 + number * 7_919 % 31_000)
}

type Script = fn(&mut Simulation, &[BodyKey], Step);

/// Plays a scene, in which each step begins with the script.
fn play(name: &str, (mut simulation, keys): (Simulation, Vec<BodyKey>), script: Script) -> Golden {
    let mut hashes = Hashes::new();
    for number in 0..FRAMES {
        simulation.advance(frame_time(number), |simulation, step| {
            script(simulation, &keys, step);
        });
        hashes.add(&simulation);
    }
    hashes.end(name, &simulation)
}

fn dynamic(x: f32, y: f32, z: f32) -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic().translation(Vector::new(x, y, z))
}

fn floor() -> Simulation {
    with_floor(Rate::hz(60).unwrap())
}

/// A heap of all shapes whose inertia has a closed form.
fn shapes() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let keys = (0..40u8).map(|i| {
        let shape = match i % 5 {
            0 => ColliderBuilder::ball(0.4),
            1 => ColliderBuilder::cuboid(0.5, 0.3, 0.2),
            2 => ColliderBuilder::capsule_y(0.3, 0.2),
            3 => ColliderBuilder::cylinder(0.3, 0.3),
            _ => ColliderBuilder::cone(0.4, 0.3),
        };
        let at = [i % 3, i, i % 4].map(f32::from);
        let body = dynamic(0.3 * at[0], 1.0 + 0.8 * at[1], 0.2 * at[2]);
        simulation.insert(body.rotation(Vector::new(at[0], 0.3, at[2])), shape)
    });
    let keys = keys.collect();
    (simulation, keys)
}

/// A heap of shapes whose principal axes take the eigenvalues of a matrix, and of bodies with several colliders, on
/// meshes.
fn compounds() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = Simulation::default();
    let heights = Array2::new(
        8,
        8,
        (0..64u8).map(|i| f32::from(i * 3 % 5) * 0.1).collect(),
    );
    let ground = ColliderBuilder::heightfield(heights, Vector::new(12.0, 1.0, 12.0));
    simulation.insert(RigidBodyBuilder::fixed(), ground);
    let points = [
        Vector::new(0.3, 0.0, 0.1),
        Vector::new(-0.4, 0.1, 0.0),
        Vector::new(0.0, 0.5, 0.2),
        Vector::new(0.1, -0.3, 0.3),
        Vector::new(0.2, 0.1, -0.6),
    ];
    let keys = (0..48u8).map(|i| {
        let long = 0.1 + 0.01 * f32::from(i);
        let arm = Pose::new(Vector::new(0.3, 0.1, -0.2), Vector::new(0.5, long, 0.9));
        let shape = match i % 6 {
            0 => {
                let parts = vec![
                    (Pose::IDENTITY, SharedShape::cuboid(0.3, long, 0.2)),
                    (arm, SharedShape::capsule_y(0.3, 0.1)),
                ];
                ColliderBuilder::compound(parts)
            }
            1 => ColliderBuilder::convex_hull(&points.map(|point| point * (0.8 + long))).unwrap(),
            2 => ColliderBuilder::round_convex_hull(&points, 0.1 * long).unwrap(),
            3 => {
                let faces = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
                let corners = points[..4].iter().map(|point| *point * (1.0 + long));
                ColliderBuilder::trimesh(corners.collect(), faces).unwrap()
            }
            4 => {
                let filled = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]].map(IVector::from_array);
                ColliderBuilder::voxels(Vector::splat(0.1 + 0.3 * long), &filled)
            }
            _ => ColliderBuilder::cuboid(0.3, long, 0.1),
        };
        let at = [i % 3, i, i % 4].map(f32::from);
        let body = dynamic(0.6 * at[0], 1.5 + 0.5 * at[1], 0.5 * at[2]).ccd_enabled(i % 7 == 0);
        let key = simulation.insert(body.angvel(Vector::new(at[0], 2.0, at[2])), shape);
        if i % 6 == 5 {
            let second = ColliderBuilder::capsule_z(0.2, 0.1).position(arm);
            simulation.insert_collider(key, second).unwrap();
        }
        key
    });
    let keys = keys.collect();
    (simulation, keys)
}

fn join(
    simulation: &mut Simulation,
    ends: [RigidBodyHandle; 2],
    joint: impl Into<GenericJoint>,
    is_multibody: bool,
) {
    let physics = simulation.physics_mut_except_bodies();
    if is_multibody {
        let joint = physics.insert_multibody_joint(ends[0], ends[1], joint);
        joint.expect("no loop");
    } else {
        physics.insert_impulse_joint(ends[0], ends[1], joint);
    }
}

/// Chains whose joints have limits and motors of angles.
fn limits(is_multibody: bool) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let mut keys = Vec::new();
    for x in [0.0, 3.0, 6.0] {
        let hook = RigidBodyBuilder::fixed().translation(Vector::new(x, 4.0, 0.0));
        let mut above = simulation.insert_body(hook);
        for i in 0..5u8 {
            let body = dynamic(x, 3.7 - 0.6 * f32::from(i), 0.0).linvel(Vector::new(3.0, 0.0, x));
            let next = simulation.insert(body, ColliderBuilder::cuboid(0.1, 0.25, 0.15));
            let ends = [above, next].map(|key| simulation.handle(key).unwrap());
            let joint = SphericalJointBuilder::new()
                .local_anchor1(Vector::Y * -0.3)
                .local_anchor2(Vector::Y * 0.3)
                .limits(JointAxis::AngX, [-0.4, 0.1 + 0.1 * x])
                .limits(JointAxis::AngZ, [-0.2, 0.7])
                .motor_position(JointAxis::AngY, 0.8, 20.0, 1.0);
            join(&mut simulation, ends, joint, is_multibody);
            keys.push(next);
            above = next;
        }
    }
    (simulation, keys)
}

/// Soft bodies, and what falls on them.
fn soft_bodies() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let cloth = SoftBodyBuilder::cloth(
        Vector::new(-2.0, 3.0, -2.0),
        Vector::X * 0.4,
        Vector::Z * 0.4,
        11,
        11,
    );
    let cushion = SoftBodyBuilder::cuboid(Vector::new(6.0, 0.6, 0.0), Vector::splat(0.5), 4, 4, 4);
    for soft_body in [cloth, cushion] {
        simulation.physics_mut().insert_soft_body(soft_body);
    }
    let balls = [0.0, 0.9, 6.0, 6.4].map(|x| simulation.insert(dynamic(x, 5.0, 0.1 * x), ball()));
    (simulation, balls.to_vec())
}

/// A chain that hangs on a fixed body, by joints of either kind.
fn chain(is_multibody: bool) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let hook = RigidBodyBuilder::fixed().translation(Vector::Y * 8.0);
    let mut keys = vec![simulation.insert_body(hook)];
    for i in 1..8u8 {
        let next = simulation.insert(dynamic(f32::from(i), 8.0, 0.0), ball());
        let ends = [keys[keys.len() - 1], next].map(|key| simulation.handle(key).unwrap());
        let joint = SphericalJointBuilder::new()
            .local_anchor1(Vector::X * 0.5)
            .local_anchor2(Vector::X * -0.5);
        join(&mut simulation, ends, joint, is_multibody);
        keys.push(next);
    }
    (simulation, keys)
}

/// A door on a motor, and what it pushes.
fn motor() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let post = simulation.insert_body(RigidBodyBuilder::fixed().translation(Vector::Y));
    let door = simulation.insert(
        dynamic(1.0, 1.0, 0.0),
        ColliderBuilder::cuboid(0.9, 0.8, 0.1),
    );
    let ends = [post, door].map(|key| simulation.handle(key).unwrap());
    let hinge = RevoluteJointBuilder::new(Vector::Y)
        .local_anchor2(Vector::X * -1.0)
        .motor_velocity(2.0, 0.5);
    let physics = simulation.physics_mut_except_bodies();
    physics.insert_impulse_joint(ends[0], ends[1], hinge);
    let keys = pile(&mut simulation, 20);
    (simulation, keys)
}

fn bullets() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    simulation.insert(
        RigidBodyBuilder::fixed().translation(Vector::Y * 2.0),
        ColliderBuilder::cuboid(0.02, 4.0, 4.0),
    );
    let bullet = dynamic(-20.0, 2.0, 0.0).ccd_enabled(true);
    let keys = vec![simulation.insert(bullet, ball())];
    (simulation, keys)
}

fn generators() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let all = [
        ForceGenerator::Wind {
            velocity: Vector::new(3.0, 0.0, -1.0),
            drag: 0.4,
        },
        ForceGenerator::Thrust {
            force: Vector::Y * 12.0,
            point: Vector::new(0.1, -0.2, 0.0),
        },
        ForceGenerator::Spring {
            anchor: Vector::new(2.0, 5.0, 1.0),
            point: Vector::X * 0.2,
            rest_length: 1.5,
            stiffness: 30.0,
            damping: 0.8,
        },
        ForceGenerator::Drag {
            linear: 0.3,
            angular: 0.2,
        },
    ];
    let mut keys = Vec::new();
    for (x, generator) in [0.0, 2.0, 4.0, 6.0].into_iter().zip(all) {
        let body = dynamic(x, 3.0, 0.0).angvel(Vector::new(1.0, 5.0, 0.3));
        let key = simulation.insert(body, ColliderBuilder::cuboid(0.4, 0.2, 0.3));
        simulation.insert_force_generator(key, generator).unwrap();
        keys.push(key);
    }
    (simulation, keys)
}

fn lifts() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let mut keys = Vec::new();
    for (x, smoothing) in [(0.0, Smoothing::Interpolate), (5.0, Smoothing::Hermite)] {
        let lift =
            RigidBodyBuilder::kinematic_position_based().translation(Vector::new(x, 1.0, 0.0));
        let key = simulation.insert(lift, ColliderBuilder::cuboid(1.0, 0.1, 1.0));
        simulation.set_body_smoothing(key, Some(smoothing)).unwrap();
        simulation.insert(dynamic(x, 2.0, 0.0), ColliderBuilder::cuboid(0.3, 0.3, 0.3));
        keys.push(key);
    }
    (simulation, keys)
}

fn flyers() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = space(100);
    let all = [
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
        Smoothing::Latest,
    ];
    let mut keys = Vec::new();
    for (y, smoothing) in [0.0, 3.0, 6.0, 9.0].into_iter().zip(all) {
        let body = dynamic(0.0, y, 0.0)
            .linvel(Vector::X)
            .angvel(Vector::new(0.3, 9.0, 2.0));
        let collider = ColliderBuilder::cuboid(0.5, 0.2, 0.1).translation(Vector::X * 0.3);
        let key = simulation.insert(body, collider);
        simulation.set_body_smoothing(key, Some(smoothing)).unwrap();
        keys.push(key);
    }
    (simulation, keys)
}

fn sleeping() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let keys = sleepers(&mut simulation, 30);
    (simulation, keys)
}

fn piled() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let keys = pile(&mut simulation, 25);
    (simulation, keys)
}

fn nothing(_: &mut Simulation, _: &[BodyKey], _: Step) {}

/// Goes back every 20 ticks, and pushes another body then: what is shown moves to it smoothly.
fn rollbacks() -> Golden {
    let (mut simulation, keys) = piled();
    simulation.set_rewind_limits(20, usize::MAX);
    let push = |simulation: &mut Simulation, step: Step, late: bool| {
        if step.tick % 20 == 9 {
            let key = keys[(step.tick as usize + usize::from(late)) % keys.len()];
            simulation
                .apply_impulse(key, Vector::new(0.4, 3.0, 0.1))
                .unwrap();
        }
    };
    let mut hashes = Hashes::new();
    let mut last = 0;
    for number in 0..FRAMES {
        if simulation.tick() / 20 > last {
            last = simulation.tick() / 20;
            let to = simulation.tick() - 14;
            let again = |simulation: &mut Simulation, step| push(simulation, step, true);
            simulation.resimulate(to, again).unwrap();
        }
        simulation.advance(frame_time(number), |simulation, step| {
            push(simulation, step, false)
        });
        hashes.add(&simulation);
    }
    hashes.end("rollbacks", &simulation)
}

fn everything() -> Golden {
    let mut scene = Everything::new();
    let mut hashes = Hashes::new();
    for number in 0..FRAMES {
        scene.frame(number);
        hashes.add(&scene.simulation);
    }
    hashes.end("everything", &scene.simulation)
}

fn all() -> Vec<Golden> {
    vec![
        play("shapes", shapes(), nothing),
        play("compounds", compounds(), nothing),
        play("limits", limits(false), nothing),
        play("limits of a multibody", limits(true), nothing),
        play("soft bodies", soft_bodies(), nothing),
        play("not a number", piled(), |simulation, keys, step| {
            let key = keys[step.tick as usize / 9 % keys.len()];
            let nan = Vector::X
                * if step.tick % 2 == 0 {
                    f32::NAN
                } else {
                    -f32::NAN
                };
            if step.tick % 9 == 0
                && let Some(body) = simulation.body_mut(key)
            {
                match step.tick / 9 % 5 {
                    0 => body.set_linvel(nan, true),
                    1 => body.set_angvel(nan, true),
                    2 => body.add_force(nan, true),
                    3 => body.apply_torque_impulse(nan, true),
                    _ => body.set_translation(nan, true),
                }
            }
        }),
        play("joints", chain(false), nothing),
        play("multibody", chain(true), nothing),
        play("motor", motor(), nothing),
        play("bullets", bullets(), |simulation, keys, step| {
            if step.tick.is_multiple_of(40) {
                let start = Pose::translation(-20.0, 2.0, 0.0);
                simulation.teleport(keys[0], start).unwrap();
                let speed = Vector::new(300.0, 0.0, step.tick as f32 / 100.0);
                simulation
                    .body_mut(keys[0])
                    .unwrap()
                    .set_linvel(speed, true);
            }
        }),
        play("generators", generators(), nothing),
        play("lifts", lifts(), |simulation, keys, step| {
            if step.tick.is_multiple_of(60) {
                let height = 1.0 + (step.tick / 60 % 3) as f32;
                for (key, x) in keys.iter().zip([0.0, 5.0]) {
                    let there = Pose::translation(x, height, 0.0);
                    let time = step.time + MS(700);
                    simulation.set_kinematic_target(*key, there, time).unwrap();
                }
            }
        }),
        play("flyers", flyers(), |simulation, keys, step| {
            // A portal, which turns by a quarter.
            if step.tick % 50 == 49 {
                let half = std::f32::consts::FRAC_1_SQRT_2;
                let turn = Rotation::from_xyzw(0.0, half, 0.0, half);
                let by = Pose::from_parts(Vector::new(1.0, 0.0, 2.0), turn);
                simulation
                    .teleport_by(keys[step.tick as usize % 4], by)
                    .unwrap();
            }
        }),
        play("sleepers", sleeping(), |simulation, keys, step| {
            if step.tick % 70 == 10 {
                let key = keys[step.tick as usize % keys.len()];
                simulation
                    .apply_impulse(key, Vector::new(0.8, 2.0, 0.3))
                    .unwrap();
            }
        }),
        play("origin", piled(), |simulation, _, step| {
            if step.tick % 30 == 20 {
                let side = if step.tick % 60 < 30 { 512.0 } else { -512.0 };
                simulation.shift_origin(Vector::X * side).unwrap();
            }
        }),
        play("rates", piled(), |simulation, _, step| {
            let settings = simulation.clock_settings_mut();
            match step.tick % 80 {
                20 => settings.set_speed(0.3).unwrap(),
                30 => settings.set_speed(1.7).unwrap(),
                50 => settings.set_rate(Rate::hz(144).unwrap()),
                70 => settings.set_rate(Rate::fraction(60_000, 1_001).unwrap()),
                _ => (),
            }
        }),
        rollbacks(),
        everything(),
    ]
}

/// Compares all with the file.
///
/// # Panics
/// If anything differs.
pub fn compare() {
    let found = all();
    if std::env::var("GOLDEN").is_ok_and(|value| value == "write") {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden.csv");
        let mut file = csv::Writer::from_path(&path).unwrap();
        for golden in &found {
            file.serialize(golden).unwrap();
        }
        file.flush().unwrap();
        return;
    }
    let expected: Result<Vec<Golden>, _> =
        csv::Reader::from_reader(&include_bytes!("golden.csv")[..])
            .deserialize()
            .collect();
    assert_eq!(found, expected.unwrap());
    // Of all machines that agree in the above.
    let fingerprint = evenstep::fingerprint();
    assert_eq!(fingerprint, 0x9749_211f_ce05_1a09);
    let bytes = piled().0.save().expect("it can be saved");
    assert_eq!(evenstep::fingerprint_of(&bytes), Ok(fingerprint));
}

#[test]
fn the_bits_are_those_of_every_platform() {
    compare();
}
