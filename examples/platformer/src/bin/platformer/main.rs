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
use std::io::BufWriter;
use std::path::PathBuf;

use clap::Parser;
use evenstep_platformer::motion_log::MotionLog;

/// Run, jump, ride, push, collect, shoot. W A S D or arrows: walk, space: jump, left button: shoot, P: pause, Q: slow
/// motion, R: back in time.
#[derive(Parser)]
struct Options {
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

/// What `--log` asks for.
type Log = Option<MotionLog<BufWriter<File>>>;

#[kiss3d::main]
async fn main() {
    if let Err(error) = run(Options::parse()).await {
        eprintln!("error: {error}");
        std::process::exit(2);
    }
}

async fn run(options: Options) -> Result<(), Box<dyn Error>> {
    let file = options.log.map(File::create).transpose()?;
    let log = file.map(BufWriter::new).map(MotionLog::new).transpose()?;
    match (options.offscreen, options.out) {
        (Some(frames), Some(out)) => offscreen::run(log, frames, &out).await,
        _ => live::run(log).await,
    }
}
