//! The game in a window, or as pictures without a display.

// The camera, as kiss3d asks for it.
mod lens;
// Bodies as nodes of a scene.
mod draw;
// Score, aim, keys.
mod hud;
// Mouse look by a cursor that is kept in the window.
mod mouse;
// All that is drawn.
mod stage;
// By the wall clock.
mod live;
// By a script.
mod offscreen;

use std::error::Error;
use std::fs::File;
use std::io::LineWriter;
use std::path::PathBuf;

use clap::Parser;
use evenstep_platformer::motion_log::MotionLog;

/// Run, jump, ride, push, collect, shoot. W A S D or arrows: walk, space: jump, left button: shoot, P: pause, Q: slow
/// motion, R: back in time.
#[derive(Parser)]
struct Options {
    /// The size of the window or of the pictures
    #[arg(long, default_value = "1280x720", value_parser = size)]
    size: (u32, u32),
    /// Writes what is shown in each frame to a table (CSV)
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Draws so many frames of a scripted game without a display, 60 a second
    #[arg(long, value_name = "FRAMES", requires = "out")]
    offscreen: Option<u32>,
    /// Where the pictures go
    #[arg(long, value_name = "DIR", requires = "offscreen")]
    out: Option<PathBuf>,
}

/// What `--log` asks for: it can be read while the game runs.
type Log = Option<MotionLog<LineWriter<File>>>;

fn size(text: &str) -> Result<(u32, u32), String> {
    let parts = text.split_once('x');
    let size = parts.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    let is_sensible =
        |size: &(u32, u32)| (320..8_000).contains(&size.0) && (240..8_000).contains(&size.1);
    size.filter(is_sensible)
        .ok_or_else(|| "a size is as 1280x720".into())
}

#[kiss3d::main]
async fn main() {
    if let Err(error) = run(Options::parse()).await {
        eprintln!("error: {error}");
        std::process::exit(2);
    }
}

async fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let file = options.log.map(File::create).transpose()?;
    let log = file.map(LineWriter::new).map(MotionLog::new).transpose()?;
    match (options.offscreen, options.out) {
        (Some(frames), Some(out)) => offscreen::run(log, options.size, frames, &out).await,
        _ => live::run(log, options.size).await,
    }
}
