//! The game in a window, in a page of a browser, or as pictures without a display.

// Parts that depend on the system: clock, mouse, log.
#[cfg(not(target_arch = "wasm32"))]
#[path = "desktop/mod.rs"]
mod host;
#[cfg(target_arch = "wasm32")]
#[path = "page/mod.rs"]
mod host;
// Bodies as nodes of a scene.
mod draw;
// Colliders as lines.
mod lines;
// The score, the switches, the controls, and the aim.
mod overlay;
// The scene and the window.
mod stage;
// The loop in real time.
mod live;

use std::io::{LineWriter, Write};

use evenstep_platformer::motion_log::MotionLog;

/// A log of the displayed frames. It can be read while the game runs.
type Log = Option<MotionLog<LineWriter<Box<dyn Write>>>>;

#[kiss3d::main]
async fn main() {
    if let Err(error) = host::run().await {
        eprintln!("error: {error}");
        std::process::exit(2);
    }
}
