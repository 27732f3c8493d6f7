//! A small game without a window. It has a player, a pile of crates, a drone, and balls that appear and disappear.
//!
//! `cargo run --release --example hecs_game --features hecs`
//!
//! `game.rs` is the game, and `play` below is its loop: copy both. `report.rs` compares two renderers, one that draws
//! interpolated poses and one that draws the latest step. Its picture is also in the book: docs/book/src/path.svg.

// The game: bodies, input and rules.
mod game;
// The summary and the picture of a run.
mod report;
// The style of the picture, which the book's other pictures share.
mod picture;

use std::error::Error;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use evenstep::{Rate, Simulation};
use indicatif::{ProgressBar, ProgressFinish, ProgressIterator};

use game::Game;
use report::{DrawnFrame, Run};

/// The length of the frame in which the game pretends to load a level. It is above the limit of 250 ms, so evenstep
/// drops the rest.
const STALL: Duration = Duration::from_millis(400);

/// A game without a window, which compares interpolated motion with the latest step.
#[derive(Parser)]
struct Options {
    /// Physics steps per second
    #[arg(long, value_name = "HZ", default_value_t = 60)]
    rate: u32,
    /// The SVG file to write
    #[arg(long, value_name = "PATH", default_value = "target/hecs_game.svg")]
    picture: PathBuf,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<(), Box<dyn Error>> {
    let run = play(&recorded_with_a_stall(), Rate::hz(options.rate));
    println!("{run}");

    let file = &options.picture;
    let written = picture(options.rate).and_then(|picture| {
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(fs::write(file, picture)?)
    });
    let file = file.display();
    written.map_err(|error| format!("cannot write the picture to {file}: {error}"))?;
    println!("picture: {file}");
    Ok(())
}

/// Returns the picture of a run with 144 even frames per second.
fn picture(rate: u32) -> Result<String, Box<dyn Error>> {
    let frame_times = [Duration::from_secs(1) / 144; 300];
    play(&frame_times, Rate::hz(rate)).picture()
}

/// Runs the game loop. A game with a window would measure the frame time, and draw where this one records data.
fn play(frame_times: &[Duration], rate: Rate) -> Run {
    let mut simulation = Simulation::new(rate);
    let mut game = Game::new(&mut simulation.physics);
    let mut frames = Vec::new();
    // The bar is drawn on standard error, and hidden if that is not a terminal.
    let bar = ProgressBar::new(frame_times.len() as u64).with_finish(ProgressFinish::AndClear);
    for &frame_time in frame_times.iter().progress_with(bar) {
        game.collect_input(simulation.clock().real_time() + frame_time);
        let Ok(frame) = simulation.advance_with(frame_time, &mut game);
        game.entities.sync(&mut game.world, &mut simulation);
        if simulation.clock().tick() > 0 {
            frames.push(DrawnFrame::new(frame_time, frame, &simulation, &game));
        }
    }
    Run {
        simulation,
        game,
        frames,
    }
}

/// Returns the frame times of a real render loop, with one stall added. The file has comments, a header, and one
/// number per line.
fn recorded_with_a_stall() -> Vec<Duration> {
    let lines = include_str!("frame-times.csv").lines();
    let milliseconds = lines.filter_map(|line| line.parse::<f64>().ok());
    let mut times: Vec<_> = milliseconds
        .map(|time| Duration::from_secs_f64(time / 1e3))
        .collect();
    times.insert(times.len() / 2, STALL);
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{EVENSTEP, WITHOUT};
    use report::{NAMES, RENDERERS, STRIP};
    use std::collections::BTreeSet;

    /// Returns ten seconds of uneven frames, with one stall.
    fn uneven() -> Vec<Duration> {
        let milliseconds = [16, 17, 8, 25, 16, 33, 12, 20, 10, 14];
        let mut times: Vec<_> = milliseconds.map(Duration::from_millis).repeat(60);
        times.insert(300, STALL);
        times
    }

    #[test]
    fn interpolated_motion_is_more_even_than_the_latest_step() {
        let run = play(&uneven(), Rate::hz(50));
        let [latest, interpolated] = RENDERERS.map(|(_, renderer)| run.errors(renderer));
        let [median, largest] = [0, 1].map(|i| latest[i] / interpolated[i]);
        assert!(
            median > 50.0 && largest > 50.0,
            "{latest:?}, {interpolated:?}"
        );
    }

    #[test]
    fn steps_overstep_and_dropped_time_add_up_to_the_frame_times() {
        let times = uneven();
        let run = play(&times, Rate::hz(50));
        let clock = run.simulation.clock();
        let steps = u32::try_from(clock.tick()).unwrap();
        let dropped = clock.dropped().frame_time;
        assert_eq!(dropped, Duration::from_millis(150));
        assert_eq!(
            Duration::from_millis(20) * steps + clock.overstep() + dropped,
            times.iter().sum()
        );
    }

    #[test]
    fn the_summary_reports_the_stall_and_draws_evenstep_as_a_flat_line() {
        let summary = play(&uneven(), Rate::hz(50)).to_string();
        let [times, latest, interpolated] = ["frame time", WITHOUT.0, EVENSTEP.0].map(|name| {
            let line = summary.lines().find(|line| line.starts_with(name)).unwrap();
            line.chars().skip(NAMES).collect::<String>()
        });
        assert_eq!(times.chars().count(), STRIP, "{summary}");
        assert!(times.contains('█'), "{summary}");
        assert_eq!(latest.chars().count(), STRIP, "{summary}");
        assert!(
            latest.chars().collect::<BTreeSet<_>>().len() > 2,
            "{summary}"
        );
        assert_eq!(interpolated, "▄".repeat(STRIP), "{summary}");
        assert!(summary.contains("150.0 ms dropped"), "{summary}");
    }

    #[test]
    fn the_picture_in_the_book_is_up_to_date() {
        let drawn = picture(60).unwrap();
        assert!(
            include_str!("../../docs/book/src/path.svg")
                .lines()
                .eq(drawn.lines())
        );
    }
}
