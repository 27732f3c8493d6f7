//! Where a step runs, and how old the picture is.

use std::convert::Infallible;
use std::error::Error;

use evenstep::threads::{Overlap, RunnerSettings};
use evenstep::{Hooks, Rate, Simulation};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::shapes::{Drawn, block, line};
use pictures::style::{self, Area, BLUE, GREY, label, text};
use scenes::MS;

/// Times in tenths of a millisecond: between two refreshes of the display, of all of them, for drawing a frame, and for
/// a step. The rate of the steps is in Hz.
const REFRESH: i32 = 125;
const END: i32 = 500;
const REFRESHES: i32 = END / REFRESH;
const RATE: i32 = 60;
const DRAW: i32 = 85;
const STEP: i32 = 110;

/// The x of time zero, and the number of pixels per millisecond.
const LEFT: i32 = 164;
const SCALE: i32 = 77;
/// The heights of a row and of a name, in pixels.
const ROW: i32 = 32;
const NAME: i32 = 28;
/// The gap between two loops, and the sum of the heights of three names, five rows, and two gaps.
const GAP: i32 = 18;
const ROWS: i32 = 3 * NAME + 5 * ROW + 2 * GAP;

/// Blocks of time in tenths of a millisecond: each has its start.
#[derive(Default)]
struct Schedule {
    draws: Vec<i32>,
    steps: Vec<i32>,
    has_thread: bool,
}

/// Draws the schedules of three loops, whose step takes longer than the display waits.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let title = [
        "Steps on another thread cost no frames,",
        "but the picture is older",
    ];
    let loops = [
        ("Simulation", one_thread(), age_of_simulation()),
        ("Overlap", overlap(), age_of_overlap()?),
        ("Runner", runner(), age_of_runner()),
    ];
    style::svg(&title, ROWS as u32 + 40, |area| {
        let mut top = 0;
        for (name, schedule, age) in &loops {
            label(area, name, (12, top + NAME / 2), HPos::Left, BLUE)?;
            let drawn = schedule.draws.len();
            let result = format!("{drawn} of {REFRESHES} frames, {age:.0} ms old");
            text(area, &result, (LEFT, top + NAME / 2), HPos::Left, BLACK)?;
            draw_schedule(area, schedule, top + NAME)?;
            top += NAME + ROW * schedule.threads() + GAP;
        }
        text(
            area,
            "lines: the display, 80 Hz",
            (12, ROWS + 18),
            HPos::Left,
            GREY,
        )?;
        text(area, "time", (548, ROWS + 18), HPos::Right, GREY)
    })
}

/// Draws a row for each thread.
fn draw_schedule(area: &Area, schedule: &Schedule, top: i32) -> Drawn {
    let threads = schedule.threads();
    for refresh in 0..=REFRESHES {
        let x = x(refresh * REFRESH);
        line(area, &[(x, top), (x, top + threads * ROW)], GREY, 1)?;
    }
    let rows = ["your thread", "physics thread"]
        .into_iter()
        .zip(0..threads);
    for (name, i) in rows {
        let middle = top + ROW * i + ROW / 2;
        text(area, name, (12, middle), HPos::Left, BLACK)?;
    }
    for draw in &schedule.draws {
        draw_block(area, *draw, DRAW, top, "draw", GREY)?;
    }
    let physics = top + ROW * (threads - 1);
    for step in &schedule.steps {
        draw_block(area, *step, STEP, physics, "step", BLUE)?;
    }
    Ok(())
}

fn draw_block(area: &Area, start: i32, length: i32, y: i32, name: &str, colour: RGBColor) -> Drawn {
    let (left, right) = (x(start) + 1, x(start + length) - 1);
    block(area, [(left, y + 1), (right, y + ROW - 1)], colour)?;
    let middle = ((left + right) / 2, y + ROW / 2);
    label(area, name, middle, HPos::Center, WHITE)
}

fn x(time: i32) -> i32 {
    LEFT + time * SCALE / 100
}

/// Returns when the steps are due.
fn due() -> impl Iterator<Item = i32> {
    (0..)
        .map(|tick| 10_000 * tick / RATE)
        .take_while(|due| *due < END)
}

/// Returns the first refresh from this time on.
fn refresh_after(time: i32) -> i32 {
    (time + REFRESH - 1) / REFRESH * REFRESH
}

impl Schedule {
    fn threads(&self) -> i32 {
        1 + i32::from(self.has_thread)
    }
}

/// Each frame runs the steps that are due, then draws, and waits for the display.
fn one_thread() -> Schedule {
    let mut schedule = Schedule::default();
    let mut due = due().peekable();
    let mut now = 0;
    while now < END {
        let start = now;
        while due.next_if(|due| *due <= start).is_some() {
            schedule.steps.push(now);
            now += STEP;
        }
        schedule.draws.push(now);
        now = refresh_after(now + DRAW);
    }
    schedule
}

/// Each frame starts the step that is due.
fn overlap() -> Schedule {
    Schedule {
        steps: due()
            .map(refresh_after)
            .filter(|start| *start < END)
            .collect(),
        ..runner()
    }
}

/// Steps start when they are due.
fn runner() -> Schedule {
    Schedule {
        draws: (0..REFRESHES).map(|refresh| refresh * REFRESH).collect(),
        steps: due().collect(),
        has_thread: true,
    }
}

/// Returns the time from the displayed moment to the present, in milliseconds.
fn age_of_simulation() -> f64 {
    let mut simulation = Simulation::new(Rate::hz(RATE as u32));
    for _ in 0..50 {
        simulation.advance(MS(10), |_, _| ());
    }
    let clock = simulation.clock();
    (clock.time().as_secs_f64() - clock.displayed_time().as_secs_f64()) * 1e3
}

fn age_of_overlap() -> Result<f64, Box<dyn Error>> {
    struct Game;
    impl Hooks for Game {
        type Error = Infallible;
    }
    let simulation = Simulation::new(Rate::hz(RATE as u32));
    let mut overlap = Overlap::new(simulation)?;
    for _ in 0..50 {
        overlap.frame(MS(10), &mut Game)?;
    }
    Ok((overlap.now().as_secs_f64() - overlap.view().time().as_secs_f64()) * 1e3)
}

/// A `Runner` follows the wall clock, so its delay is that of its settings.
fn age_of_runner() -> f64 {
    let slack = RunnerSettings::default().slack;
    f64::from(1.0 + slack) * 1e3 / f64::from(RATE)
}
