//! How even the steps of a [`Runner`] are on this machine, how far behind the present frames are shown, and what the thread
//! does to the frame rate: a table in Markdown.
//!
//! `cargo run --release --all-features --example threads_report`
#![allow(missing_docs, reason = "a program")]
#![allow(clippy::disallowed_methods, reason = "it measures the clock's time")]

#[path = "../../tests/scenes/mod.rs"]
mod scenes;

use std::convert::Infallible;
use std::time::{Duration, Instant};

use clap::Parser;
use evenstep::{Hooks, Rate, Runner, RunnerSettings, Simulation, Step};

/// What is not looked at: until frames are shown as late as they should be.
const START: Duration = Duration::from_millis(200);

/// A display of 144 Hz.
const FRAME: Duration = Duration::from_nanos(6_944_444);

/// How even the steps of a thread are, and what it does to the frame rate.
#[derive(Parser)]
struct Options {
    /// The length of each of the eight runs, in seconds
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// How many crates the large pile has: a step of it should take longer than a frame
    #[arg(long, default_value_t = 6_000)]
    crates: usize,
}

/// When each step was due, began and ended.
#[derive(Default)]
struct Steps(Vec<(Duration, Instant, Instant)>);

impl Hooks for Steps {
    type Error = Infallible;

    fn before_step(&mut self, simulation: &mut Simulation, _: Step) -> Result<(), Infallible> {
        // Each step is a frame, up to the time at which it is due.
        let due = simulation.clock().real_time();
        let now = Instant::now();
        self.0.push((due, now, now));
        Ok(())
    }

    fn after_step(&mut self, _: &mut Simulation, _: Step) -> Result<(), Infallible> {
        if let Some((_, _, end)) = self.0.last_mut() {
            *end = Instant::now();
        }
        Ok(())
    }
}

/// What is measured in one run: in milliseconds, sorted at the end.
#[derive(Default)]
struct Run {
    late: Vec<f64>,
    steps: Vec<f64>,
    behind: Vec<f64>,
    /// What a frame costs the game's thread.
    costs: Vec<f64>,
    /// From one frame to the next.
    frames: Vec<f64>,
    starved: usize,
    dropped: Duration,
}

fn main() {
    let options = Options::parse();
    let length = Duration::from_secs(options.seconds);
    println!(
        "Steps of 60 Hz, frames of 144 Hz, {length:?} each. Times in ms: p50 / p99 / p99.9 / longest.\n"
    );
    println!(
        "| pile | slack | a step takes | it begins late by | shown behind the present | starved frames | the game's thread \
         spends on a frame | from frame to frame | frames a second | dropped |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for count in [1_000, options.crates] {
        for slack in [0.2, 0.5, 1.0] {
            print(
                count,
                &format!("{slack}"),
                &mut threaded(count, slack, length),
            );
        }
        print(count, "no thread", &mut alone(count, length));
    }
}

fn scene(count: usize) -> Simulation {
    let mut simulation = scenes::with_floor(Rate::hz(60).expect("60 is a rate"));
    let keys = scenes::pile(&mut simulation, count);
    scenes::keep_awake(&mut simulation, &keys);
    // The first step is longer than any other.
    simulation.advance(Duration::from_millis(50), |_, _| ());
    simulation
}

fn threaded(count: usize, slack: f32, length: Duration) -> Run {
    let mut run = Run::default();
    let mut settings = RunnerSettings::default();
    settings.slack = slack;
    let simulation = scene(count);
    let clock = simulation.clock();
    let ahead = clock.real_time().as_secs_f64() - clock.time().as_secs_f64();
    let mut runner = Runner::new(simulation, Steps::default(), settings);
    let (start, real_start) = (Instant::now(), runner.now());
    run.starved = at_144_hz(length, &mut run.frames, |is_measured| {
        let begin = Instant::now();
        let view = runner.frame();
        let cost = begin.elapsed();
        let (shown, is_starved) = (view.time(), view.is_starved());
        let present = (runner.now() - runner.dropped()).as_secs_f64() - ahead;
        if is_measured {
            run.costs.push(1e3 * cost.as_secs_f64());
            run.behind.push(1e3 * (present - shown));
        }
        is_measured && is_starved
    });
    run.dropped = runner.dropped();
    let (_, Steps(steps)) = runner.stop();
    let late = |(due, begin, _): &(Duration, Instant, Instant)| {
        let begin = real_start + begin.saturating_duration_since(start);
        1e3 * begin.saturating_sub(*due).as_secs_f64()
    };
    run.late.extend(steps.iter().map(late));
    run.take_in(&steps);
    run
}

fn alone(count: usize, length: Duration) -> Run {
    let mut run = Run::default();
    let mut simulation = scene(count);
    let mut steps = Steps::default();
    let mut last = Instant::now();
    at_144_hz(length, &mut run.frames, |is_measured| {
        let begin = Instant::now();
        let Ok(frame) = simulation.advance_with(begin - last, &mut steps);
        last = begin;
        if is_measured {
            run.costs.push(1e3 * begin.elapsed().as_secs_f64());
            let behind = simulation.clock().rate().dt() * (1.0 - frame.alpha);
            run.behind.push(0.0_f64.max(1e3 * f64::from(behind)));
        }
        false
    });
    run.dropped = simulation.clock().dropped().frame_time;
    run.take_in(&steps.0);
    run
}

/// Frames at the beats of a display. Gives for how many of them `frame` gave `true`.
fn at_144_hz(
    length: Duration,
    frames: &mut Vec<f64>,
    mut frame: impl FnMut(bool) -> bool,
) -> usize {
    let start = Instant::now();
    let (mut count, mut last) = (0, start);
    while start.elapsed() < START + length {
        let beats = start.elapsed().as_nanos() / FRAME.as_nanos() + 1;
        let next = FRAME * beats as u32;
        std::thread::sleep(next.saturating_sub(start.elapsed()));
        let is_measured = next > START;
        if is_measured {
            frames.push(1e3 * last.elapsed().as_secs_f64());
        }
        last = Instant::now();
        count += usize::from(frame(is_measured));
    }
    count
}

impl Run {
    fn take_in(&mut self, steps: &[(Duration, Instant, Instant)]) {
        let length = |(_, begin, end): &(_, Instant, Instant)| 1e3 * (*end - *begin).as_secs_f64();
        self.steps.extend(steps.iter().map(length));
    }
}

fn print(count: usize, slack: &str, run: &mut Run) {
    let frames_a_second = 1e3 * run.frames.len() as f64 / run.frames.iter().sum::<f64>();
    println!(
        "| {count} | {slack} | {} | {} | {} | {:.2} % | {} | {} | {frames_a_second:.0} | {:.0} ms |",
        percentiles(&mut run.steps, 1),
        percentiles(&mut run.late, 2),
        percentiles(&mut run.behind, 1),
        100.0 * run.starved as f64 / run.frames.len() as f64,
        percentiles(&mut run.costs, 3),
        percentiles(&mut run.frames, 1),
        1e3 * run.dropped.as_secs_f64(),
    );
}

fn percentiles(values: &mut [f64], digits: usize) -> String {
    values.sort_by(f64::total_cmp);
    let of = |part: f64| values[(part * (values.len() - 1) as f64).round() as usize];
    if values.is_empty() {
        return "-".into();
    }
    let shown = [0.5, 0.99, 0.999, 1.0].map(|part| format!("{:.digits$}", of(part)));
    shown.join(" / ")
}
