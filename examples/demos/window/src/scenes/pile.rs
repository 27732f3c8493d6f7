//! Crates in a wall, and a ball that is thrown at it.

use evenstep::Physics;
use evenstep::rapier::prelude::*;

use super::{Cast, Moment, ball, begins_period, block, place};
use crate::paint::Paint;

const HALF: f32 = 0.4;
const ROWS: u8 = 5;

/// The simulated time between two throws, in seconds.
const PERIOD: f64 = 2.0;

pub(super) fn build(physics: &mut Physics) -> Cast {
    for row in 0..ROWS {
        let count = ROWS - row + 1;
        for place in 0..count {
            let x = (f32::from(place) - f32::from(count - 1) / 2.0) * HALF * 2.05;
            let at = Vector::new(x, HALF * (2.0 * f32::from(row) + 1.0), 0.0);
            let paint = Paint::Piece((row + place) % 4);
            let (body, collider) = block(at, Vector::splat(HALF), paint);
            physics.insert(body, collider);
        }
    }
    let top = Vector::new(0.0, HALF * 2.0 * f32::from(ROWS) + 1.2, 0.0);
    let (body, collider) = ball(top, 0.42, Paint::Followed);
    let collider = collider.restitution(0.7).density(2.0);
    let followed = physics.insert(body.linvel(Vector::X * 0.6), collider);
    Cast {
        followed,
        axis: 1,
        ..Cast::default()
    }
}

/// Throws the ball, from both sides in turn.
pub(super) fn step(physics: &mut Physics, cast: &mut Cast, moment: Moment) {
    if !begins_period(moment.step, PERIOD) {
        return;
    }
    let side = if cast.thrown.is_multiple_of(2) {
        1.0
    } else {
        -1.0
    };
    cast.thrown += 1;
    let at = Vector::new(side * 1.2, 2.2, side * 9.0) - moment.origin;
    let velocity = Vector::new(-side * 1.6, 3.2, -side * 12.0);
    place(
        physics,
        cast.followed,
        Pose::from_translation(at),
        velocity,
        Vector::ZERO,
    );
}
