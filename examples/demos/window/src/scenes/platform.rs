//! A platform and a lift, with riders.

use evenstep::Physics;
use evenstep::rapier::prelude::*;

use super::{Cast, Moment, block};
use crate::paint::Paint;

pub(super) fn build(physics: &mut Physics) -> Cast {
    let slab = |at: Vector| {
        RigidBodyBuilder::kinematic_position_based()
            .translation(at)
            .user_data(Paint::Stone.into())
    };
    let [platform, lift] = [0, 1].map(|mover| path(mover, 0.0));
    let movers = vec![
        physics.insert(
            slab(platform),
            ColliderBuilder::cuboid(1.4, 0.12, 1.0).friction(1.5),
        ),
        physics.insert(
            slab(lift),
            ColliderBuilder::cuboid(1.1, 0.12, 1.1).friction(1.5),
        ),
    ];
    let mut followed = None;
    for (number, place) in [(-0.8, 0.4), (0.0, -0.3), (0.8, 0.3)]
        .into_iter()
        .enumerate()
    {
        let at = platform + Vector::new(place.0, 0.42, place.1);
        let paint = if number == 1 {
            Paint::Followed
        } else {
            Paint::Piece(number as u8)
        };
        let (body, collider) = block(at, Vector::splat(0.3), paint);
        let key = physics.insert(body, collider.friction(1.5));
        if number == 1 {
            followed = Some(key);
        }
    }
    for number in 0..4u8 {
        let at = lift + Vector::new(0.0, 0.4 + 0.5 * f32::from(number), 0.0);
        let half = Vector::new(0.45 - 0.07 * f32::from(number), 0.25, 0.4);
        let (body, collider) = block(at, half, Paint::Piece(number));
        physics.insert(body, collider);
    }
    Cast {
        followed: followed.expect("the riders contain the plotted body"),
        movers,
        ..Cast::default()
    }
}

/// Moves both to their positions at the end of the step, so that riders feel the visible velocity.
pub(super) fn step(physics: &mut Physics, cast: &mut Cast, moment: Moment) {
    let time = (moment.step.end_time - cast.since).as_secs_f32();
    for (mover, key) in cast.movers.iter().enumerate() {
        let next = path(mover, time) - moment.origin;
        if let Some(body) = physics.body_mut(*key) {
            body.set_next_kinematic_translation(next);
        }
    }
}

/// Returns the position of the platform (0) or the lift (1) in the scene.
#[expect(
    clippy::disallowed_methods,
    reason = "only runs on one machine are compared"
)]
fn path(mover: usize, time: f32) -> Vector {
    let swing = |seconds: f32| (time * std::f32::consts::TAU / seconds).sin();
    if mover == 0 {
        Vector::new(2.2 * swing(4.4), 1.0, 1.4)
    } else {
        Vector::new(2.6, 1.2 + swing(4.0), -2.0)
    }
}
