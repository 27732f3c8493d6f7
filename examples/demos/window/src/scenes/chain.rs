//! Chains of joints with a weight at their end. They show what steps of varying length do to joints.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

use super::{Cast, ball, block};
use crate::paint::Paint;

const LINKS: u8 = 14;
const HALF: f32 = 0.17;
const HEIGHT: f32 = 5.8;

pub(super) fn build(physics: &mut Physics) -> Cast {
    // With Rapier's four, a chain is limp at 10 Hz.
    physics
        .rapier_mut_except_bodies()
        .integration_parameters
        .num_solver_iterations = 16;
    let mut followed = BodyKey::default();
    for (number, x) in [-3.2, 0.0, 3.2].into_iter().enumerate() {
        let paint = Paint::Piece(number as u8);
        let at = Vector::new(x, HEIGHT, 0.0);
        let beam = RigidBodyBuilder::fixed()
            .translation(at)
            .user_data(Paint::Stone.into());
        let mut last = physics.insert(beam, ColliderBuilder::cuboid(0.3, 0.12, 0.3));
        for link in 0..LINKS {
            // The chain starts to the back, so that it swings.
            let place = at - Vector::Z * (2.0 * f32::from(link) + 1.0) * HALF;
            let (body, collider) = block(place, Vector::new(0.07, 0.07, HALF * 0.9), paint);
            let next = physics.insert(body, collider);
            let end = if link == 0 {
                Vector::ZERO
            } else {
                -Vector::Z * HALF
            };
            join(physics, last, next, end, Vector::Z * HALF);
            last = next;
        }
        let place = at - Vector::Z * (2.0 * f32::from(LINKS) * HALF + 0.3);
        let is_followed = number == 1;
        let paint = if is_followed { Paint::Followed } else { paint };
        let (body, collider) = ball(place, 0.32, paint);
        let weight = physics.insert(body, collider.density(4.0));
        join(physics, last, weight, -Vector::Z * HALF, Vector::Z * 0.3);
        if is_followed {
            followed = weight;
        }
    }
    Cast {
        followed,
        axis: 2,
        ..Cast::default()
    }
}

fn join(physics: &mut Physics, one: BodyKey, other: BodyKey, end: Vector, start: Vector) {
    let handles = [one, other].map(|key| physics.handle(key).unwrap());
    let joint = SphericalJointBuilder::new()
        .local_anchor1(end)
        .local_anchor2(start)
        .contacts_enabled(false);
    let world = physics.rapier_mut_except_bodies();
    world.insert_impulse_joint(handles[0], handles[1], joint);
}
