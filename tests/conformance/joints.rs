//! Bodies that hold together: joints, multibodies, soft bodies.

use evenstep::rapier3d::prelude::*;
use serde::{Deserialize, Serialize};

use crate::parts::{at, fixed_at, floor, shape, wave};
use crate::ways::Scene;
use crate::world::{Events, World};

/// Ropes, springs, a bridge that breaks, a door, and a machine of multibodies, with motors and limits.
#[derive(Clone, Serialize, Deserialize)]
pub struct Machines {
    bridge: Vec<ImpulseJointHandle>,
    door: ImpulseJointHandle,
    arm: Vec<MultibodyJointHandle>,
    load: RigidBodyHandle,
}

/// A bar of the bridge breaks loose under this impulse.
const STRENGTH: f32 = 0.05;

fn bar() -> ColliderBuilder {
    ColliderBuilder::cuboid(0.4, 0.1, 0.3)
}

/// Bodies in a row behind a fixed one, each with the one before it.
fn row(world: &mut dyn World, z: f32, count: u8) -> Vec<[RigidBodyHandle; 2]> {
    let mut last = world.insert(fixed_at(0.0, 4.0, z), bar());
    (1..=count)
        .map(|i| {
            let before = last;
            last = world.insert(at(f32::from(i), 4.0, z), bar());
            [before, last]
        })
        .collect()
}

impl Scene for Machines {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        let (front, back) = (Vector::X * 0.5, Vector::X * -0.5);
        let bridge = row(world, 0.0, 6);
        let [arm, ropes, door] = [(3.0, 4), (6.0, 4), (9.0, 2)].map(|(z, n)| row(world, z, n));
        let load = world.insert(at(3.0, 6.0, 0.0), shape(1).density(4.0));
        let slider = RevoluteJointBuilder::new(Vector::Z)
            .local_anchor1(front)
            .local_anchor2(back)
            .limits([-0.6, 0.9])
            .motor_position(0.3, 40.0, 4.0);
        let piston = PrismaticJointBuilder::new(Vector::X)
            .local_anchor1(front)
            .limits([0.2, 0.8])
            .motor_velocity(0.5, 8.0)
            .motor_max_force(20.0);
        let ball = SphericalJointBuilder::new().local_anchor1(front);
        let ball = ball.local_anchor2(back);
        let hinge = RevoluteJointBuilder::new(Vector::Y).local_anchor1(front);
        let hinge = hinge.local_anchor2(back).motor_velocity(1.0, 2.0);
        let loose = GenericJointBuilder::new(JointAxesMask::LIN_Y | JointAxesMask::ANG_X);
        let loose = loose.limits(JointAxis::LinX, [0.5, 1.5]);
        let mut arm_joints = Vec::new();
        let physics = world.except_bodies();
        for (number, [a, b]) in arm.into_iter().enumerate() {
            let joint: GenericJoint = match number {
                0 | 1 => slider.into(),
                2 => piston.into(),
                _ => ball.into(),
            };
            arm_joints.extend(physics.insert_multibody_joint(a, b, joint));
        }
        for (number, [a, b]) in ropes.into_iter().enumerate() {
            let joint: GenericJoint = match number % 2 {
                0 => RopeJointBuilder::new(1.2).into(),
                _ => SpringJointBuilder::new(0.8, 60.0, 1.0).into(),
            };
            physics.insert_impulse_joint(a, b, joint);
        }
        physics.insert_impulse_joint(door[1][0], door[1][1], loose);
        let bridge = bridge.into_iter();
        Self {
            door: physics.insert_impulse_joint(door[0][0], door[0][1], hinge),
            bridge: bridge
                .map(|[a, b]| physics.insert_impulse_joint(a, b, ball))
                .collect(),
            arm: arm_joints,
            load,
        }
    }

    fn check(&self, physics: &PhysicsWorld) {
        let left = self.bridge.len();
        assert!((1..6).contains(&left), "{left} bars of the bridge are left");
        let machine = physics.multibody_joints.iter().count();
        assert_eq!(machine, self.arm.len());
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let physics = world.except_bodies();
        if let Some(door) = physics.impulse_joints.get_mut(self.door, true) {
            let axis = JointAxis::AngX;
            door.data.set_motor_velocity(axis, 6.0 * input, 2.0);
        }
        for (number, joint) in self.arm.iter().enumerate() {
            if let Some((multibody, link)) = physics.multibody_joints.get_mut(*joint)
                && let Some(link) = multibody.link_mut(link)
                && number < 2
            {
                let to = wave(tick, 50 + 10 * number as u64);
                link.joint
                    .data
                    .set_motor_position(JointAxis::AngX, to, 40.0, 4.0);
            }
        }
        if tick % 60 == 40 {
            world.only(&[self.load]).bodies[self.load]
                .set_translation(Vector::new(3.0, 6.0, 0.0), true);
        }
    }

    fn after_step(&mut self, world: &mut dyn World, _: &Events) {
        let joints = &world.physics().impulse_joints;
        let is_broken = |joint: &ImpulseJointHandle| {
            let joint = joints.get(*joint).expect("it holds");
            joint.impulses[..3]
                .iter()
                .map(|part| part * part)
                .sum::<f32>()
                > STRENGTH * STRENGTH
        };
        if let Some(number) = self.bridge.iter().position(is_broken) {
            let joint = self.bridge.remove(number);
            world.except_bodies().remove_impulse_joint(joint);
        }
    }
}

/// Jelly, cloth and a rope, which are hit, pulled, cut and torn.
#[derive(Clone, Serialize, Deserialize)]
pub struct Soft {
    jelly: SoftBodyHandle,
    cloth: SoftBodyHandle,
    rope: SoftBodyHandle,
    tears: usize,
}

impl Scene for Soft {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        for i in 0..6u8 {
            let [x, y] = [i % 3, i / 3].map(f32::from);
            world.insert(at(x - 1.0, 3.5 + y, 0.2 * x), shape(i.into()).density(10.0));
        }
        let weight = world.insert(at(4.0, 2.5, 0.0), ColliderBuilder::ball(0.2));
        let jelly =
            SoftBodyBuilder::cuboid(Vector::new(-3.0, 1.0, 0.0), Vector::splat(0.4), 3, 3, 3);
        let corner = Vector::new(-1.0, 2.5, -1.0);
        let side = 0.3;
        let cloth = SoftBodyBuilder::cloth(corner, Vector::X * side, Vector::Z * side, 8, 8);
        let cloth = cloth.pinned_particles([0, 7, 56, 63]).tear_strain(0.02);
        let rope = SoftBodyBuilder::rope(Vector::new(4.0, 4.0, 0.0), Vector::new(4.0, 2.7, 0.0), 8);
        let physics = world.all();
        let [jelly, cloth, rope] =
            [jelly, cloth, rope.pinned_particles([0])].map(|soft| physics.insert_soft_body(soft));
        let PhysicsWorld {
            bodies,
            soft_bodies,
            ..
        } = physics;
        soft_bodies[rope].attach_particle(7, weight, bodies);
        let tears = 0;
        Self {
            jelly,
            cloth,
            rope,
            tears,
        }
    }

    fn after_step(&mut self, _: &mut dyn World, events: &Events) {
        self.tears += events.tears.len();
    }

    fn check(&self, physics: &PhysicsWorld) {
        let pieces = physics.soft_bodies.iter().count();
        assert!(
            pieces > 3 && self.tears > 0,
            "{pieces} pieces, {} tears",
            self.tears
        );
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let physics = world.all();
        let jelly = physics
            .soft_bodies
            .get_mut(self.jelly)
            .expect("it is whole");
        jelly.apply_impulse(Vector::new(0.1 * input, 0.0, 0.05), true);
        let rope = physics.soft_bodies.get_mut(self.rope).expect("it is there");
        rope.set_particle_kinematic_target(0, Vector::new(4.0, 4.0, 0.5 * wave(tick, 60)));
        if tick == 90 {
            let blade = [(-2.0, -2.0), (2.0, -2.0), (0.0, 4.0)];
            let blade = blade.map(|(y, z)| Vector::new(0.05, 2.2 + y, z));
            physics.cut_soft_body(self.cloth, &blade);
        }
        if tick == 110 {
            let rope = physics.soft_bodies.get_mut(self.rope).expect("it is there");
            rope.detach_particle(7);
        }
    }
}
