//! The bits of many scenes, as they are on every platform: states, shown poses and saved bytes, against `3d.csv` or `2d.csv`.
//!
//! After a change that is meant to change bits (another version of Rapier), write the file anew and say so in the
//! changelog: `GOLDEN=write cargo test --workspace --all-features --test golden`.
//!
//! The float functions are those of `portable_math`: without it, scenes with inertia that takes an eigenvalue differ.
#![cfg(all(feature = "enhanced-determinism", feature = "serde"))]

// What differs between two dimensions and three.
#[cfg_attr(dim2, path = "dim2.rs")]
#[cfg_attr(not(dim2), path = "dim3.rs")]
mod dim;
#[path = "../scenes/mod.rs"]
mod scenes;

use std::hash::Hasher;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, ForceGenerator, Physics, Rate, Simulation, Smoothing, Step};
use scenes::everything::Everything;
use scenes::testing::{
    ball_joint, cloth, cuboid, rotation_numbers, soft_cube, spin, translation, vector,
};
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

impl Golden {
    fn columns(&self) -> [(&'static str, &str); 3] {
        [
            ("states", &self.states),
            ("shown", &self.shown),
            ("saved", &self.saved),
        ]
    }
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
        self.states
            .write(&simulation.physics.checksum().to_le_bytes());
        for (key, pose) in simulation.moved() {
            let key = format!("{key:?}");
            self.shown.write(key.as_bytes());
            let (at, turned) = (pose.translation.to_array(), rotation_numbers(pose.rotation));
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

type Script = fn(&mut Physics, &[BodyKey], Step);

/// Plays a scene, in which each step begins with the script.
fn play(name: &str, (mut simulation, keys): (Simulation, Vec<BodyKey>), script: Script) -> Golden {
    let mut hashes = Hashes::new();
    for number in 0..FRAMES {
        simulation.advance(frame_time(number), |physics, step| {
            script(physics, &keys, step);
        });
        hashes.add(&simulation);
    }
    hashes.end(name, &simulation)
}

fn dynamic(x: f32, y: f32, z: f32) -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic().translation(vector(x, y, z))
}

fn floor() -> Simulation {
    with_floor(Rate::hz(60).unwrap())
}

fn join(
    simulation: &mut Simulation,
    ends: [RigidBodyHandle; 2],
    joint: impl Into<GenericJoint>,
    is_multibody: bool,
) {
    let physics = simulation.physics.rapier_mut_except_bodies();
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
        let hook = RigidBodyBuilder::fixed().translation(vector(x, 4.0, 0.0));
        let mut above = simulation.physics.insert_body(hook);
        for i in 0..5u8 {
            let body = dynamic(x, 3.7 - 0.6 * f32::from(i), 0.0).linvel(vector(3.0, 0.0, x));
            let next = simulation.physics.insert(body, cuboid(0.1, 0.25, 0.15));
            let ends = [above, next].map(|key| simulation.physics.handle(key).unwrap());
            let joint = dim::limited_joint(Vector::Y * -0.3, Vector::Y * 0.3, 0.1 + 0.1 * x);
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
    let cloth = cloth(vector(-2.0, 3.0, -2.0), 0.4, 11);
    let cushion = soft_cube(vector(6.0, 0.6, 0.0), 0.5, 4);
    for soft_body in [cloth, cushion] {
        simulation.physics.rapier_mut().insert_soft_body(soft_body);
    }
    let balls =
        [0.0, 0.9, 6.0, 6.4].map(|x| simulation.physics.insert(dynamic(x, 5.0, 0.1 * x), ball()));
    (simulation, balls.to_vec())
}

/// A chain that hangs on a fixed body, by joints of either kind.
fn chain(is_multibody: bool) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let hook = RigidBodyBuilder::fixed().translation(Vector::Y * 8.0);
    let mut keys = vec![simulation.physics.insert_body(hook)];
    for i in 1..8u8 {
        let next = simulation
            .physics
            .insert(dynamic(f32::from(i), 8.0, 0.0), ball());
        let ends = [keys[keys.len() - 1], next].map(|key| simulation.physics.handle(key).unwrap());
        let joint = ball_joint(Vector::X * 0.5, Vector::X * -0.5);
        join(&mut simulation, ends, joint, is_multibody);
        keys.push(next);
    }
    (simulation, keys)
}

/// A door on a motor, and what it pushes.
fn motor() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let post = simulation
        .physics
        .insert_body(RigidBodyBuilder::fixed().translation(Vector::Y));
    let door = simulation
        .physics
        .insert(dynamic(1.0, 1.0, 0.0), cuboid(0.9, 0.8, 0.1));
    let ends = [post, door].map(|key| simulation.physics.handle(key).unwrap());
    let hinge = dim::door_hinge()
        .local_anchor2(Vector::X * -1.0)
        .motor_velocity(2.0, 0.5);
    let physics = simulation.physics.rapier_mut_except_bodies();
    physics.insert_impulse_joint(ends[0], ends[1], hinge);
    let keys = pile(&mut simulation, 20);
    (simulation, keys)
}

fn bullets() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    simulation.physics.insert(
        RigidBodyBuilder::fixed().translation(Vector::Y * 2.0),
        cuboid(0.02, 4.0, 4.0),
    );
    let bullet = dynamic(-20.0, 2.0, 0.0).ccd_enabled(true);
    let keys = vec![simulation.physics.insert(bullet, ball())];
    (simulation, keys)
}

fn generators() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let all = [
        ForceGenerator::Wind {
            velocity: vector(3.0, 0.0, -1.0),
            drag: 0.4,
        },
        ForceGenerator::Thrust {
            force: Vector::Y * 12.0,
            point: vector(0.1, -0.2, 0.0),
        },
        ForceGenerator::Spring {
            anchor: vector(2.0, 5.0, 1.0),
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
        let body = dynamic(x, 3.0, 0.0).angvel(spin(1.0, 5.0, 0.3));
        let key = simulation.physics.insert(body, cuboid(0.4, 0.2, 0.3));
        simulation
            .physics
            .insert_force_generator(key, generator)
            .unwrap();
        keys.push(key);
    }
    (simulation, keys)
}

fn lifts() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let mut keys = Vec::new();
    for (x, smoothing) in [(0.0, Smoothing::Interpolate), (5.0, Smoothing::Hermite)] {
        let lift = RigidBodyBuilder::kinematic_position_based().translation(vector(x, 1.0, 0.0));
        let key = simulation.physics.insert(lift, cuboid(1.0, 0.1, 1.0));
        simulation
            .physics
            .set_body_smoothing(key, Some(smoothing))
            .unwrap();
        simulation
            .physics
            .insert(dynamic(x, 2.0, 0.0), cuboid(0.3, 0.3, 0.3));
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
            .angvel(spin(0.3, 9.0, 2.0));
        let collider = cuboid(0.5, 0.2, 0.1).translation(Vector::X * 0.3);
        let key = simulation.physics.insert(body, collider);
        simulation
            .physics
            .set_body_smoothing(key, Some(smoothing))
            .unwrap();
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

fn nothing(_: &mut Physics, _: &[BodyKey], _: Step) {}

/// Goes back every 20 ticks, and pushes another body then: what is shown moves to it smoothly.
fn rollbacks() -> Golden {
    let (mut simulation, keys) = piled();
    simulation.set_rewind_limits(20, usize::MAX);
    let push = |physics: &mut Physics, step: Step, late: bool| {
        if step.tick % 20 == 9 {
            let key = keys[(step.tick as usize + usize::from(late)) % keys.len()];
            physics.apply_impulse(key, vector(0.4, 3.0, 0.1)).unwrap();
        }
    };
    let mut hashes = Hashes::new();
    let mut last = 0;
    for number in 0..FRAMES {
        if simulation.physics.tick() / 20 > last {
            last = simulation.physics.tick() / 20;
            let to = simulation.physics.tick() - 14;
            let again = |physics: &mut Physics, step| push(physics, step, true);
            simulation.resimulate(to, again).unwrap();
        }
        simulation.advance(frame_time(number), |physics, step| {
            push(physics, step, false)
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

/// Speeds and rates that are set after a step, and hold from the next frame on.
fn rates() -> Golden {
    let mut hashes = Hashes::new();
    let (mut simulation, _) = piled();
    for number in 0..FRAMES {
        let frame = simulation.advance(frame_time(number), |_, _| ());
        for tick in frame.ticks() {
            let settings = simulation.clock_settings_mut();
            match tick % 80 {
                20 => settings.set_speed(0.3).unwrap(),
                30 => settings.set_speed(1.7).unwrap(),
                50 => settings.set_rate(Rate::hz(144).unwrap()),
                70 => settings.set_rate(Rate::fraction(60_000, 1_001).unwrap()),
                _ => (),
            }
        }
        hashes.add(&simulation);
    }
    hashes.end("rates", &simulation)
}

fn all() -> Vec<Golden> {
    vec![
        play("shapes", dim::shapes(), nothing),
        play("compounds", dim::compounds(), nothing),
        play("limits", limits(false), nothing),
        play("limits of a multibody", limits(true), nothing),
        play("soft bodies", soft_bodies(), nothing),
        play("not a number", piled(), |physics, keys, step| {
            let key = keys[step.tick as usize / 9 % keys.len()];
            let nan = Vector::X
                * if step.tick % 2 == 0 {
                    f32::NAN
                } else {
                    -f32::NAN
                };
            if step.tick % 9 == 0
                && let Some(body) = physics.body_mut(key)
            {
                match step.tick / 9 % 5 {
                    0 => body.set_linvel(nan, true),
                    1 => body.set_angvel(dim::torque(nan), true),
                    2 => body.add_force(nan, true),
                    3 => body.apply_torque_impulse(dim::torque(nan), true),
                    _ => body.set_translation(nan, true),
                }
            }
        }),
        play("joints", chain(false), nothing),
        play("multibody", chain(true), nothing),
        play("motor", motor(), nothing),
        play("bullets", bullets(), |physics, keys, step| {
            if step.tick.is_multiple_of(40) {
                let start = translation(-20.0, 2.0, 0.0);
                physics.teleport(keys[0], start).unwrap();
                let speed = vector(300.0, 0.0, step.tick as f32 / 100.0);
                physics.body_mut(keys[0]).unwrap().set_linvel(speed, true);
            }
        }),
        play("generators", generators(), nothing),
        play("lifts", lifts(), |physics, keys, step| {
            if step.tick.is_multiple_of(60) {
                let height = 1.0 + (step.tick / 60 % 3) as f32;
                for (key, x) in keys.iter().zip([0.0, 5.0]) {
                    let there = translation(x, height, 0.0);
                    let time = step.time + MS(700);
                    physics.set_kinematic_target(*key, there, time).unwrap();
                }
            }
        }),
        play("flyers", flyers(), |physics, keys, step| {
            // A portal, which turns by a quarter.
            if step.tick % 50 == 49 {
                let by = Pose::from_parts(vector(1.0, 0.0, 2.0), dim::quarter_turn());
                physics
                    .teleport_by(keys[step.tick as usize % 4], by)
                    .unwrap();
            }
        }),
        play("sleepers", sleeping(), |physics, keys, step| {
            if step.tick % 70 == 10 {
                let key = keys[step.tick as usize % keys.len()];
                physics.apply_impulse(key, vector(0.8, 2.0, 0.3)).unwrap();
            }
        }),
        play("origin", piled(), |physics, _, step| {
            if step.tick % 30 == 20 {
                let side = if step.tick % 60 < 30 { 512.0 } else { -512.0 };
                physics.shift_origin(Vector::X * side).unwrap();
            }
        }),
        rates(),
        rollbacks(),
        everything(),
    ]
}

fn expected() -> Vec<Golden> {
    let mut file = csv::Reader::from_reader(dim::EXPECTED);
    let all: Result<_, _> = file.deserialize().collect();
    all.unwrap()
}

/// Names each scene and its columns that differ, and says what to do about it.
fn differences(found: &[Golden], expected: &[Golden]) -> String {
    let mut text = format!("{} differs:\n", dim::FILE);
    for golden in found {
        match expected.iter().find(|other| other.scene == golden.scene) {
            Some(other) if other == golden => (),
            Some(other) => {
                let columns = golden.columns().into_iter().zip(other.columns());
                let differing = columns.filter(|(found, expected)| found != expected);
                let names: Vec<_> = differing.map(|((name, _), _)| name).collect();
                text += &format!("  {}: {}\n", golden.scene, names.join(", "));
            }
            None => text += &format!("  {}: a new scene\n", golden.scene),
        }
    }
    let is_missing = |golden: &&Golden| !found.iter().any(|other| other.scene == golden.scene);
    for golden in expected.iter().filter(is_missing) {
        text += &format!("  {}: no longer a scene\n", golden.scene);
    }
    text += "If only `saved` differs, states are written as other bytes: raise `format` in src/state/saved.rs, so that bytes \
             of the previous format are refused. If `states` or `shown` differ, bodies move or are displayed in another \
             way. If that is meant, write the file with GOLDEN=write and say so in the changelog.";
    text
}

/// Compares all with the file.
///
/// # Panics
/// If anything differs.
pub fn compare() {
    let found = all();
    if std::env::var("GOLDEN").is_ok_and(|value| value == "write") {
        let mut file = csv::Writer::from_path(dim::FILE).unwrap();
        for golden in &found {
            file.serialize(golden).unwrap();
        }
        file.flush().unwrap();
        return;
    }
    let expected = expected();
    assert!(found == expected, "{}", differences(&found, &expected));
    // Of all machines that agree in the above.
    let fingerprint = evenstep::fingerprint();
    assert_eq!(fingerprint, dim::FINGERPRINT);
    let bytes = piled().0.save().expect("it can be saved");
    assert_eq!(evenstep::fingerprint_of(&bytes), Ok(fingerprint));
}

#[test]
fn a_difference_is_named_by_scene_and_column() {
    let mut found = expected();
    found[0].saved = "0".into();
    found[2].states = "0".into();
    found[2].shown = "0".into();
    let left_out = found.pop().unwrap().scene;
    let text = differences(&found, &expected());
    let lines: Vec<&str> = text.lines().collect();
    let [first, second] = [0, 2].map(|i| &found[i].scene);
    assert_eq!(lines[1], format!("  {first}: saved"));
    assert_eq!(lines[2], format!("  {second}: states, shown"));
    assert_eq!(lines[3], format!("  {left_out}: no longer a scene"));
    assert!(lines[4].contains("raise `format` in src/state/saved.rs"));
}

#[test]
fn the_bits_are_those_of_every_platform() {
    compare();
}
