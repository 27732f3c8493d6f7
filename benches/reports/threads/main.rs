//! Measures how even the steps of a [`Runner`] are on this machine, how far behind the present frames are displayed,
//! how the thread affects the frame rate, and how long a button press takes to affect the picture. Measures the same
//! with an [`Overlap`] and without a thread, and prints a table in Markdown.
//!
//! `cargo run --release -p evenstep-benches --all-features --example threads_report`
#![allow(missing_docs, reason = "a program")]
#![allow(clippy::disallowed_methods, reason = "wall-clock time is measured")]

use std::convert::Infallible;
use std::time::{Duration, Instant};

use clap::Parser;
use evenstep::rapier::prelude::*;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};

/// The time at the start that is not measured, in which the delay of the display settles.
const START: Duration = Duration::from_millis(200);

/// The frame time of a display of 144 Hz.
const FRAME: Duration = Duration::from_nanos(6_944_444);

/// Measures how even the steps of a thread are, and how it affects the frame rate.
#[derive(Parser)]
struct Options {
    /// The length of each of the twelve runs, in seconds
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// The number of crates in the large pile. A step of it should take longer than a frame
    #[arg(long, default_value_t = 6_000)]
    crates: usize,
}

/// The times at which each step was due, began and ended.
struct Steps {
    times: Vec<(Duration, Instant, Instant)>,
    /// The body that a button press moves, and its speed from the next step on.
    marker: BodyKey,
    speed: Option<f32>,
}

impl Steps {
    fn new(marker: BodyKey) -> Self {
        Self {
            times: Vec::new(),
            marker,
            speed: None,
        }
    }
}

impl Hooks for Steps {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        let now = Instant::now();
        // Each step is a frame, which ends when the step is due.
        self.times.push((step.real_frame_end, now, now));
        if let Some(speed) = self.speed.take() {
            let marker = physics.body_mut(self.marker).unwrap();
            marker.set_linvel(Vector::X * speed, true);
        }
        Ok(())
    }

    fn after_step(&mut self, _: &mut Physics, _: Step) -> Result<(), Infallible> {
        if let Some((_, _, end)) = self.times.last_mut() {
            *end = Instant::now();
        }
        Ok(())
    }
}

/// The speed of the marker after a press: a decimetre per step.
const SPEED: f32 = 6.0;

/// A button that is pressed independently of frames and steps, and released once the effect is visible.
struct Button {
    start: Instant,
    /// The time of the next press.
    next: Duration,
    /// The time of the press, and the displayed position of the marker at that time.
    pressed: Option<(Duration, f32)>,
    is_seen: bool,
    presses: u64,
    /// The last displayed position of the marker.
    shown: f32,
}

impl Button {
    fn new() -> Self {
        Self {
            start: Instant::now(),
            next: START,
            pressed: None,
            is_seen: false,
            presses: 0,
            shown: 0.0,
        }
    }

    /// Returns the speed to set if it changes. Call it at the beginning of a frame.
    fn poll(&mut self) -> Option<f32> {
        if self.pressed.is_none() && self.next <= self.start.elapsed() {
            self.pressed = Some((self.next, self.shown));
            self.is_seen = false;
            return Some(SPEED);
        }
        None
    }

    /// Records the displayed position of the marker. Returns the speed to set if it changes.
    fn see(&mut self, shown: f32, run: &mut Run) -> Option<f32> {
        self.shown = shown;
        let (at, from) = self.pressed?;
        let now = self.start.elapsed();
        let since = 1e3 * (now - at).as_secs_f64();
        let way = (shown - from) * 60.0 / SPEED;
        if way > 1e-3 && !std::mem::replace(&mut self.is_seen, true) {
            run.first.push(since);
        }
        if way < 0.999 {
            return None;
        }
        run.full.push(since);
        self.pressed = None;
        self.presses += 1;
        // The pause is long enough for the marker to come to rest, and is not synchronised with frames or steps.
        let pause = 150_000 + self.presses * 7_919 % 33_333;
        self.next = now + Duration::from_micros(pause);
        Some(0.0)
    }
}

/// The measurements of a run, in milliseconds, sorted at the end.
#[derive(Default)]
struct Run {
    /// The times from a press to the first frame that displays any of its effect, and to the first that displays all
    /// of its first step.
    first: Vec<f64>,
    full: Vec<f64>,
    late: Vec<f64>,
    steps: Vec<f64>,
    behind: Vec<f64>,
    /// The time that a frame takes on the game's thread.
    costs: Vec<f64>,
    /// The time from one frame to the next.
    frames: Vec<f64>,
    starved: usize,
    dropped: Duration,
}

fn main() {
    let options = Options::parse();
    let length = Duration::from_secs(options.seconds);
    println!(
        "Steps at 60 Hz, frames at 144 Hz, {length:?} per run. Times in ms: p50 / p99 / p99.9 / longest.\n"
    );
    println!(
        "| pile | slack | step time | step begins late by | behind | starved frames | game's thread per frame \
         | frame to frame | frames per second | dropped | first effect | full effect |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for count in [1_000, options.crates] {
        for slack in [0.2, 0.5, 1.0] {
            print(
                count,
                &format!("{slack}"),
                &mut threaded(count, slack, length),
            );
        }
        for slack in [0.5, 1.0] {
            print(
                count,
                &format!("overlap, {slack}"),
                &mut overlapped(count, slack, length),
            );
        }
        print(count, "no thread", &mut alone(count, length));
    }
}

fn scene(count: usize) -> (Simulation, BodyKey) {
    let mut simulation = scenes::with_floor(Rate::hz(60));
    let mut keys = scenes::pile(&mut simulation, count);
    let marker = RigidBodyBuilder::dynamic()
        .translation(Vector::Y * 100.0)
        .gravity_scale(0.0);
    let marker = simulation.physics.insert(marker, scenes::ball());
    keys.push(marker);
    scenes::keep_awake(&mut simulation, &keys);
    // The first step takes longer than all others.
    simulation.advance(Duration::from_millis(50), |_, _| ());
    (simulation, marker)
}

fn x(pose: Option<Pose>) -> f32 {
    pose.map_or(0.0, |pose| pose.translation.x)
}

fn threaded(count: usize, slack: f32, length: Duration) -> Run {
    let mut run = Run::default();
    let mut settings = RunnerSettings::default();
    settings.slack = slack;
    let (simulation, marker) = scene(count);
    let clock = simulation.clock();
    let ahead = clock.real_time().as_secs_f64() - clock.time().as_secs_f64();
    let mut runner = Runner::new(simulation, Steps::new(marker), settings)
        .expect("the system can start a thread");
    let (start, real_start) = (Instant::now(), runner.now());
    let mut button = Button::new();
    run.starved = at_144_hz(length, &mut run, |run, is_measured| {
        let begin = Instant::now();
        let set = |runner: &Runner<Steps>, speed: Option<f32>| {
            if speed.is_some() {
                let sent = runner.call(move |_, steps| steps.speed = speed);
                sent.expect("the queue has room");
            }
        };
        set(&runner, button.poll());
        let view = runner.frame();
        let cost = begin.elapsed();
        let (shown, is_starved) = (view.time().as_secs_f64(), view.is_starved());
        let news = button.see(x(view.pose(marker)), run);
        set(&runner, news);
        let present = (runner.now() - runner.dropped()).as_secs_f64() - ahead;
        if is_measured {
            run.costs.push(1e3 * cost.as_secs_f64());
            run.behind.push(1e3 * (present - shown));
        }
        is_measured && is_starved
    });
    run.dropped = runner.dropped();
    let steps = runner.stop().1.times;
    let late = |(due, begin, _): &(Duration, Instant, Instant)| {
        let begin = real_start + begin.saturating_duration_since(start);
        1e3 * begin.saturating_sub(*due).as_secs_f64()
    };
    run.late.extend(steps.iter().map(late));
    run.take_in(&steps);
    run
}

fn overlapped(count: usize, slack: f32, length: Duration) -> Run {
    let mut run = Run::default();
    let (simulation, marker) = scene(count);
    let clock = simulation.clock();
    let ahead = clock.real_time().as_secs_f64() - clock.time().as_secs_f64();
    let mut overlap = Overlap::new(simulation).expect("the system can start a thread");
    overlap.set_slack(slack);
    let mut steps = Steps::new(marker);
    let (mut last, mut button) = (Instant::now(), Button::new());
    at_144_hz(length, &mut run, |run, is_measured| {
        let begin = Instant::now();
        steps.speed = button.poll().or(steps.speed);
        let Ok(_) = overlap.frame(begin - last, &mut steps);
        last = begin;
        let view = overlap.view();
        steps.speed = button.see(x(view.pose(marker)), run).or(steps.speed);
        if is_measured {
            run.costs.push(1e3 * begin.elapsed().as_secs_f64());
            let present = (overlap.now() + begin.elapsed()).as_secs_f64() - ahead;
            run.behind.push(1e3 * (present - view.time().as_secs_f64()));
        }
        false
    });
    run
}

fn alone(count: usize, length: Duration) -> Run {
    let mut run = Run::default();
    let (mut simulation, marker) = scene(count);
    let mut steps = Steps::new(marker);
    let (mut last, mut button) = (Instant::now(), Button::new());
    at_144_hz(length, &mut run, |run, is_measured| {
        let begin = Instant::now();
        steps.speed = button.poll().or(steps.speed);
        let Ok(_) = simulation.advance_with(begin - last, &mut steps);
        last = begin;
        steps.speed = button.see(x(simulation.pose(marker)), run).or(steps.speed);
        if is_measured {
            run.costs.push(1e3 * begin.elapsed().as_secs_f64());
            // The delay is one step of interpolation, and the time since the frame began.
            let behind =
                begin.elapsed().as_secs_f64() + simulation.clock().settings().rate().dt_f64();
            run.behind.push(1e3 * behind);
        }
        false
    });
    run.dropped = simulation.clock().dropped().frame_time;
    run.take_in(&steps.times);
    run
}

/// Runs frames at the rate of a display. Returns the number of frames for which `frame` returned `true`.
fn at_144_hz(
    length: Duration,
    run: &mut Run,
    mut frame: impl FnMut(&mut Run, bool) -> bool,
) -> usize {
    let start = Instant::now();
    let (mut count, mut last) = (0, start);
    while start.elapsed() < START + length {
        let beats = start.elapsed().as_nanos() / FRAME.as_nanos() + 1;
        let next = FRAME * beats as u32;
        std::thread::sleep(next.saturating_sub(start.elapsed()));
        let is_measured = next > START;
        if is_measured {
            run.frames.push(1e3 * last.elapsed().as_secs_f64());
        }
        last = Instant::now();
        count += usize::from(frame(run, is_measured));
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
        "| {count} | {slack} | {} | {} | {} | {:.2} % | {} | {} | {frames_a_second:.0} | {:.0} ms | {} | {} |",
        percentiles(&mut run.steps, 1),
        percentiles(&mut run.late, 2),
        percentiles(&mut run.behind, 1),
        100.0 * run.starved as f64 / run.frames.len() as f64,
        percentiles(&mut run.costs, 3),
        percentiles(&mut run.frames, 1),
        1e3 * run.dropped.as_secs_f64(),
        percentiles(&mut run.first, 1),
        percentiles(&mut run.full, 1),
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
