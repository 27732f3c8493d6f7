//! Records a game, and replays it from its beginning or from any tick. A replay finds the first tick and the first body
//! that differ from the recording.
//!
//! `cargo run --release --example replay --features serde,enhanced-determinism -- record target/replay.bin`
//! `cargo run --release --example replay --features serde,enhanced-determinism -- play target/replay.bin`
//!
//! `--break-at TICK` changes one bit of one velocity in that tick. The replay then names the tick and the body, and the
//! program exits with code 1.
#![allow(
    clippy::cast_precision_loss,
    reason = "small counts become positions in metres"
)]

mod game;

use std::error::Error;
use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use evenstep::Simulation;
use evenstep::recording::{Divergence, Recorder, RecorderSettings, Recording, Replay};

use game::Game;

/// Records a game and replays it.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plays the game and records it
    Record {
        /// The file for the recording
        file: PathBuf,
        /// The duration, in seconds of frame time
        #[arg(long, default_value_t = 30)]
        seconds: u64,
    },
    /// Replays a recording and checks it
    Play(PlayOptions),
}

#[derive(Args)]
struct PlayOptions {
    /// The recording
    file: PathBuf,
    /// The first tick of the replay
    #[arg(long, value_name = "TICK", default_value_t = 0)]
    from: u64,
    /// The speed: 1 is the speed of the game, 2 is twice as fast. Without it, the replay runs as fast as it can
    #[arg(long, value_parser = speed)]
    speed: Option<f64>,
    /// Changes the last bit of a ball's velocity in this tick, to test that the replay finds it
    #[arg(long, value_name = "TICK")]
    break_at: Option<u64>,
}

fn speed(text: &str) -> Result<f64, Box<dyn Error + Send + Sync>> {
    let speed: f64 = text.parse()?;
    if !(0.01..=1_000.0).contains(&speed) {
        return Err("the speed must be from 0.01 to 1000".into());
    }
    Ok(speed)
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(differences) if differences.is_empty() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// Runs the command, and returns the differences that a replay found.
fn run(options: Options) -> Result<Vec<Divergence>, Box<dyn Error>> {
    match options.command {
        Command::Record { file, seconds } => {
            record(&file, Duration::from_secs(seconds))?;
            Ok(Vec::new())
        }
        Command::Play(options) => play(&options),
    }
}

fn record(path: &Path, length: Duration) -> Result<(), Box<dyn Error>> {
    let file = BufWriter::new(File::create(path)?);
    let mut recorder = Recorder::new(file, RecorderSettings::default())?;
    let (mut simulation, mut game) = Game::new();
    let mut number = 0;
    while simulation.clock().real_time() < length {
        let frame_time = Game::frame_time(number);
        number += 1;
        Game::set_clock(&mut simulation)?;
        game.record_frame(&mut simulation, &mut recorder, frame_time)?;
    }
    recorder.finish()?;
    let (steps, bytes) = (simulation.physics.tick(), fs::metadata(path)?.len());
    println!("{number} frames, {steps} steps, {bytes} bytes");
    Ok(())
}

fn play(options: &PlayOptions) -> Result<Vec<Divergence>, Box<dyn Error>> {
    let recording = Recording::read(fs::read(&options.file)?)?;
    let run = recording.runs().first().ok_or("the recording is empty")?;
    let ticks = &run.ticks;
    println!(
        "ticks {} to {}, {} keyframes, {:?}",
        ticks.start,
        ticks.end,
        run.keyframes.len(),
        recording.ending()
    );
    let mut replay = recording.replay_from(0, options.from);
    while let Some((mut simulation, mut game)) = replay.next_run()? {
        while play_frame(&mut replay, &mut simulation, &mut game, options)? {
            if options.speed.is_some() {
                eprint!("\rtick {} of {}", simulation.physics.tick(), ticks.end);
            }
        }
    }
    if options.speed.is_some() {
        eprintln!();
    }
    for difference in replay.differences() {
        println!(
            "differs between ticks {} and {}; first difference: {:?}",
            difference.tick, difference.last_tick, difference.bodies
        );
    }
    if replay.differences().is_empty() {
        println!("no difference");
    }
    Ok(replay.differences().to_vec())
}

/// Plays a frame of the recording. Returns false at the end of the recording.
fn play_frame(
    replay: &mut Replay<'_>,
    simulation: &mut Simulation,
    game: &mut Game,
    options: &PlayOptions,
) -> Result<bool, Box<dyn Error>> {
    let Some(frame_time) = replay.begin_frame(simulation)? else {
        return Ok(false);
    };
    simulation.begin_frame(frame_time);
    while let Some(step) = simulation.next_step() {
        let Some(input) = replay.input(step)? else {
            break;
        };
        game.step(&mut simulation.physics, step, input);
        if options.break_at == Some(step.tick) {
            game.break_a_bit(&mut simulation.physics);
        }
        simulation.run_step();
        replay.end_step(&mut simulation.physics)?;
    }
    simulation.end_frame();
    // Steps before the chosen tick are not displayed.
    if let Some(speed) = options
        .speed
        .filter(|_| simulation.physics.tick() >= options.from)
    {
        show_for(frame_time.duration().div_f64(speed));
    }
    Ok(true)
}

#[expect(
    clippy::disallowed_methods,
    reason = "a game loop: each frame stays on the screen for its frame time"
)]
fn show_for(time: Duration) {
    std::thread::sleep(time);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_with(arguments: &[&str]) -> Vec<Divergence> {
        let name = ["replay"].iter();
        run(Options::try_parse_from(name.chain(arguments)).unwrap()).unwrap()
    }

    #[test]
    fn a_replay_matches_its_recording_and_reports_a_changed_bit() {
        let name = format!("evenstep-replay-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let file = path.to_str().unwrap();
        run_with(&["record", file, "--seconds", "15"]);
        for from in ["0", "650", "100000"] {
            assert_eq!(run_with(&["play", file, "--from", from]), []);
        }
        // In both ticks the ball is in the air and touches nothing.
        for tick in ["241", "725"] {
            let differences = run_with(&["play", file, "--break-at", tick]);
            assert_eq!(differences[0].tick.to_string(), tick);
            assert_eq!(differences[0].bodies.len(), 1, "{differences:?}");
        }
        fs::remove_file(path).unwrap();
    }
}
