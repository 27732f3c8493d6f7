//! A script from Unity in evenstep.

use super::{SECOND, position};
use evenstep::rapier::prelude::*;
use recipes::unity_script::Game;

/// Returns the highest position above the start, the speed and the thuds of two seconds, with a press in the first
/// frame after 0.2 s. The player lands once at the start and once after the jump.
fn run(frames_per_second: u32) -> (f32, f32, usize) {
    let mut game = Game::new();
    let mut highest = 0.0f32;
    for frame in 0..2 * frames_per_second {
        let is_pressed = frame == frames_per_second / 5;
        game.update(1.0, is_pressed);
        game.frame(SECOND / frames_per_second);
        let drawn = game.simulation.pose(game.player).unwrap().translation;
        assert_eq!(game.camera, drawn + Vector::new(0.0, 2.0, 8.0));
        highest = highest.max(
            position(&game.simulation.physics, game.player)
                .translation
                .y,
        );
    }
    let speed = game
        .simulation
        .physics
        .body(game.player)
        .unwrap()
        .linvel()
        .x;
    (highest - 0.8, speed, game.thuds)
}

#[test]
fn each_press_is_one_jump_of_the_same_height_at_every_frame_rate() {
    for frames_per_second in [20, 60, 144, 240] {
        let (height, speed, thuds) = run(frames_per_second);
        assert!((height - 1.25).abs() < 0.03, "{height} m");
        assert!((speed - 4.0).abs() < 0.01, "{speed} m/s");
        assert_eq!(thuds, 2);
    }
}
