//! The desktop program: a window or offscreen pictures, by the command line and the system's clock.

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use evenstep::time::FrameTimer;
use evenstep_display::size;
use evenstep_window::app::App;
use evenstep_window::controls::Settings;
use evenstep_window::scenes::Scene;
use evenstep_window::script::Script;
use evenstep_window::{live, offscreen};

/// One world under two strategies, side by side.
#[derive(Parser)]
struct Options {
    /// The scene to begin with
    #[arg(long, default_value = "spinners", value_parser = scene)]
    scene: Scene,
    /// The size of the window or of the pictures
    #[arg(long, default_value = "1280x720", value_parser = size)]
    size: (u32, u32),
    /// Draws this many frames without a display, instead of opening a window
    #[arg(long, value_name = "FRAMES", requires = "out")]
    offscreen: Option<u32>,
    /// The first of these frames that is drawn
    #[arg(
        long,
        value_name = "FRAME",
        default_value_t = 0,
        requires = "offscreen"
    )]
    first: u32,
    /// The directory for the pictures
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A script with input by frame, for pictures without a display
    #[arg(long, value_name = "FILE", requires = "offscreen")]
    script: Option<PathBuf>,
}

fn scene(name: &str) -> Result<Scene, String> {
    let scene = Scene::ALL.into_iter().find(|scene| scene.name() == name);
    scene.ok_or_else(|| format!("the scenes are {}", Scene::ALL.map(Scene::name).join(", ")))
}

/// Runs the playground as the command line says.
pub async fn run() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let app = App::new(Settings {
        scene: options.scene,
        ..Settings::default()
    });
    let (Some(frames), Some(out)) = (options.offscreen, options.out) else {
        let clock = clock();
        let mut timer = FrameTimer::new(clock(), Duration::ZERO);
        let frame_time = || timer.frame(clock());
        live::run(app, options.size, frame_time, &clock).await;
        return Ok(());
    };
    let script = match options.script {
        Some(file) => Script::read(&std::fs::read_to_string(file)?)?,
        None => Script::default(),
    };
    offscreen::run(app, &script, options.size, options.first..frames, &out).await
}

/// Returns a clock that starts now.
#[expect(clippy::disallowed_methods, reason = "a host's own loop")]
fn clock() -> impl Fn() -> Duration {
    let start = Instant::now();
    move || start.elapsed()
}
