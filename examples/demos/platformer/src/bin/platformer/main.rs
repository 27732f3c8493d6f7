//! The game in a window, in a page of a browser, or as pictures without a display.

// Parts that depend on the system: clock, mouse, log.
#[cfg(not(target_arch = "wasm32"))]
mod desktop;
#[cfg(target_arch = "wasm32")]
mod page;
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

#[cfg(not(target_arch = "wasm32"))]
use desktop as host;
#[cfg(target_arch = "wasm32")]
use page as host;

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
