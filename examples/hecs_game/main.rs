//! A small complete game without a window: a yard with crates, a player, wind, a drone, and balls that
//! come and go; run at the frame times of a real game.
//!
//! `cargo run --release --example hecs_game --features hecs`
//!
//! The frame times are those of the capture beside this file, or of `--frame-times FILE`: a
//! capture by PresentMon or MangoHud, or a list of milliseconds. The picture of a run is docs/book/src/path.svg.
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "small counts become places, and places become pixels"
)]

#[path = "../../tests/scenes/frame_times.rs"]
mod frame_times;
mod game;
#[path = "../../tests/scenes/picture.rs"]
mod picture;
mod report;

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use evenstep::{Rate, Simulation};

use game::{Game, Player};
use report::Report;

/// A game without a window, stepped evenly at the frame times of a real one.
#[derive(Parser)]
struct Options {
    /// A capture by PresentMon or MangoHud, or a list of milliseconds
    #[arg(long, value_name = "FILE")]
    frame_times: Option<PathBuf>,
    /// Steps a second: a number or a fraction, as 60 or 60000/1001
    #[arg(long, default_value = "60", value_parser = rate)]
    rate: Rate,
    /// How long to run, in seconds of frames; once through the capture if not given
    #[arg(long, value_parser = seconds)]
    seconds: Option<Duration>,
    /// The speed of the game's time: 0 stops, 0.1 is slow motion
    #[arg(long, default_value_t = 1.0, allow_negative_numbers = true)]
    speed: f64,
    /// The number of crates in the pile
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    bodies: u16,
    /// Where to write the picture
    #[arg(long, value_name = "FILE", default_value = "hecs_game.svg")]
    picture: PathBuf,
}

fn rate(text: &str) -> Result<Rate, Box<dyn Error + Send + Sync>> {
    let (steps, seconds) = text.split_once('/').unwrap_or((text, "1"));
    Ok(Rate::fraction(steps.parse()?, seconds.parse()?)?)
}

fn seconds(text: &str) -> Result<Duration, Box<dyn Error + Send + Sync>> {
    let seconds = Duration::try_from_secs_f64(text.parse()?)?;
    if seconds.is_zero() {
        return Err("a run of no time".into());
    }
    Ok(seconds)
}

fn read_frame_times(options: &Options) -> Result<Vec<Duration>, Box<dyn Error>> {
    let times = match &options.frame_times {
        None => frame_times::read(&include_bytes!("frame-times.csv")[..]),
        Some(path) => {
            let file = File::open(path).map_err(|e| format!("{}: {e}", path.display()))?;
            frame_times::read(file)
        }
    };
    let name = options
        .frame_times
        .as_ref()
        .map_or("the capture".into(), |path| path.display().to_string());
    Ok(times.map_err(|error| format!("{name}: {error}"))?)
}

fn main() -> ExitCode {
    match play(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn play(options: &Options) -> Result<(), Box<dyn Error>> {
    let times = read_frame_times(options)?;
    let length = options.seconds.unwrap_or_else(|| times.iter().sum());
    if times.iter().all(Duration::is_zero) {
        return Err("the frames take no time".into());
    }

    let mut simulation = Simulation::new(options.rate);
    simulation.set_speed(options.speed)?;
    let mut game = Game::new(&mut simulation.physics, options.bodies.into());
    let mut player = Player::new();
    let mut report = Report::default();
    for time in times.into_iter().cycle() {
        if simulation.clock().real_time() >= length {
            break;
        }
        // Input that came while the frame before was on the screen.
        let end = simulation.clock().real_time() + time;
        player.play_until(end, |time, input| game.input.push(time, input));

        let Ok(frame) = simulation.advance_with(time, &mut game);
        game.entities.sync(&mut game.world, &mut simulation);
        // A renderer would go through the entities' `RenderPose`s here.
        report.frame(time, &simulation, &game, frame);
    }
    report.print_summary(&simulation, &game);
    report.draw(&options.picture)?;
    println!("picture: {}", options.picture.display());
    Ok(())
}
