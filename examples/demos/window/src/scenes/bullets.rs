//! A gun, and a thin wall: every other bullet has continuous collision detection.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

use super::{Cast, Moment, ball, begins_period, block, remove_old};
use crate::paint::Paint;

/// The simulated time between two bullets, in seconds.
const PERIOD: f64 = 0.5;
/// The speed of a bullet, in m/s.
const SPEED: f32 = 60.0;

pub(super) fn build(physics: &mut Physics) -> Cast {
    let wall = RigidBodyBuilder::fixed()
        .translation(Vector::new(2.0, 1.2, 0.0))
        .user_data(Paint::Stone.into());
    physics.insert(wall, ColliderBuilder::cuboid(0.03, 1.2, 2.0));
    let gun = RigidBodyBuilder::fixed()
        .translation(Vector::new(-6.0, 1.2, 0.0))
        .user_data(Paint::Stone.into());
    physics.insert(gun, ColliderBuilder::cuboid(0.6, 0.18, 0.18).sensor(true));
    for number in 0..9u8 {
        let [column, row] = [number % 3, number / 3].map(f32::from);
        let at = Vector::new(4.5, 0.36 + 0.72 * row, (column - 1.0) * 0.8);
        let (body, collider) = block(at, Vector::splat(0.35), Paint::Piece(number));
        physics.insert(body, collider.density(0.4));
    }
    // A slow ball, to be plotted and compared.
    let (body, collider) = ball(Vector::new(-4.0, 0.3, 1.8), 0.3, Paint::Followed);
    let followed = physics.insert(body.linvel(Vector::X * 2.5), collider.restitution(0.9));
    Cast {
        followed,
        ..Cast::default()
    }
}

pub(super) fn step(physics: &mut Physics, cast: &mut Cast, moment: Moment) {
    remove_old(physics, cast, moment.step, 3);
    if begins_period(moment.step, PERIOD) {
        #[expect(
            clippy::disallowed_methods,
            reason = "a picture need not be deterministic"
        )]
        let aim = (f64::from(cast.thrown) * 0.7).sin() as f32;
        let from = Vector::new(-5.2, 1.2, 0.0) - moment.origin;
        let key = fire(physics, cast, from, Vector::new(1.0, 0.03, 0.08 * aim));
        cast.passing.push((moment.step.start_time, key));
    }
}

fn fire(physics: &mut Physics, cast: &mut Cast, from: Vector, direction: Vector) -> BodyKey {
    let has_ccd = cast.thrown.is_multiple_of(2);
    cast.thrown += 1;
    let paint = Paint::Piece(if has_ccd { 2 } else { 1 });
    let (body, collider) = ball(from, 0.13, paint);
    let body = body
        .linvel(direction.normalize() * SPEED)
        .ccd_enabled(has_ccd);
    physics.insert(body, collider.density(6.0))
}
