//! The game in a window, in a page of a browser, or as pictures without a display.

// What the system has: a clock, a mouse, a log.
#[cfg(not(target_arch = "wasm32"))]
#[path = "desktop/mod.rs"]
mod host;
#[cfg(target_arch = "wasm32")]
#[path = "page/mod.rs"]
mod host;
// The camera, as kiss3d asks for it.
mod lens;
// Bodies as nodes of a scene.
mod draw;
// Score, aim, keys.
mod hud;
// All that is drawn.
mod stage;
// By the clock.
mod live;

use std::io::{LineWriter, Write};

use evenstep_platformer::motion_log::MotionLog;

/// What each frame showed: it can be read while the game runs.
type Log = Option<MotionLog<LineWriter<Box<dyn Write>>>>;

#[kiss3d::main]
async fn main() {
    if let Err(error) = host::run().await {
        eprintln!("error: {error}");
        std::process::exit(2);
    }
}
