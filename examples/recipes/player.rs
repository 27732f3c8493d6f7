//! A player that is moved by forces. It walks and jumps, and ropes, pushes and explosions move it, too.

use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Physics};

/// The capsule's dimensions, in metres.
const HALF_HEIGHT: f32 = 0.5; // without its caps
const RADIUS: f32 = 0.3;
const GRIP: f32 = 10.0; // m/s² for each m/s that the player is too slow
const JUMP: f32 = 5.0; // m/s

/// Inserts a player, with its feet at this position.
pub fn insert(physics: &mut Physics, feet: Vector) -> BodyKey {
    let body = RigidBodyBuilder::dynamic()
        .translation(feet + Vector::Y * (HALF_HEIGHT + RADIUS))
        .lock_rotations();
    let capsule = ColliderBuilder::capsule_y(HALF_HEIGHT, RADIUS)
        .friction(0.0)
        .friction_combine_rule(CoefficientCombineRule::Min);
    physics.insert(body, capsule)
}

/// Moves the player. Call it in the hook before each step. `velocity` is horizontal.
pub fn walk(
    physics: &mut Physics,
    player: BodyKey,
    velocity: Vector,
    jumps: bool,
) -> Result<(), BodyError> {
    let body = physics.body(player).unwrap();
    let (mass, missing) = (body.mass(), velocity - body.linvel());
    let missing = Vector::new(missing.x, 0.0, missing.z);
    physics.add_force(player, missing * mass * GRIP)?;
    if jumps && is_on_ground(physics, player) {
        physics.apply_impulse(player, Vector::Y * mass * JUMP)?;
    }
    Ok(())
}

fn is_on_ground(physics: &Physics, player: BodyKey) -> bool {
    let centre = physics.body(player).unwrap().translation();
    let own = physics.handle(player).unwrap();
    let filter = QueryFilter::new().exclude_rigid_body(own).exclude_sensors();
    let down = Ray::new(centre, Vector::NEG_Y);
    let reach = HALF_HEIGHT + RADIUS + 0.05;
    let ground = physics.rapier().cast_ray(&down, reach, true, filter);
    ground.is_some()
}
