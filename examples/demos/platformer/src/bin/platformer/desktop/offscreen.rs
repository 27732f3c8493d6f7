//! Draws a scripted game without a display. The pictures are the same in every run.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use evenstep::input::Delivery;
use evenstep_platformer::game::Game;
use evenstep_platformer::level::Level;
use evenstep_platformer::script::Script;
use kiss3d::event::{Action, Key, Modifiers, WindowEvent};
use kiss3d::window::Window;

use crate::Log;
use crate::stage::{self, Stage};

/// Draws `frames` frames, and writes each as `frame-0000.png` and so on.
pub async fn run(
    mut log: Log,
    size: (u32, u32),
    frames: u32,
    out: &Path,
) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(out)?;
    let window = Window::new_headless_with_setup(size.0, size.1, stage::setup());
    let mut stage = Stage::new(window.await);
    let mut game = Game::new(&Level::islands(), Delivery::ByTime);
    let mut script = Script::tour_and_back();
    // The script holds W from the start. The controls fade a few seconds later, as for a player.
    let key = WindowEvent::Key(Key::W, Action::Press, Modifiers::empty());
    stage.overlay.take(key, game.real_time());
    for frame in 0..frames {
        script.frame(&mut game, Duration::from_secs(1) / 60);
        if let Some(log) = &mut log {
            log.write(&game)?;
        }
        stage.draw(&game).await;
        let name = format!("frame-{frame:04}.png");
        stage.window.snap_image().save(out.join(name))?;
    }
    Ok(())
}
