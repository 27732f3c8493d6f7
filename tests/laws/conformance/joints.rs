//! Joints and multibodies, with motors and limits.

use RigidBodyType::{Dynamic, Fixed};
use evenstep::rapier::prelude::*;
use serde::{Deserialize, Serialize};

use super::dim::{FIXED_AT, door_hinge, impulse, loose, shape};
use super::game::Scene;
use super::parts::{at, floor, wave};
use super::world::{Events, World};
use scenes::testing::{ball_joint, cuboid, hinge, spaced, vector};

/// A chain that breaks, a row of other joints, and the arm of a multibody, with motors and limits.
#[derive(Clone, Serialize, Deserialize)]
pub struct Machines {
    chain: Vec<ImpulseJointHandle>,
    row: Vec<ImpulseJointHandle>,
    arm: Vec<MultibodyJointHandle>,
    load: RigidBodyHandle,
}

/// The impulse above which a joint of the chain breaks.
const STRENGTH: f32 = 0.2;

/// Inserts bars in a row behind a fixed one, each with a joint to the previous bar.
fn row(world: &mut dyn World, z: f32, count: u8) -> Vec<[RigidBodyHandle; 2]> {
    let bar = || cuboid(0.4, 0.1, 0.3);
    let place = |kind, x| RigidBodyBuilder::new(kind).translation(spaced(x, 4.0, z));
    let mut last = world.insert(place(Fixed, 0.0), bar());
    let link = |i| {
        let next = world.insert(place(Dynamic, f32::from(i)), bar());
        [std::mem::replace(&mut last, next), next]
    };
    (1..=count).map(link).collect()
}

fn between(joint: impl Into<GenericJoint>) -> GenericJoint {
    let mut joint = joint.into();
    joint.set_local_anchor1(Vector::X * 0.5);
    joint.set_local_anchor2(Vector::X * -0.5);
    joint
}

impl Scene for Machines {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        let ball = between(ball_joint(Vector::ZERO, Vector::ZERO));
        let elbow = hinge().limits([-0.6, 0.9]);
        let elbow = between(elbow.motor_position(0.3, 40.0, 4.0));
        let piston = PrismaticJointBuilder::new(Vector::X).limits([0.2, 0.8]);
        let piston = between(piston.motor_velocity(0.5, 8.0).motor_max_force(20.0));
        let door = between(door_hinge().motor_velocity(0.0, 2.0));
        let loose = between(loose([0.5, 1.5]));
        let rope = RopeJointBuilder::new(1.2).into();
        let spring = SpringJointBuilder::new(0.8, 60.0, 1.0).into();
        let [chain, others, arm] = [(0.0, 6), (3.0, 4), (6.0, 4)].map(|(z, n)| row(world, z, n));
        let load = at(Dynamic, 3.0, 6.0, 0.0);
        let load = world.insert(load, shape(1).density(4.0));
        let physics = world.except_bodies();
        let chain = chain.into_iter();
        let chain = chain.map(|[a, b]| physics.insert_impulse_joint(a, b, ball));
        let chain = chain.collect();
        let row = others.into_iter().zip([door, rope, spring, loose]);
        let row = row.map(|([a, b], joint)| physics.insert_impulse_joint(a, b, joint));
        let row = row.collect();
        let arm = arm.into_iter().zip([elbow, elbow, piston, ball]);
        let arm = arm.filter_map(|([a, b], joint)| physics.insert_multibody_joint(a, b, joint));
        let arm = arm.collect();
        Self {
            chain,
            row,
            arm,
            load,
        }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        let PhysicsWorld {
            impulse_joints,
            multibody_joints,
            ..
        } = world.except_bodies();
        let door = impulse_joints.get_mut(self.row[0], true);
        let door = &mut door.expect("it exists").data;
        door.set_motor_velocity(JointAxis::AngX, 6.0 * input, 2.0);
        for elbow in &self.arm[..2] {
            let (multibody, link) = multibody_joints.get_mut(*elbow).expect("it exists");
            let joint = &mut multibody.link_mut(link).expect("it exists").joint.data;
            joint.set_motor_position(JointAxis::AngX, wave(tick, 50), 40.0, 4.0);
        }
        if tick % 60 == 40 {
            let place = vector(3.0, 6.0, 0.0);
            world.body(self.load).set_translation(place, true);
        }
    }

    fn after_step(&mut self, world: &mut dyn World, _: &Events) {
        let joints = &world.physics().impulse_joints;
        let is_broken = |joint: &ImpulseJointHandle| {
            impulse(joints.get(*joint).expect("it exists")).length() > STRENGTH
        };
        if let Some(number) = self.chain.iter().position(is_broken) {
            let joint = self.chain.remove(number);
            world.except_bodies().remove_impulse_joint(joint);
        }
    }

    fn check(&self, _: &PhysicsWorld) {
        let left = self.chain.len();
        assert!((1..6).contains(&left), "{left} of the chain are left");
    }
}

/// A chain with a link that is put to sleep by hand and woken by a contact, or that becomes fixed in motion.
///
/// Rapier's pipeline then continues with its cached data of the joints, which no copy has. So a simulation makes Rapier
/// prepare its joints again, and continues differently from bare Rapier. With `PREPARES`, the script makes Rapier do so
/// in each step. The simulation is compared with that run.
#[derive(Clone, Serialize, Deserialize)]
pub struct Stop<const SLEEPS: bool, const PREPARES: bool> {
    chain: Vec<RigidBodyHandle>,
    /// The input is not used. A push of another body would prepare the joints, too.
    input: f32,
}

impl<const SLEEPS: bool, const PREPARES: bool> Scene for Stop<SLEEPS, PREPARES> {
    fn build(world: &mut dyn World) -> Self {
        floor(world);
        let links = [(0.0, 0.0), (1.0, 0.1), (2.0, 0.0)].map(|(x, z)| {
            let body = at(Dynamic, x, 1.5, z);
            world.insert(body, ColliderBuilder::ball(0.4))
        });
        for ends in links.windows(2) {
            let joint = between(ball_joint(Vector::ZERO, Vector::ZERO));
            (world.except_bodies()).insert_impulse_joint(ends[0], ends[1], joint);
        }
        let (chain, input) = (links.into(), 0.0);
        Self { chain, input }
    }

    fn before_step(&mut self, world: &mut dyn World, tick: u64, input: f32) {
        self.input = input;
        if PREPARES {
            let of_none = ImpulseJointHandle::invalid();
            world.except_bodies().impulse_joints.remove(of_none, false);
        }
        let [first, middle, last] = [0, 1, 2].map(|i| self.chain[i]);
        match (tick, SLEEPS) {
            (3, false) => world.body(last).set_linvel(vector(-3.0, 9.0, 5.0), true),
            (FIXED_AT, false) => world.body(first).set_body_type(Fixed, true),
            (20, true) => world.body(middle).sleep(),
            _ => (),
        }
    }

    fn check(&self, physics: &PhysicsWorld) {
        let height = physics.bodies[self.chain[1]].translation().y;
        assert!(
            !SLEEPS || height < 0.5,
            "{height} m: the link was never woken"
        );
    }
}
