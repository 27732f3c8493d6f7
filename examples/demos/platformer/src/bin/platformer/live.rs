//! The loop of the window: reads events, runs a frame of the game, and draws it.

use std::error::Error;

use evenstep::input::{Button, Delivery};
use evenstep_platformer::controls::{Input, Way};
use evenstep_platformer::game::Game;
use evenstep_platformer::level::Level;
use evenstep_platformer::touch::{Fingers, Phase};
use kiss3d::event::{Action, Key, MouseButton, TouchAction, WindowEvent};
use kiss3d::glamx::Vec2;

use crate::Log;
use crate::host::{self, Clock, Mouse};
use crate::overlay::{Overlay, Switch};
use crate::stage::Stage;

/// Runs until the window is closed, or Escape is pressed.
pub async fn run(mut log: Log, size: (u32, u32)) -> Result<(), Box<dyn Error>> {
    let mut stage = Stage::open(size).await;
    stage.overlay.is_touch = host::is_touch();
    let mut hands = Hands {
        mouse: Mouse::default(),
        pause: Button::default(),
        switches: [Button::default(); Switch::ALL.len()],
        fingers: Fingers::default(),
        size: Vec2::ONE,
        touch_scale: 1.0,
    };
    // The window is polled once per frame, and its events have no time.
    let mut game = Game::new(&Level::islands(), Delivery::NextStep);
    let mut clock = Clock::start();
    loop {
        let scale = stage.window.scale_factor() as f32;
        hands.size = stage.window.size().as_vec2() / scale;
        hands.touch_scale = host::touch_scale(scale);
        game.set_aspect(hands.size.x / hands.size.y.max(1.0));
        for event in stage.window.events().iter() {
            if matches!(event.value, WindowEvent::Key(Key::Escape, ..)) {
                return Ok(());
            }
            stage.overlay.take(event.value, game.real_time());
            hands.take(event.value, &mut game, &mut stage.overlay);
        }
        // During a pause the player may use the cursor.
        hands.mouse.hold(&stage.window, !game.time.is_paused);
        hands.mouse.recentre(&stage.window);
        game.frame(clock.frame());
        if let Some(log) = &mut log {
            log.write(&game)?;
        }
        if !stage.draw(&game).await {
            return Ok(());
        }
    }
}

/// The state of the input devices between events.
struct Hands {
    mouse: Mouse,
    pause: Button,
    switches: [Button; Switch::ALL.len()],
    fingers: Fingers,
    /// The size of the window, in pixels of a display without scaling.
    size: Vec2,
    /// The number of units of touches per such pixel.
    touch_scale: f32,
}

impl Hands {
    fn take(&mut self, event: WindowEvent, game: &mut Game, overlay: &mut Overlay) {
        let now = game.real_time();
        match event {
            WindowEvent::Key(key, action, _) => {
                self.take_key(key, action == Action::Press, game, overlay);
            }
            WindowEvent::MouseButton(MouseButton::Button1, action, _) => {
                game.input(now, Input::Shoot(action == Action::Press));
            }
            WindowEvent::CursorPos(x, y, _) => {
                let by = self.mouse.moved(Vec2::new(x as f32, y as f32));
                game.turn(now, by.x, by.y);
            }
            WindowEvent::Touch(finger, x, y, action, _) => {
                let at = Vec2::new(x as f32, y as f32) / self.touch_scale;
                let phase = match action {
                    TouchAction::Start => Phase::Down,
                    TouchAction::Move => Phase::Move,
                    TouchAction::End | TouchAction::Cancel => Phase::Up,
                };
                match overlay.switch_at(at) {
                    Some(switch) if phase == Phase::Down => flip(switch, game, overlay),
                    _ => self.fingers.take(finger, phase, at, self.size, game),
                }
            }
            _ => (),
        }
    }

    fn take_key(&mut self, key: Key, down: bool, game: &mut Game, overlay: &mut Overlay) {
        let now = game.real_time();
        match key {
            Key::W | Key::Up => game.input(now, Input::Walk(Way::Forward, down)),
            Key::S | Key::Down => game.input(now, Input::Walk(Way::Back, down)),
            Key::A | Key::Left => game.input(now, Input::Walk(Way::Left, down)),
            Key::D | Key::Right => game.input(now, Input::Walk(Way::Right, down)),
            Key::Space => game.input(now, Input::Jump(down)),
            Key::P => game.time.is_paused ^= is_pressed(&mut self.pause, down),
            Key::R => game.time.is_rewinding = down,
            _ => {
                let switch = Switch::ALL.into_iter().find(|switch| switch.key() == key);
                if let Some(switch) = switch
                    && is_pressed(&mut self.switches[switch as usize], down)
                {
                    flip(switch, game, overlay);
                }
            }
        }
    }
}

fn flip(switch: Switch, game: &mut Game, overlay: &mut Overlay) {
    match switch {
        Switch::Interpolation => game.switch_interpolation(),
        Switch::Speed => game.time.is_slow ^= true,
        Switch::Lines => overlay.lines = overlay.lines.next(),
    }
}

/// Returns whether this event presses the button. The window reports a held key repeatedly.
fn is_pressed(button: &mut Button, down: bool) -> bool {
    button.start_step();
    button.set(down);
    button.presses() > 0
}
