//! The path of a throw before the player lets go.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

/// Returns the pose after each of `steps` steps, if the ball is thrown now with this impulse. `hook` is your game's.
pub fn path(
    physics: &Physics,
    ball: BodyKey,
    impulse: Vector,
    steps: u64,
    mut hook: impl FnMut(&mut Physics, Step),
) -> Vec<Pose> {
    let mut path = Vec::new();
    let last = physics.preview(steps, |physics, step| {
        if path.is_empty() {
            physics.apply_impulse(ball, impulse).unwrap();
        }
        path.push(*physics.body(ball).unwrap().position());
        hook(physics, step);
    });
    path.push(*last.body(ball).unwrap().position());
    path.split_off(1)
}
