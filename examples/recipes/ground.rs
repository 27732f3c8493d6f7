//! The kind of ground under a body, in a level of one fixed body with many colliders.

use evenstep::{BodyKey, Physics};

/// The user data of stone colliders.
pub const STONE: u128 = 1;
/// The user data of grass colliders.
pub const GRASS: u128 = 2;

/// Returns the surface on which the ball lies, if any.
pub fn surface(physics: &Physics, ball: BodyKey, level: BodyKey) -> Option<u128> {
    let touches = physics.touching(ball);
    let touch = touches.iter().find(|touch| touch.body == Some(level))?;
    Some(physics.rapier().colliders[touch.other].user_data)
}
