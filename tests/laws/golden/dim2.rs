//! The two-dimensional scenes of the golden values.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};

use super::games::{dynamic, floor};

/// The file with the golden values.
pub const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/laws/golden/2d.csv");

pub const EXPECTED: &[u8] = include_bytes!("2d.csv");

/// Returns a heap of plain shapes.
pub fn shapes() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = floor();
    let keys = (0..40u8).map(|i| {
        let shape = match i % 5 {
            0 => ColliderBuilder::ball(0.4),
            1 => ColliderBuilder::cuboid(0.5, 0.3),
            2 => ColliderBuilder::capsule_y(0.3, 0.2),
            3 => ColliderBuilder::round_cuboid(0.3, 0.2, 0.1),
            _ => ColliderBuilder::triangle(
                Vector::new(-0.4, -0.2),
                Vector::new(0.5, -0.3),
                Vector::new(0.1, 0.4),
            ),
        };
        let (x, y) = (f32::from(i % 3), f32::from(i));
        let body = dynamic(0.3 * x, 1.0 + 0.8 * y, 0.0);
        simulation.physics.insert(body.rotation(0.3 + x), shape)
    });
    let keys = keys.collect();
    (simulation, keys)
}

/// Returns a heap of hulls, meshes and bodies with several colliders, on uneven ground.
pub fn compounds() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = Simulation::default();
    let heights = (0..64u8).map(|i| f32::from(i * 3 % 5) * 0.1).collect();
    let ground = ColliderBuilder::heightfield(heights, Vector::new(48.0, 1.0));
    simulation.physics.insert(RigidBodyBuilder::fixed(), ground);
    let points = [
        Vector::new(0.3, 0.0),
        Vector::new(-0.4, 0.1),
        Vector::new(0.0, 0.5),
        Vector::new(0.1, -0.3),
        Vector::new(0.2, 0.1),
    ];
    let keys = (0..48u8).map(|i| {
        let long = 0.1 + 0.01 * f32::from(i);
        let arm = Pose::new(Vector::new(0.3, 0.1), 0.5 + long);
        let shape = match i % 6 {
            0 => {
                let parts = vec![
                    (Pose::IDENTITY, SharedShape::cuboid(0.3, long)),
                    (arm, SharedShape::capsule_y(0.3, 0.1)),
                ];
                ColliderBuilder::compound(parts)
            }
            1 => ColliderBuilder::convex_hull(&points.map(|point| point * (0.8 + long))).unwrap(),
            2 => ColliderBuilder::round_convex_hull(&points, 0.1 * long).unwrap(),
            3 => {
                let faces = vec![[0, 2, 1], [0, 1, 3]];
                let corners = points[..4].iter().map(|point| *point * (1.0 + long));
                ColliderBuilder::trimesh(corners.collect(), faces).unwrap()
            }
            4 => {
                let filled = [[0, 0], [1, 0], [1, 1]].map(IVector::from_array);
                ColliderBuilder::voxels(Vector::splat(0.1 + 0.3 * long), &filled)
            }
            _ => ColliderBuilder::cuboid(0.3, long),
        };
        let (x, y) = (f32::from(i % 3), f32::from(i));
        let body = dynamic(0.6 * x, 1.5 + 0.5 * y, 0.0).ccd_enabled(i % 7 == 0);
        let key = simulation.physics.insert(body.angvel(x + 2.0), shape);
        if i % 6 == 5 {
            let second = ColliderBuilder::capsule_x(0.2, 0.1).position(arm);
            simulation.physics.insert_collider(key, second).unwrap();
        }
        key
    });
    let keys = keys.collect();
    (simulation, keys)
}

/// Returns a joint with the given limit and a motor.
pub fn limited_joint(anchor1: Vector, anchor2: Vector, limit: f32) -> GenericJoint {
    RevoluteJointBuilder::new()
        .local_anchor1(anchor1)
        .local_anchor2(anchor2)
        .limits([-0.4, limit])
        .motor_position(0.8, 20.0, 1.0)
        .into()
}

pub fn door_hinge() -> RevoluteJointBuilder {
    RevoluteJointBuilder::new()
}

pub fn torque(of: Vector) -> AngVector {
    of.x + of.y
}

pub fn quarter_turn() -> Rotation {
    Rotation::from_cos_sin_unchecked(0.0, 1.0)
}
