//! The worlds of the first inputs. They are small, and together have most features of Rapier and evenstep.

use evenstep::rewind::Kept;
use std::time::Duration;

use evenstep::forces::ForceGenerator;
use evenstep::rapier::parry::utils::Array2;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Correction, Physics, Rate, Simulation, Smoothing};

const FRAME: Duration = Duration::from_millis(17);

/// Returns all worlds, each after some steps.
pub fn all() -> Vec<Simulation> {
    [heap, joints, multibody, sleepers, soft_bodies, meshes, ours]
        .into_iter()
        .map(|scene| {
            let mut simulation = scene();
            for _ in 0..12 {
                simulation.advance(FRAME, |_, _| ());
            }
            simulation
        })
        .collect()
}

fn floor() -> Simulation {
    let mut simulation = Simulation::default();
    let floor = ColliderBuilder::cuboid(20.0, 0.5, 20.0);
    simulation.physics.insert(
        RigidBodyBuilder::fixed().translation(Vector::Y * -0.5),
        floor,
    );
    simulation
}

fn at(x: f32, y: f32, z: f32) -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic().translation(Vector::new(x, y, z))
}

fn heap() -> Simulation {
    let mut simulation = floor();
    for i in 0..6u8 {
        let crate_ = ColliderBuilder::cuboid(0.5, 0.5, 0.5).active_events(ActiveEvents::all());
        simulation.physics.insert(
            at(
                0.3 * f32::from(i % 2),
                0.5 + 1.01 * f32::from(i / 2),
                f32::from(i % 2),
            ),
            crate_,
        );
    }
    simulation
}

fn row(physics: &mut Physics) -> Vec<RigidBodyHandle> {
    let mut keys =
        vec![physics.insert_body(RigidBodyBuilder::fixed().translation(Vector::Y * 3.0))];
    keys.extend(
        (1..4u8).map(|i| physics.insert(at(f32::from(i), 3.0, 0.0), ColliderBuilder::ball(0.3))),
    );
    keys.iter().filter_map(|key| physics.handle(*key)).collect()
}

fn joints() -> Simulation {
    let mut simulation = floor();
    let row = row(&mut simulation.physics);
    let joints: [GenericJoint; 3] = [
        RevoluteJointBuilder::new(Vector::Z)
            .local_anchor2(-Vector::X)
            .motor_velocity(2.0, 1.0)
            .limits([-1.0, 1.0])
            .into(),
        SphericalJointBuilder::new()
            .local_anchor2(-Vector::X)
            .into(),
        RopeJointBuilder::new(1.5).into(),
    ];
    let world = simulation.physics.rapier_mut_except_bodies();
    for (ends, joint) in row.windows(2).zip(joints) {
        world.insert_impulse_joint(ends[0], ends[1], joint);
    }
    simulation
}

fn multibody() -> Simulation {
    let mut simulation = floor();
    let row = row(&mut simulation.physics);
    let world = simulation.physics.rapier_mut_except_bodies();
    for ends in row.windows(2) {
        let joint = SphericalJointBuilder::new().local_anchor2(-Vector::X);
        world.insert_multibody_joint(ends[0], ends[1], joint);
    }
    simulation
}

fn sleepers() -> Simulation {
    let mut simulation = floor();
    for i in 0..4u8 {
        let ball = ColliderBuilder::ball(0.5);
        simulation
            .physics
            .insert(at(0.9 * f32::from(i), 0.5, 0.0).sleeping(i < 3), ball);
    }
    simulation
}

fn soft_bodies() -> Simulation {
    let mut simulation = floor();
    let cube = SoftBodyBuilder::cuboid(Vector::Y * 0.6, Vector::splat(0.5), 2, 2, 2);
    let cloth = SoftBodyBuilder::cloth(Vector::Y * 2.0, Vector::X, Vector::Z, 3, 3);
    for soft_body in [cube, cloth] {
        simulation.physics.rapier_mut().insert_soft_body(soft_body);
    }
    simulation
}

fn meshes() -> Simulation {
    let corners = || {
        [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
            .map(|point: [i16; 3]| Vector::from(point.map(f32::from)))
    };
    let sides = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    let shapes = [
        ColliderBuilder::trimesh(corners().to_vec(), sides).ok(),
        ColliderBuilder::convex_hull(&corners()),
    ];
    let cells = [[0, 0, 0], [1, 0, 0], [0, 1, 0]].map(IVector::from);
    let others = [
        ColliderBuilder::voxels(Vector::splat(0.5), &cells),
        ColliderBuilder::heightfield(Array2::repeat(3, 3, 0.2), Vector::splat(2.0)),
        ColliderBuilder::polyline(corners().to_vec(), None),
        ColliderBuilder::compound(vec![
            (Pose::IDENTITY, SharedShape::ball(0.3)),
            (
                Pose::translation(0.5, 0.0, 0.0),
                SharedShape::capsule_y(0.2, 0.2),
            ),
        ]),
        ColliderBuilder::round_cuboid(0.3, 0.3, 0.3, 0.1),
    ];
    let mut simulation = floor();
    for (i, shape) in shapes.into_iter().flatten().chain(others).enumerate() {
        let x = 3.0 * i as f32;
        simulation
            .physics
            .insert(RigidBodyBuilder::fixed().translation(Vector::X * x), shape);
        simulation.physics.insert(
            at(x + 0.2, 1.2, 0.2),
            ColliderBuilder::cuboid(0.2, 0.2, 0.2).sensor(i == 5),
        );
    }
    simulation
}

/// Returns a world with evenstep's own features.
fn ours() -> Simulation {
    let mut simulation = floor();
    simulation.keep(Kept {
        poses: 4,
        ..simulation.kept()
    });
    let lift = simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based(),
        ColliderBuilder::ball(0.5),
    );
    let then = simulation.clock().time() + Duration::from_millis(500);
    simulation
        .physics
        .set_kinematic_target(lift, Pose::translation(0.0, 2.0, 0.0), then)
        .expect("the body is kinematic");
    let keys: Vec<BodyKey> = (0..3u8)
        .map(|i| {
            simulation.physics.insert(
                at(f32::from(i), 2.0, 3.0).ccd_enabled(i == 0),
                ColliderBuilder::ball(0.3),
            )
        })
        .collect();
    simulation.physics.remove(keys[1]);
    let drag = ForceGenerator::Drag {
        linear: 1.0,
        angular: 0.5,
    };
    simulation
        .physics
        .insert_force_generator(keys[0], drag)
        .expect("the body exists");
    simulation
        .physics
        .set_body_smoothing(keys[2], Some(Smoothing::Hermite))
        .expect("the body exists");
    simulation.advance(FRAME * 3, |_, _| ());
    // A visual error, one that begins with the next picture, and a smoothing that changes with the next step.
    simulation.correction = Correction::linear(FRAME * 9);
    for (key, height) in [(keys[2], 3.0), (lift, 5.0)] {
        let from = Pose::translation(0.0, height, 3.0);
        simulation
            .physics
            .show_from(key, from)
            .expect("the body exists");
        simulation.advance(FRAME / 4, |_, _| ());
    }
    simulation
        .physics
        .show_from(keys[0], Pose::translation(0.0, 4.0, 3.0))
        .expect("the body exists");
    simulation
        .physics
        .set_body_smoothing(keys[2], Some(Smoothing::Latest))
        .expect("the body exists");
    simulation
        .clock_settings_mut()
        .set_rate(Rate::fraction(60_000, 1_001));
    simulation
}
