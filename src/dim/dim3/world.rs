//! A small world that computes everything that could be rounded differently.

use rapier::dynamics::{JointAxis, RigidBodyBuilder, SoftBodyBuilder, SphericalJointBuilder};
use rapier::geometry::{ColliderBuilder, SharedShape};
use rapier::math::{IVector, Pose, Real, Rotation, Vector};
use rapier::pipeline::PhysicsWorld;

/// Returns a world with all shapes on uneven ground, whether their inertia needs eigenvalues or not, chains of both
/// kinds of joint with limits and motors, and a soft body.
pub(crate) fn world_of_all_shapes() -> PhysicsWorld {
    let mut world = PhysicsWorld::default();
    world.insert(RigidBodyBuilder::fixed(), ground());
    for (i, collider) in (0u8..).zip(shapes()) {
        let at = [i % 4, i / 4, i % 3].map(Real::from);
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::new(1.1 * at[0], 0.8 + 0.7 * at[1], 0.9 * at[2]))
            .rotation(Vector::new(0.3, at[0], -at[1]))
            .angvel(Vector::new(3.0, at[2], -2.0))
            .ccd_enabled(i == 0);
        let (body, _) = world.insert(body, collider);
        if i % 5 == 0 {
            let second = ColliderBuilder::cuboid(0.1, 0.3, 0.2)
                .translation(Vector::X * 0.4)
                .rotation(Vector::new(0.2, 0.7, 0.1));
            world.insert_collider(second, Some(body));
        }
    }
    for is_multibody in [false, true] {
        insert_chain(&mut world, is_multibody);
    }
    let center = Vector::new(1.0, 4.0, 1.0);
    world.insert_soft_body(SoftBodyBuilder::cuboid(center, Vector::splat(0.4), 3, 3, 3));
    world
}

fn ground() -> ColliderBuilder {
    const SIDE: u8 = 9;
    let corners = (0..SIDE * SIDE).map(|i| {
        let [x, z] = [i / SIDE, i % SIDE].map(Real::from);
        Vector::new(
            1.5 * x - 6.0,
            Real::from(i % 5 * 3 % 5) * 0.1,
            1.5 * z - 6.0,
        )
    });
    let side = u32::from(SIDE);
    let squares = (0..side * (side - 1)).filter(|i| i % side != side - 1);
    let halves = squares.flat_map(|i| [[i, i + 1, i + side], [i + 1, i + side + 1, i + side]]);
    ColliderBuilder::trimesh(corners.collect(), halves.collect()).expect("the mesh has triangles")
}

fn shapes() -> Vec<ColliderBuilder> {
    let points = [
        Vector::new(0.3, 0.0, 0.1),
        Vector::new(-0.4, 0.1, 0.0),
        Vector::new(0.0, 0.5, 0.2),
        Vector::new(0.1, -0.3, 0.3),
        Vector::new(0.2, 0.1, -0.6),
        Vector::new(-0.2, -0.2, -0.1),
    ];
    let faces = vec![[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];
    let turn = Rotation::from_xyzw(0.1, 0.7, -0.1, 0.7);
    let parts = vec![
        (Pose::IDENTITY, SharedShape::cuboid(0.3, 0.1, 0.2)),
        (
            Pose::from_parts(Vector::new(0.3, 0.1, -0.2), turn),
            SharedShape::capsule_y(0.3, 0.1),
        ),
    ];
    let voxels = [
        IVector::new(0, 0, 0),
        IVector::new(1, 0, 0),
        IVector::new(1, 1, 0),
        IVector::new(1, 1, 1),
        IVector::new(2, 1, 1),
    ];
    vec![
        ColliderBuilder::ball(0.3),
        ColliderBuilder::cuboid(0.2, 0.3, 0.4),
        ColliderBuilder::capsule_y(0.3, 0.2),
        ColliderBuilder::cylinder(0.3, 0.3),
        ColliderBuilder::cone(0.4, 0.3),
        ColliderBuilder::round_cuboid(0.2, 0.1, 0.3, 0.05),
        ColliderBuilder::convex_hull(&points).expect("the hull has a volume"),
        ColliderBuilder::trimesh(points[..4].to_vec(), faces).expect("the mesh has triangles"),
        ColliderBuilder::compound(parts),
        ColliderBuilder::voxels(Vector::splat(0.2), &voxels),
        ColliderBuilder::round_cylinder(0.2, 0.2, 0.05),
        ColliderBuilder::round_convex_hull(&points, 0.05).expect("the hull has a volume"),
    ]
}

fn insert_chain(world: &mut PhysicsWorld, is_multibody: bool) {
    let x = if is_multibody { 5.0 } else { -5.0 };
    let hook = RigidBodyBuilder::fixed().translation(Vector::new(x, 4.0, 0.0));
    let mut above = world.insert_body(hook);
    for i in 0..4u8 {
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::new(x, 3.65 - 0.7 * Real::from(i), 0.0))
            .linvel(Vector::new(3.0, 0.0, -2.0));
        let (next, _) = world.insert(body, ColliderBuilder::cuboid(0.1, 0.3, 0.2));
        let joint = SphericalJointBuilder::new()
            .local_anchor1(Vector::Y * if i == 0 { 0.0 } else { -0.35 })
            .local_anchor2(Vector::Y * 0.35)
            .limits(JointAxis::AngX, [-0.4, 0.3])
            .limits(JointAxis::AngZ, [-0.2, 0.7])
            .motor_position(JointAxis::AngY, 0.8, 20.0, 1.0);
        if is_multibody {
            let joint = world.insert_multibody_joint(above, next, joint);
            joint.expect("a chain has no loop");
        } else {
            world.insert_impulse_joint(above, next, joint);
        }
        above = next;
    }
}
