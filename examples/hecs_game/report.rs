//! What the run was like: a table, a summary, a picture.

use std::collections::VecDeque;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use evenstep::rapier::math::Vector;
use evenstep::{Frame, Simulation};

use crate::game::Game;
use crate::picture::{BLUE, RED, lines_over_time};

/// The picture shows the end of the run: so many seconds of it.
const SHOWN: f64 = 0.4;

/// One line of the table.
#[derive(Default)]
struct Second {
    frames: u32,
    steps: u64,
    dropped: Duration,
    collisions: usize,
}

/// The drone as two renderers show it: one that interpolates, one that takes the latest step.
#[derive(Clone, Copy)]
struct Shown {
    time: f64,
    interpolated: Vector,
    latest: Vector,
}

#[derive(Default)]
pub struct Report {
    second: Second,
    printed: u64,
    time: Duration,
    frames: u32,
    steps: u64,
    window: VecDeque<Shown>,
    jump_interpolated: f32,
    jump_latest: f32,
}

impl Report {
    /// Takes in a frame.
    pub fn frame(&mut self, time: Duration, simulation: &Simulation, game: &Game, frame: Frame) {
        self.time += time;
        self.frames += 1;
        self.steps += frame.steps;
        self.second.frames += 1;
        self.second.steps += frame.steps;
        self.second.dropped += frame.dropped.frame_time;
        self.measure(
            time.saturating_sub(frame.dropped.frame_time),
            simulation,
            game,
        );
        if self.time.as_secs() > self.printed {
            self.print_second(simulation, game, frame);
        }
    }

    /// How far the drone has moved on the screen, beyond or short of what its speed covers.
    fn measure(&mut self, taken: Duration, simulation: &Simulation, game: &Game) {
        let body = simulation
            .physics
            .body(game.drone)
            .expect("nobody removes the drone");
        let shown = Shown {
            time: self.time.as_secs_f64(),
            interpolated: simulation.pose(game.drone).expect("it lives").translation,
            latest: body.translation(),
        };
        if let Some(last) = self.window.back() {
            let covered = body.linvel().length()
                * taken.as_secs_f32()
                * simulation.clock().settings().speed() as f32;
            let jump = |now: Vector, before: Vector| (now.distance(before) - covered).abs();
            let interpolated = jump(shown.interpolated, last.interpolated);
            self.jump_interpolated = self.jump_interpolated.max(interpolated);
            self.jump_latest = self.jump_latest.max(jump(shown.latest, last.latest));
        }
        self.window.push_back(shown);
        while self
            .window
            .front()
            .is_some_and(|first| first.time < shown.time - SHOWN)
        {
            self.window.pop_front();
        }
    }

    fn print_second(&mut self, simulation: &Simulation, game: &Game, frame: Frame) {
        if self.printed == 0 {
            println!(
                "{:>4} {:>7} {:>6} {:>11} {:>7} {:>6} {:>7}",
                "s", "frames", "steps", "dropped ms", "bodies", "awake", "events"
            );
        }
        self.printed = self.time.as_secs();
        let Second {
            frames,
            steps,
            dropped,
            collisions,
        } = self.second;
        println!(
            "{:>4} {frames:>7} {steps:>6} {:>11.1} {:>7} {:>6} {:>7}",
            self.printed,
            dropped.as_secs_f64() * 1e3,
            simulation.physics.rapier().bodies.len(),
            frame.awake,
            game.collisions - collisions
        );
        self.second = Second {
            collisions: game.collisions,
            ..Second::default()
        };
    }

    pub fn print_summary(&self, simulation: &Simulation, game: &Game) {
        let seconds = self.time.as_secs_f64();
        println!(
            "\n{} frames in {seconds:.2} s ({:.1} a second), {} steps, {:.1} ms dropped",
            self.frames,
            f64::from(self.frames) / seconds,
            self.steps,
            simulation.clock().dropped().frame_time.as_secs_f64() * 1e3
        );
        println!(
            "{} collisions, {} jumps of the player, {} input samples late",
            game.collisions,
            game.jumps,
            game.input.counts().late
        );
        println!(
            "longest jump of the drone against its true speed: \
                  {:.1} mm as the latest step shows it, {:.1} mm interpolated",
            self.jump_latest * 1e3,
            self.jump_interpolated * 1e3
        );
    }

    /// Draws where the two renderers show the drone over a few tenths of a second.
    pub fn draw(&self, file: &Path) -> Result<(), Box<dyn Error>> {
        let x = |place: fn(&Shown) -> Vector| {
            let frames = self.window.iter();
            staircase(frames.map(move |shown| (shown.time, f64::from(place(shown).x))))
        };
        let latest = ("the latest state", RED, x(|shown| shown.latest));
        let interpolated = ("interpolated", BLUE, x(|shown| shown.interpolated));
        lines_over_time(file, "x, m", &[latest, interpolated])
    }
}

/// A frame stays on the screen until the next one.
fn staircase(points: impl Iterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let mut before = None;
    let corners = points.flat_map(|(time, x)| {
        let held = before.replace(x).unwrap_or(x);
        [(time, held), (time, x)]
    });
    corners.collect()
}
