//! Bodies that turn about a point other than their origin. Interpolated about their origin, they would drift.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

use super::Cast;
use crate::paint::Paint;

/// Revolutions per second.
const TURNS: [f32; 4] = [0.5, 1.0, 2.0, 3.0];

pub(super) fn build(physics: &mut Physics) -> Cast {
    let mut followed = BodyKey::default();
    for (number, turns) in TURNS.into_iter().enumerate() {
        let x = (number as f32 - 1.5) * 2.7;
        let is_followed = number == 1;
        let paint = if is_followed {
            Paint::Followed
        } else {
            Paint::Piece(number as u8)
        };
        let key = hammer(physics, Vector::new(x, 3.2, 0.0), Vector::Z * turns, paint);
        hammer(
            physics,
            Vector::new(x, 1.0, 0.8),
            Vector::Y * turns,
            Paint::Piece(number as u8 + 1),
        );
        if is_followed {
            followed = key;
        }
    }
    Cast {
        followed,
        ..Cast::default()
    }
}

/// Inserts a hammer with a heavy head. Its origin is at the end of the handle.
fn hammer(physics: &mut Physics, at: Vector, turns: Vector, paint: Paint) -> BodyKey {
    let body = RigidBodyBuilder::dynamic()
        .translation(at - Vector::X * 0.7)
        .gravity_scale(0.0)
        .angvel(turns * std::f32::consts::TAU)
        .can_sleep(false)
        .user_data(paint.into());
    let handle = ColliderBuilder::cuboid(0.5, 0.07, 0.07).translation(Vector::X * 0.5);
    let key = physics.insert(body, handle.density(0.5));
    let head = ColliderBuilder::cuboid(0.16, 0.34, 0.2).translation(Vector::X * 1.0);
    let head = physics.insert_collider(key, head);
    head.unwrap();
    key
}
