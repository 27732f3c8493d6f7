//! A small world that computes everything that could be rounded differently.

use rapier::dynamics::{RevoluteJointBuilder, RigidBodyBuilder, SoftBodyBuilder};
use rapier::geometry::{ColliderBuilder, SharedShape};
use rapier::math::{IVector, Pose, Real, Vector};
use rapier::pipeline::PhysicsWorld;

/// Returns a world with all shapes on uneven ground, chains of both kinds of joint with limits and motors, and a soft
/// body.
pub(crate) fn world_of_all_shapes() -> PhysicsWorld {
    let mut world = PhysicsWorld::default();
    world.insert(RigidBodyBuilder::fixed(), ground());
    for (i, collider) in (0u8..).zip(shapes()) {
        let at = [i % 4, i / 4].map(Real::from);
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::new(1.1 * at[0], 0.8 + 1.1 * at[1]))
            .rotation(0.3 + at[0])
            .angvel(3.0 - at[1])
            .ccd_enabled(i == 0);
        let (body, _) = world.insert(body, collider);
        if i % 5 == 0 {
            let second = ColliderBuilder::cuboid(0.1, 0.3)
                .translation(Vector::X * 0.4)
                .rotation(0.7);
            world.insert_collider(second, Some(body));
        }
    }
    for is_multibody in [false, true] {
        insert_chain(&mut world, is_multibody);
    }
    let center = Vector::new(1.0, 5.0);
    world.insert_soft_body(SoftBodyBuilder::grid(center, Vector::splat(0.4), 3, 3));
    world
}

fn ground() -> ColliderBuilder {
    let corner = |i: u8| Vector::new(1.5 * Real::from(i) - 6.0, Real::from(i % 5 * 3 % 5) * 0.1);
    ColliderBuilder::polyline((0..9).map(corner).collect(), None)
}

fn shapes() -> Vec<ColliderBuilder> {
    let points = [
        Vector::new(0.3, 0.0),
        Vector::new(0.1, 0.4),
        Vector::new(-0.4, 0.1),
        Vector::new(-0.2, -0.3),
        Vector::new(0.2, -0.2),
    ];
    let parts = vec![
        (Pose::IDENTITY, SharedShape::cuboid(0.3, 0.1)),
        (
            Pose::new(Vector::new(0.3, 0.1), 0.7),
            SharedShape::capsule_y(0.3, 0.1),
        ),
    ];
    let voxels = [
        IVector::new(0, 0),
        IVector::new(1, 0),
        IVector::new(1, 1),
        IVector::new(2, 1),
    ];
    vec![
        ColliderBuilder::ball(0.3),
        ColliderBuilder::cuboid(0.2, 0.3),
        ColliderBuilder::capsule_y(0.3, 0.2),
        ColliderBuilder::round_cuboid(0.2, 0.1, 0.05),
        ColliderBuilder::triangle(points[0], points[1], points[2]),
        ColliderBuilder::convex_hull(&points).expect("the hull has an area"),
        ColliderBuilder::round_convex_hull(&points, 0.05).expect("the hull has an area"),
        ColliderBuilder::trimesh(points.to_vec(), vec![[0, 1, 2], [0, 2, 3], [0, 3, 4]])
            .expect("the mesh has triangles"),
        ColliderBuilder::compound(parts),
        ColliderBuilder::voxels(Vector::splat(0.2), &voxels),
    ]
}

fn insert_chain(world: &mut PhysicsWorld, is_multibody: bool) {
    let x = if is_multibody { 5.0 } else { -5.0 };
    let hook = RigidBodyBuilder::fixed().translation(Vector::new(x, 4.0));
    let mut above = world.insert_body(hook);
    for i in 0..4u8 {
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::new(x, 3.65 - 0.7 * Real::from(i)))
            .linvel(Vector::X * 3.0);
        let (next, _) = world.insert(body, ColliderBuilder::cuboid(0.1, 0.3));
        let joint = RevoluteJointBuilder::new()
            .local_anchor1(Vector::Y * if i == 0 { 0.0 } else { -0.35 })
            .local_anchor2(Vector::Y * 0.35)
            .limits([-0.4, 0.3])
            .motor_position(0.8, 20.0, 1.0);
        if is_multibody {
            let joint = world.insert_multibody_joint(above, next, joint);
            joint.expect("a chain has no loop");
        } else {
            world.insert_impulse_joint(above, next, joint);
        }
        above = next;
    }
}
