//! Bodies, and whole worlds, that are teleported.

mod origin;
mod parts;
mod portals;
mod sleepers;

use evenstep::forces::ForceGenerator;
use evenstep::rapier::prelude::*;
use evenstep::threads::{Runner, RunnerSettings};
use evenstep::{
    BeforeStep, BodyError, BodyKey, Hooks, Physics, Rate, Simulation, Smoothing, Step, VectorError,
};
use scenes::testing::{
    CONTACTS_ARE_RELATIVE, angle_between, ball_joint, cloth, cuboid, length, of_root, pose, scaled,
    soft_cube, spaced, spin, translation, turned, vector,
};
use scenes::{MS, advance, ball, space};
use std::time::Duration;

/// Returns the largest distance between the positions of four points, 1 m from the origin, under two poses.
fn apart(a: Pose, b: Pose) -> f32 {
    let corners = [Vector::ZERO, Vector::X, Vector::Y, vector(0.0, 0.0, 1.0)];
    let distances = corners.map(|corner| (a * corner - b * corner).length());
    distances.into_iter().fold(0.0, f32::max)
}

fn tumbler(simulation: &mut Simulation) -> BodyKey {
    simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .linvel(vector(8.0, 1.0, 0.0))
            .angvel(spin(3.0, 0.0, 5.0)),
        cuboid(0.1, 0.2, 0.3).translation(Vector::X * 0.3),
    )
}

/// Creates a scene with every kind of object that has a position: a pile, a collider without a body and a crate on it,
/// a hanging chain of joints of both kinds, cloth on two pins, a spring to a point of the world, a lift under way, and
/// a body that flies free.
fn everything() -> (Simulation, Vec<BodyKey>, SoftBodyHandle) {
    let mut simulation = scenes::with_floor(Rate::hz(60));
    let mut keys = scenes::pile(&mut simulation, 30);
    let rock = cuboid(4.0, 1.0, 4.0).translation(Vector::X * 20.0);
    simulation.physics.rapier_mut().insert_collider(rock, None);
    let cube = || cuboid(0.25, 0.25, 0.25);
    let mut add = |simulation: &mut Simulation, body: RigidBodyBuilder, at: [f32; 3]| {
        let key = simulation.physics.insert(
            body.translation(spaced(at[0], at[1], at[2])),
            cube().mass(1.0),
        );
        keys.push(key);
        key
    };
    add(
        &mut simulation,
        RigidBodyBuilder::dynamic(),
        [20.0, 1.3, 0.0],
    );
    let chain: Vec<BodyKey> = (0..6u8)
        .map(|i| {
            let body = RigidBodyBuilder::dynamic()
                .linear_damping(4.0)
                .angular_damping(4.0);
            let body = if i == 0 {
                RigidBodyBuilder::fixed()
            } else {
                body
            };
            add(&mut simulation, body, [-20.0, 9.0 - f32::from(i), 0.0])
        })
        .collect();
    for (i, pair) in chain.windows(2).enumerate() {
        let [a, b] = [pair[0], pair[1]].map(|key| simulation.physics.handle(key).unwrap());
        let joint = ball_joint(Vector::Y * -0.5, Vector::Y * 0.5);
        let world = simulation.physics.rapier_mut();
        if i < 3 {
            world.insert_impulse_joint(a, b, joint);
        } else {
            world.insert_multibody_joint(a, b, joint).unwrap();
        }
    }
    let hung = add(
        &mut simulation,
        RigidBodyBuilder::dynamic(),
        [0.0, 8.0, -20.0],
    );
    let spring = ForceGenerator::Spring {
        anchor: spaced(0.0, 11.0, -20.0),
        point: Vector::ZERO,
        rest_length: 2.0,
        stiffness: 50.0,
        damping: 1.0,
    };
    simulation
        .physics
        .insert_force_generator(hung, spring)
        .unwrap();
    let lift = RigidBodyBuilder::kinematic_position_based();
    let lift = add(&mut simulation, lift, [0.0, 1.0, 20.0]);
    let top = Pose::from_translation(spaced(0.0, 9.0, 20.0));
    simulation
        .physics
        .set_kinematic_target(lift, top, Duration::from_secs(8))
        .unwrap();
    let flyer = RigidBodyBuilder::dynamic()
        .angvel(spin(1.0, 1.0, 1.0))
        .gravity_scale(0.1);
    add(&mut simulation, flyer, [0.0, 30.0, 0.0]);
    let cloth = cloth(spaced(30.0, 5.0, 30.0), 1.0, 4).pinned_particles([0, 3]);
    let cloth = simulation.physics.rapier_mut().insert_soft_body(cloth);
    (simulation, keys, cloth)
}

/// Returns the positions of all bodies, colliders and particles, with the shift of the origin undone.
fn positions(world: &PhysicsWorld, soft_body: SoftBodyHandle, origin: Vector) -> Vec<Vector> {
    let bodies = world.bodies.iter().map(|(_, body)| body.translation());
    let colliders = world
        .colliders
        .iter()
        .map(|(_, collider)| collider.translation());
    let particles = world
        .soft_bodies
        .get(soft_body)
        .unwrap()
        .particle_positions();
    let all = bodies.chain(colliders).chain(particles);
    all.map(|position| position + origin).collect()
}

/// Creates a chain of links that hang on one another in free space, pushed into motion. Returns its bodies, the root
/// first.
fn chain(simulation: &mut Simulation, links: u8, root: RigidBodyBuilder) -> Vec<BodyKey> {
    let mut keys = vec![simulation.physics.insert(root, ball())];
    for i in 1..links {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * f32::from(i));
        keys.push(simulation.physics.insert(body, ball().mass(0.004)));
        let ends = [keys[usize::from(i) - 1], keys[usize::from(i)]];
        let [one, other] = ends.map(|key| simulation.physics.handle(key).unwrap());
        let joint = ball_joint(Vector::X * 0.5, Vector::X * -0.5);
        let joints = simulation.physics.rapier_mut_except_bodies();
        joints.insert_multibody_joint(one, other, joint).unwrap();
    }
    simulation.advance(MS(200), |physics, _| {
        // Rapier gives links no velocity except that of their joints, so only forces set them in motion.
        for (key, push) in keys.iter().zip([
            vector(0.0, 0.5, 1.0),
            -Vector::Y,
            Vector::Y,
            vector(0.0, -0.5, 1.0),
        ]) {
            physics.add_force(*key, push * 0.3).unwrap();
        }
    });
    keys
}
