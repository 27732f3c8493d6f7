//! A player moved by forces.

use super::{SECOND, position};
use evenstep::Rate;
use evenstep::rapier::prelude::*;
use recipes::player;
use scenes::with_floor;

/// Returns the position of the player before each step.
fn run(frames_per_second: u32) -> Vec<Vector> {
    const STEPS: usize = 160;
    let mut simulation = with_floor(Rate::default());
    let player = player::insert(&mut simulation.physics, Vector::Y * 0.1);
    let mut path = Vec::new();
    while path.len() < STEPS {
        simulation.advance(SECOND / frames_per_second, |physics, step| {
            path.push(position(physics, player).translation);
            let jumps = [60, 80].contains(&step.tick);
            player::walk(physics, player, Vector::X * 4.0, jumps).unwrap();
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
