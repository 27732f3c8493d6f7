//! The overlay: the score, pause and rewind, and a cross to aim with.

use evenstep_platformer::game::Game;
use evenstep_platformer::time::TimeKeys;
use kiss3d::glamx::Vec2;
use kiss3d::text::Font;
use kiss3d::window::Window;

use crate::draw::color;

pub fn draw(window: &mut Window, game: &Game) {
    let pickups = &game.state().pickups;
    let score = pickups.score();
    let all = score as usize + pickups.left();
    write(
        window,
        &format!("{score} of {all}"),
        Vec2::new(28.0, 20.0),
        64.0,
    );
    write(window, time(game.time), Vec2::new(28.0, 92.0), 44.0);
    draw_cross(window);
}

fn time(keys: TimeKeys) -> &'static str {
    match keys {
        TimeKeys {
            is_rewinding: true, ..
        } => "back",
        TimeKeys {
            is_paused: true, ..
        } => "pause",
        TimeKeys { is_slow: true, .. } => "slow",
        _ => "",
    }
}

fn write(window: &mut Window, text: &str, at: Vec2, size: f32) {
    window.draw_text(text, at, size, &Font::default(), color([0.12, 0.14, 0.2]));
}

/// Draws a cross. The origin is the centre of the window.
fn draw_cross(window: &mut Window) {
    for way in [Vec2::X, Vec2::Y] {
        for side in [-1.0, 1.0] {
            let (from, to) = (way * side * 5.0, way * side * 13.0);
            window.draw_line_2d(from, to, color([1.0, 1.0, 1.0]), 2.0);
        }
    }
}
