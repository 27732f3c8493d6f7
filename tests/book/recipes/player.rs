//! A player moved by forces.

use super::*;
use evenstep::BodyError;

/// The capsule's dimensions, in metres.
const HALF_HEIGHT: f32 = 0.5; // without its caps
const RADIUS: f32 = 0.3;
const GRIP: f32 = 10.0; // m/s² for each m/s that the player is too slow
const JUMP: f32 = 5.0; // m/s

/// Call it in the hook before each step. `velocity` is horizontal.
fn walk(
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

/// Returns the position of the player before each step.
fn run(frames_per_second: u32) -> Vec<Vector> {
    const STEPS: usize = 160;
    let mut simulation = with_floor(Rate::default());
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::Y * 0.9)
        .lock_rotations();
    let capsule = ColliderBuilder::capsule_y(HALF_HEIGHT, RADIUS)
        .friction(0.0)
        .friction_combine_rule(CoefficientCombineRule::Min);
    let player = simulation.physics.insert(body, capsule);
    let mut path = Vec::new();
    while path.len() < STEPS {
        simulation.advance(SECOND / frames_per_second, |physics, step| {
            path.push(position(physics, player).translation);
            let jumps = [60, 80].contains(&step.tick);
            walk(physics, player, Vector::X * 4.0, jumps).unwrap();
        });
    }
    path.truncate(STEPS);
    path
}

#[test]
fn a_player_moved_by_forces_keeps_its_speed_and_jumps_once() {
    let path = run(60);
    let distance = path[150].x - path[90].x; // in a second
    assert!((distance - 4.0).abs() < 0.05, "{distance} m");
    let highest = path.iter().map(|position| position.y).fold(0.0, f32::max);
    let height = highest - path[60].y;
    assert!((height - 1.26).abs() < 0.02, "{height} m"); // at tick 80 it is in the air
    for frames_per_second in [15, 144] {
        assert_eq!(run(frames_per_second), path, "at {frames_per_second}");
    }
}
