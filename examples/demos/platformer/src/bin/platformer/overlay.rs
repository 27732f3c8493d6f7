//! The overlay: the score, the switches, the controls, and a cross to aim with.
//!
//! Lengths are in pixels of a display without scaling.

use std::time::Duration;

use evenstep_platformer::game::Game;
use evenstep_platformer::time::TimeKeys;
use kiss3d::color::Color;
use kiss3d::event::{Key, TouchAction, WindowEvent};
use kiss3d::glamx::Vec2;
use kiss3d::text::Font;
use kiss3d::window::Window;

use crate::draw::color;
use crate::host;
use crate::lines::Lines;

const INK: [f32; 3] = [0.12, 0.14, 0.2];
/// The position of the score, the first text of the picture.
const CORNER: Vec2 = Vec2::new(24.0, 14.0);
/// The position of the first row of a switch.
const ROWS: Vec2 = Vec2::new(24.0, 62.0);
/// The size of a row with a key, and of one for fingers.
const KEY_ROW: Vec2 = Vec2::new(330.0, 28.0);
const TOUCH_ROW: Vec2 = Vec2::new(330.0, 44.0);
/// The height of letters with their space above and below.
const TEXT: f32 = 24.0;
/// The space above the controls, which are below the rows: the hero is never there.
const ABOVE: f32 = 14.0;
/// How long the controls stay after the first input, and how long they then fade.
const STAY: Duration = Duration::from_secs(3);
const FADE: Duration = Duration::from_secs(1);

/// The controls of a touch screen.
const TOUCH: [&str; 4] = [
    "left: drag to walk",
    "right: drag to look around,",
    "tap low to jump,",
    "tap high to shoot",
];

/// A setting with a row, which its key or a tap on the row changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// Interpolation between steps, or none.
    Interpolation,
    /// Full speed or slow motion.
    Speed,
    /// Debug lines.
    Lines,
}

impl Switch {
    pub const ALL: [Self; 3] = [Self::Interpolation, Self::Speed, Self::Lines];

    /// Returns the key that changes the setting.
    pub fn key(self) -> Key {
        match self {
            Self::Interpolation => Key::I,
            Self::Speed => Key::Q,
            Self::Lines => Key::L,
        }
    }

    /// Returns the present setting in words.
    fn setting(self, game: &Game, lines: Lines) -> &'static str {
        match self {
            Self::Interpolation if game.is_interpolated() => "interpolated by evenstep",
            Self::Interpolation => "not interpolated",
            Self::Speed => speed(game.time),
            Self::Lines => match lines {
                Lines::Off => "debug lines: off",
                Lines::Displayed => "debug lines: displayed poses",
                Lines::True => "debug lines: true poses",
            },
        }
    }
}

fn speed(keys: TimeKeys) -> &'static str {
    if keys.is_rewinding {
        "rewind"
    } else if keys.is_paused {
        "paused"
    } else if keys.is_slow {
        "slow motion"
    } else {
        "full speed"
    }
}

/// The overlay, and the player's device.
#[derive(Debug, Default)]
pub struct Overlay {
    /// The debug lines.
    pub lines: Lines,
    /// Whether the player uses a touch screen, whose rows are larger.
    pub is_touch: bool,
    /// The real time of the first key, click or touch.
    first_input: Option<Duration>,
}

impl Overlay {
    /// Reads an event at this real time. The controls fade after the first key, click or touch, and a touch shows those
    /// for fingers.
    pub fn take(&mut self, event: WindowEvent, now: Duration) {
        let is_touch = matches!(event, WindowEvent::Touch(_, _, _, TouchAction::Start, _));
        self.is_touch |= is_touch;
        if is_touch || matches!(event, WindowEvent::Key(..) | WindowEvent::MouseButton(..)) {
            self.first_input.get_or_insert(now);
        }
    }

    /// Returns the switch whose row is at a position.
    pub fn switch_at(&self, at: Vec2) -> Option<Switch> {
        let [column, row] = ((at - ROWS) / self.row()).to_array();
        let is_inside = (0.0..1.0).contains(&column) && row >= 0.0;
        Switch::ALL.get(row as usize).copied().filter(|_| is_inside)
    }

    fn row(&self) -> Vec2 {
        if self.is_touch { TOUCH_ROW } else { KEY_ROW }
    }

    /// Returns the opacity of the controls.
    fn visibility(&self, now: Duration) -> f32 {
        let Some(first) = self.first_input else {
            return 1.0;
        };
        let faded = now.saturating_sub(first + STAY);
        1.0 - faded.div_duration_f32(FADE).min(1.0)
    }

    /// Adds the overlay to the next picture of a window.
    pub fn draw(&self, window: &mut Window, game: &Game) {
        let mut pen = Pen::new(window);
        let pickups = &game.state().pickups;
        let (score, left) = (pickups.score(), pickups.left());
        let all = score as usize + left;
        pen.write(&format!("coins: {score} of {all}"), CORNER, 44.0, 1.0);
        for (number, switch) in Switch::ALL.into_iter().enumerate() {
            let at = ROWS + Vec2::Y * self.row().y * number as f32;
            self.draw_row(&mut pen, at, switch, switch.setting(game, self.lines));
        }
        let opacity = if game.time.is_paused {
            1.0
        } else {
            self.visibility(game.real_time())
        };
        self.draw_controls(&mut pen, opacity);
        pen.draw_cross();
    }

    fn draw_row(&self, pen: &mut Pen, at: Vec2, switch: Switch, setting: &str) {
        let row = self.row();
        let text = at + Vec2::new(0.0, (row.y - TEXT) / 2.0);
        if self.is_touch {
            pen.fill(at, row - Vec2::Y * 6.0);
            pen.write(setting, text + Vec2::new(10.0, -3.0), TEXT, 1.0);
        } else {
            pen.fill(text, Vec2::splat(TEXT));
            let key = format!("{:?}", switch.key());
            pen.write(&key, text + Vec2::X * 8.0, TEXT, 1.0);
            pen.write(setting, text + Vec2::X * 34.0, TEXT, 1.0);
        }
    }

    fn draw_controls(&self, pen: &mut Pen, opacity: f32) {
        let controls: &[&str] = if self.is_touch { &TOUCH } else { &host::KEYS };
        let top = ROWS + Vec2::Y * (self.row().y * Switch::ALL.len() as f32 + ABOVE);
        for (number, line) in controls.iter().enumerate() {
            pen.write(
                line,
                top + Vec2::Y * KEY_ROW.y * number as f32,
                TEXT,
                opacity,
            );
        }
    }
}

/// Draws in a window whose display may be scaled. Positions are counted from the upper left corner, to the right and
/// down.
struct Pen<'w> {
    window: &'w mut Window,
    scale: f32,
}

impl<'w> Pen<'w> {
    fn new(window: &'w mut Window) -> Self {
        let scale = window.scale_factor() as f32;
        Self { window, scale }
    }

    fn size(&self) -> Vec2 {
        self.window.size().as_vec2() / self.scale
    }

    fn write(&mut self, text: &str, at: Vec2, height: f32, opacity: f32) {
        let ink = Color {
            a: opacity,
            ..color(INK)
        };
        let (at, height) = (at * self.scale, height * self.scale);
        self.window
            .draw_text(text, at, height, &Font::default(), ink);
    }

    /// Fills a rectangle with a light colour, through which the scene is visible.
    fn fill(&mut self, corner: Vec2, size: Vec2) {
        // Kiss3d draws lines, from the centre of the window to the right and up.
        let start = corner + Vec2::Y * size.y / 2.0 - self.size() / 2.0;
        let [from, to] = [start, start + Vec2::X * size.x].map(|at| Vec2::new(at.x, -at.y));
        let light = Color::new(1.0, 1.0, 1.0, 0.5);
        self.window.draw_line_2d(from, to, light, size.y);
    }

    /// Draws a cross at the centre.
    fn draw_cross(&mut self) {
        for way in [Vec2::X, Vec2::Y] {
            for side in [-1.0, 1.0] {
                let (from, to) = (way * side * 5.0, way * side * 13.0);
                let white = color([1.0, 1.0, 1.0]);
                self.window.draw_line_2d(from, to, white, 2.0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kiss3d::event::{Action, Modifiers};

    use super::*;

    #[test]
    fn a_tap_on_a_row_finds_its_switch() {
        let mut overlay = Overlay::default();
        for row in [KEY_ROW, TOUCH_ROW] {
            let at = |column: f32, number: f32| {
                overlay.switch_at(ROWS + row * Vec2::new(column, number))
            };
            for (number, switch) in Switch::ALL.into_iter().enumerate() {
                let number = number as f32;
                assert_eq!(at(0.1, number + 0.1), Some(switch));
                assert_eq!(at(0.9, number + 0.9), Some(switch));
            }
            assert_eq!(at(0.5, -0.1), None);
            assert_eq!(at(0.5, 3.1), None);
            assert_eq!(at(-0.1, 1.5), None);
            assert_eq!(at(1.1, 1.5), None);
            overlay.is_touch = true;
        }
    }

    #[test]
    fn the_controls_fade_after_the_first_input() {
        let mut overlay = Overlay::default();
        let hour = Duration::from_secs(3_600);
        let no_modifiers = Modifiers::empty();
        overlay.take(
            WindowEvent::CursorPos(1.0, 2.0, no_modifiers),
            Duration::ZERO,
        );
        assert_eq!(overlay.visibility(hour), 1.0);
        let key = WindowEvent::Key(Key::W, Action::Press, no_modifiers);
        overlay.take(key, hour);
        overlay.take(key, hour + STAY);
        assert_eq!(overlay.visibility(hour + STAY), 1.0);
        assert_eq!(overlay.visibility(hour + STAY + FADE / 2), 0.5);
        assert_eq!(overlay.visibility(hour + STAY + FADE * 2), 0.0);
    }

    #[test]
    fn a_touch_selects_the_touch_controls() {
        let mut overlay = Overlay::default();
        let touch = |action| WindowEvent::Touch(1, 0.0, 0.0, action, Modifiers::empty());
        overlay.take(touch(TouchAction::Move), Duration::ZERO);
        assert_eq!(overlay.first_input, None);
        overlay.take(touch(TouchAction::Start), Duration::ZERO);
        assert!(overlay.is_touch);
        assert_eq!(overlay.first_input, Some(Duration::ZERO));
    }
}
