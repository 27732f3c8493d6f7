//! The desktop window: the command line, and the system's clock.

// Mouse look, with a cursor that is kept in the window.
mod mouse;
// Scripted games as pictures.
mod offscreen;

use std::error::Error;
use std::fs::File;
use std::io::{LineWriter, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use evenstep_display::size;
use evenstep_platformer::motion_log::MotionLog;

use crate::live;

pub use mouse::Mouse;

/// The controls, which the overlay lists.
pub const KEYS: [&str; 7] = [
    "WASD, arrows: walk",
    "space: jump",
    "mouse: look",
    "left button: shoot",
    "P: pause",
    "R, held: rewind",
    "Escape: leave",
];

/// Run, jump, ride, push, collect, shoot. The picture lists the keys.
#[derive(Parser)]
struct Options {
    /// The size of the window or of the pictures
    #[arg(long, default_value = "1280x720", value_parser = size)]
    size: (u32, u32),
    /// Writes what each frame displays to a table (CSV)
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Draws this many frames of a scripted game at 60 Hz, without a display
    #[arg(long, value_name = "FRAMES", requires = "out")]
    offscreen: Option<u32>,
    /// The directory for the pictures
    #[arg(long, value_name = "DIR", requires = "offscreen")]
    out: Option<PathBuf>,
}

/// Runs the game as the command line says.
pub async fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let file = options.log.map(File::create).transpose()?;
    let out = file.map(|file| LineWriter::new(Box::new(file) as Box<dyn Write>));
    let log = out.map(MotionLog::new).transpose()?;
    match (options.offscreen, options.out) {
        (Some(frames), Some(out)) => offscreen::run(log, options.size, frames, &out).await,
        _ => live::run(log, options.size).await,
    }
}

/// The system's clock.
pub struct Clock {
    last: Instant,
}

#[expect(clippy::disallowed_methods, reason = "a window's loop reads a clock")]
impl Clock {
    pub fn start() -> Self {
        Self {
            last: Instant::now(),
        }
    }

    /// Returns the time since the last frame.
    pub fn frame(&mut self) -> Duration {
        let now = Instant::now();
        let time = now - self.last;
        self.last = now;
        time
    }
}

/// Returns whether the main pointing device is a touch screen. A desktop does not say, so the first touch tells.
pub fn is_touch() -> bool {
    false
}

/// Returns the number of units of touches per pixel of a display without scaling: touches are in pixels of the display.
pub fn touch_scale(scale: f32) -> f32 {
    scale
}
