//! The scenes whose bits are compared.

use super::*;
use evenstep::rewind::Kept;

type Script = fn(&mut Physics, &[BodyKey], Step);

/// Plays a scene. Each step begins with the script.
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

pub(super) fn dynamic(x: f32, y: f32, z: f32) -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic().translation(vector(x, y, z))
}

pub(super) fn floor() -> Simulation {
    with_floor(Rate::hz(60))
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
        joint.expect("the chain has no loop");
    } else {
        physics.insert_impulse_joint(ends[0], ends[1], joint);
    }
}

/// Returns chains whose joints have limits and motors of angles.
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

/// Returns soft bodies, and bodies that fall on them.
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

/// Returns a chain that hangs from a fixed body on joints of either kind.
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

/// Returns a door on a motor, and bodies that it pushes.
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

pub(super) fn piled() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let keys = pile(&mut simulation, 25);
    (simulation, keys)
}

fn nothing(_: &mut Physics, _: &[BodyKey], _: Step) {}

/// Goes back every 20 ticks and then pushes another body. The displayed poses move smoothly to the new ones.
fn rollbacks() -> Golden {
    let (mut simulation, keys) = piled();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
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

/// Sets speeds and rates after a step. They apply from the next frame on.
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
                50 => settings.set_rate(Rate::hz(144)),
                70 => settings.set_rate(Rate::fraction(60_000, 1_001)),
                _ => (),
            }
        }
        hashes.add(&simulation);
    }
    hashes.end("rates", &simulation)
}

pub(super) fn all() -> Vec<Golden> {
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
                    let time = step.start_time + MS(700);
                    physics.set_kinematic_target(*key, there, time).unwrap();
                }
            }
        }),
        play("flyers", flyers(), |physics, keys, step| {
            // A portal rotates by a quarter turn.
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
