//! A small game without a window. It has a player, a pile of crates, a drone, and balls that appear and disappear.
//!
//! `cargo run --release --example hecs_game --features hecs`
//!
//! `game.rs` is the game, and `play` below is its loop: copy both. `report.rs` compares two renderers, one that draws
//! interpolated poses and one that draws the latest step. The picture docs/book/src/path.svg in the book is from this game.

// The game: bodies, input and rules.
mod game;
// The summary of a run.
mod report;

use std::time::Duration;

use clap::Parser;
use evenstep::{Rate, Simulation};

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
}

fn main() {
    let options = Options::parse();
    let run = play(&recorded_with_a_stall(), Rate::hz(options.rate));
    print!("{run}");
}

/// Runs the game loop. A game with a window would measure the frame time, and draw where this one records data.
fn play(frame_times: &[Duration], rate: Rate) -> Run {
    let mut simulation = Simulation::new(rate);
    let mut game = Game::new(&mut simulation.physics);
    let mut frames = Vec::new();
    for &frame_time in frame_times {
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
        let [times, latest, interpolated] =
            ["frame time", RENDERERS[0].0, RENDERERS[1].0].map(|name| {
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
}
