//! The three-dimensional scenes of the golden values.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};

use super::games::{dynamic, floor};

/// The file with the golden values.
pub const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/laws/golden/3d.csv");

pub const EXPECTED: &[u8] = include_bytes!("3d.csv");

/// Returns a heap of all shapes whose inertia has a closed form.
pub fn shapes() -> (Simulation, Vec<BodyKey>) {
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
        simulation
            .physics
            .insert(body.rotation(Vector::new(at[0], 0.3, at[2])), shape)
    });
    let keys = keys.collect();
    (simulation, keys)
}

/// Returns a heap on meshes. It has shapes whose principal axes need the eigenvalues of a matrix, and bodies with
/// several colliders.
pub fn compounds() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = Simulation::default();
    let heights = Array2::new(
        8,
        8,
        (0..64u8).map(|i| f32::from(i * 3 % 5) * 0.1).collect(),
    );
    let ground = ColliderBuilder::heightfield(heights, Vector::new(12.0, 1.0, 12.0));
    simulation.physics.insert(RigidBodyBuilder::fixed(), ground);
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
        let key = simulation
            .physics
            .insert(body.angvel(Vector::new(at[0], 2.0, at[2])), shape);
        if i % 6 == 5 {
            let second = ColliderBuilder::capsule_z(0.2, 0.1).position(arm);
            simulation.physics.insert_collider(key, second).unwrap();
        }
        key
    });
    let keys = keys.collect();
    (simulation, keys)
}

/// Returns a joint with the given limit and a motor.
pub fn limited_joint(anchor1: Vector, anchor2: Vector, limit: f32) -> GenericJoint {
    SphericalJointBuilder::new()
        .local_anchor1(anchor1)
        .local_anchor2(anchor2)
        .limits(JointAxis::AngX, [-0.4, limit])
        .limits(JointAxis::AngZ, [-0.2, 0.7])
        .motor_position(JointAxis::AngY, 0.8, 20.0, 1.0)
        .into()
}

/// Returns an upright hinge.
pub fn door_hinge() -> RevoluteJointBuilder {
    RevoluteJointBuilder::new(Vector::Y)
}

pub fn torque(of: Vector) -> AngVector {
    of
}

pub fn quarter_turn() -> Rotation {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    Rotation::from_xyzw(0.0, half, 0.0, half)
}
