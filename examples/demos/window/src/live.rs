//! The loop of the window: reads events and draws, by the host's clock.

use std::time::Duration;

use kiss3d::event::{Action, Key, Modifiers, MouseButton, TouchAction, WindowEvent};
use kiss3d::glamx::Vec2;
use kiss3d::window::Window;

use crate::app::App;
use crate::app::mouse::MouseEvent;
use crate::controls::Command;
use crate::desk::Desk;

/// Runs until the window is closed. `frame_time` returns the time since its last call, and `clock` a time to measure
/// steps with.
pub async fn run(
    mut app: App,
    size: (u32, u32),
    mut frame_time: impl FnMut() -> Duration,
    clock: impl Fn() -> Duration,
) {
    let mut desk = Desk::open(&mut app, size.0, size.1).await;
    let mut title = String::new();
    let mut mouse = Vec2::ZERO;
    loop {
        take_events(&desk.window, &mut app, &mut mouse);
        app.update(frame_time(), &clock);
        if title != app.title() {
            title = app.title();
            desk.window.set_title(&title);
        }
        if !desk.draw(&mut app).await {
            return;
        }
    }
}

/// Passes events to the playground. The panel handles its own area, and a text field the keys. A press counts at the
/// position of the mouse at that time, which may have changed since.
fn take_events(window: &Window, app: &mut App, mouse: &mut Vec2) {
    // In a page, kiss3d reports touches in pixels of the page, and the cursor in pixels of the display.
    let is_page = cfg!(target_arch = "wasm32");
    let touch_scale = if is_page {
        window.scale_factor() as f32
    } else {
        1.0
    };
    let is_typing = window.egui_context().text_edit_focused();
    for event in window.events().iter() {
        if let WindowEvent::CursorPos(x, y, _) = event.value {
            *mouse = Vec2::new(x as f32, y as f32);
        }
        let is_free = !(is_typing && event.value.is_keyboard_event());
        if is_free {
            take(app, event.value, *mouse, touch_scale);
        }
    }
    app.drive = if is_typing { [0.0; 2] } else { drive(window) };
}

fn take(app: &mut App, event: WindowEvent, at: Vec2, touch_scale: f32) {
    match event {
        WindowEvent::Key(key, Action::Press, modifiers) => {
            let shift = modifiers.contains(Modifiers::Shift);
            if let Some(command) = Command::of_key(key, shift) {
                app.command(command);
            }
        }
        WindowEvent::MouseButton(button, Action::Press, _) => match button {
            MouseButton::Button1 => app.mouse(MouseEvent::Press(at)),
            MouseButton::Button2 => app.mouse(MouseEvent::Turn(at)),
            _ => (),
        },
        WindowEvent::MouseButton(_, Action::Release, _) => app.mouse(MouseEvent::Release),
        WindowEvent::CursorPos(..) => app.mouse(MouseEvent::Move(at)),
        WindowEvent::Touch(_, x, y, action, _) => {
            let at = Vec2::new(x as f32, y as f32) * touch_scale;
            app.mouse(match action {
                TouchAction::Start => MouseEvent::Press(at),
                TouchAction::Move => MouseEvent::Move(at),
                TouchAction::End | TouchAction::Cancel => MouseEvent::Release,
            });
        }
        WindowEvent::Scroll(_, by, _) if app.layout().half_at(at).is_some() => {
            app.mouse(MouseEvent::Scroll(by.signum() as f32))
        }
        _ => (),
    }
}

/// Returns the driving input of the arrow keys: forward, and to the left.
fn drive(window: &Window) -> [f32; 2] {
    let held = |key| f32::from(window.get_key(key) == Action::Press);
    [
        held(Key::Up) - held(Key::Down),
        held(Key::Left) - held(Key::Right),
    ]
}
