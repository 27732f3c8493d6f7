//! A ragdoll: a figure whose bones an animation moves, until it is hit and falls.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

/// Head, arms and legs: x, the y of the joint, and the y of the middle, all relative to the trunk.
const LIMBS: [[f32; 3]; 5] = [
    [0.0, 0.35, 0.5],
    [0.3, 0.3, 0.0],
    [-0.3, 0.3, 0.0],
    [0.1, -0.35, -0.7],
    [-0.1, -0.35, -0.7],
];

/// A figure of six bones.
#[derive(Clone, Debug)]
pub struct Ragdoll {
    /// The bone to which the others are joined.
    pub trunk: BodyKey,
    /// The head, the arms and the legs.
    pub limbs: [Limb; 5],
}

/// A bone that is joined to the trunk.
#[derive(Clone, Debug)]
pub struct Limb {
    /// The bone.
    pub key: BodyKey,
    /// The joint in the frame of the trunk.
    pub on_trunk: Vector,
    /// The joint in the frame of this bone.
    pub on_limb: Vector,
}

impl Ragdoll {
    /// Inserts the figure, with the middle of its trunk at this position. Set the velocities of its `bones` in each step.
    pub fn build(physics: &mut Physics, trunk: Vector) -> Self {
        let position = trunk;
        let trunk = insert_bone(physics, position, 0.25);
        let limbs = LIMBS.map(|[x, joint, middle]| {
            let half_height = (joint - middle).abs() - 0.1;
            let key = insert_bone(physics, position + Vector::new(x, middle, 0.0), half_height);
            let [on_trunk, on_limb] = [Vector::new(x, joint, 0.0), Vector::Y * (joint - middle)];
            let data = SphericalJointBuilder::new()
                .local_anchor1(on_trunk)
                .local_anchor2(on_limb)
                .contacts_enabled(false); // neighbouring bones overlap
            let [a, b] = [trunk, key].map(|key| physics.handle(key).unwrap());
            let rapier = physics.rapier_mut_except_bodies();
            rapier.insert_impulse_joint(a, b, data);
            Limb {
                key,
                on_trunk,
                on_limb,
            }
        });
        Self { trunk, limbs }
    }

    /// Returns all bones.
    pub fn bones(&self) -> impl Iterator<Item = BodyKey> {
        let limbs = self.limbs.iter().map(|limb| limb.key);
        limbs.chain([self.trunk])
    }

    /// Lets the figure fall. Its bones keep their velocities.
    pub fn fall(&self, physics: &mut Physics) {
        for key in self.bones() {
            let body = physics.body_mut(key).unwrap();
            body.set_body_type(RigidBodyType::Dynamic, true);
        }
    }
}

fn insert_bone(physics: &mut Physics, position: Vector, half_height: f32) -> BodyKey {
    let body = RigidBodyBuilder::kinematic_velocity_based().translation(position);
    physics.insert(body, ColliderBuilder::capsule_y(half_height, 0.1))
}
