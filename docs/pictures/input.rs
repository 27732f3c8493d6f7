//! Presses of a key, and the steps that they reach.

use std::error::Error;

use evenstep::Simulation;
use evenstep::input::{Delivery, InputQueue};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::shapes::{Drawn, arrow, dot, line, ring};
use pictures::style::{self, Area, EVENSTEP, GREY, WITHOUT, label, text};
use scenes::MS;

/// The frame times in milliseconds. At 60 Hz, these frames have no step, one, two, and one.
const FRAME_TIMES: [u64; 4] = [12, 12, 35, 12];
/// The times of the presses in milliseconds: in the frame without a step, and in the one with two.
const PRESSES: [u64; 2] = [6, 34];

const SIDES: [(&str, RGBColor); 2] = [WITHOUT, EVENSTEP];

/// The number of pixels per millisecond, and the x of time zero.
const SCALE: u64 = 75;
const LEFT: i32 = 14;

/// Heights in pixels: the presses, the sides' names, the middle of their steps, and the number of steps.
const KEYS: i32 = 12;
const NAMES: [i32; 2] = [64, 158];
const STEPS: [i32; 2] = [108, 202];
const COUNTS: i32 = 244;
const HEIGHT: u32 = 304;

/// A frame, with times in milliseconds.
struct Frame {
    start: u64,
    end: u64,
    steps: Vec<HasPress>,
}

/// Whether a step has a press: of a key that is read once per frame, and of one in an `InputQueue`.
type HasPress = [bool; 2];

/// Draws frames from left to right, and circles for their steps, which are full if the step has a press.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let title = [
        "A press read once per frame is lost or counts",
        "twice. An InputQueue gives it to one step",
    ];
    let frames = frames();
    style::svg(&title, HEIGHT, |area| {
        for press in PRESSES {
            let x = x(press);
            text(area, "press", (x, KEYS), HPos::Center, BLACK)?;
            arrow(area, (x, KEYS + 12), (x, KEYS + 38), BLACK)?;
        }
        for (i, (name, colour)) in SIDES.into_iter().enumerate() {
            label(area, name, (LEFT, NAMES[i]), HPos::Left, colour)?;
            for frame in &frames {
                draw_frame(area, frame, i)?;
            }
        }
        for frame in &frames {
            let steps = match frame.steps.len() {
                0 => "no step".to_owned(),
                1 => "1 step".to_owned(),
                steps => format!("{steps} steps"),
            };
            text(area, &steps, (frame.middle(), COUNTS), HPos::Center, GREY)?;
        }
        draw_key(area)
    })
}

/// Runs the frames.
fn frames() -> Vec<Frame> {
    let mut simulation = Simulation::default();
    let mut keys = InputQueue::new(Delivery::NextStep);
    let mut start = 0;
    let mut run = |millis| {
        let end = start + millis;
        let is_pressed = is_pressed(start, end);
        if is_pressed {
            keys.push(simulation.clock().real_time(), ());
        }
        let mut steps = Vec::new();
        simulation.advance(MS(millis), |_, step| {
            let presses = keys.drain(step).count();
            steps.push([is_pressed, presses > 0]);
        });
        let frame = Frame { start, end, steps };
        start = end;
        frame
    };
    FRAME_TIMES.into_iter().map(&mut run).collect()
}

fn is_pressed(start: u64, end: u64) -> bool {
    PRESSES.iter().any(|press| (start..end).contains(press))
}

impl Frame {
    fn middle(&self) -> i32 {
        (x(self.start) + x(self.end)) / 2
    }
}

/// Draws the steps of a frame beside each other in its middle.
fn draw_frame(area: &Area, frame: &Frame, side: usize) -> Drawn {
    let (y, colour) = (STEPS[side], SIDES[side].1);
    let ends = [x(frame.start), x(frame.end)];
    line(area, &ends.map(|x| (x, y)), GREY, 2)?;
    for x in ends {
        line(area, &[(x, y - 20), (x, y + 20)], GREY, 2)?;
    }
    let left = frame.middle() - 24 * (frame.steps.len() as i32 - 1);
    for (has_press, i) in frame.steps.iter().zip(0..) {
        let at = (left + 48 * i, y);
        ring(area, at, 12, colour)?;
        if has_press[side] {
            dot(area, at, 12, colour)?;
        }
    }
    let has_press = frame.steps.iter().filter(|step| step[side]).count();
    let is_polled = side == 0 && is_pressed(frame.start, frame.end);
    match has_press {
        0 if is_polled => label(area, "lost", (frame.middle(), y - 16), HPos::Center, colour),
        2 => label(area, "twice", (left + 68, y - 16), HPos::Left, colour),
        _ => Ok(()),
    }
}

/// Explains the circles.
fn draw_key(area: &Area) -> Drawn {
    let y = COUNTS + 36;
    ring(area, (LEFT + 12, y), 10, BLACK)?;
    text(area, "step", (LEFT + 30, y), HPos::Left, BLACK)?;
    dot(area, (LEFT + 112, y), 10, BLACK)?;
    text(
        area,
        "step with a press",
        (LEFT + 130, y),
        HPos::Left,
        BLACK,
    )
}

fn x(millis: u64) -> i32 {
    LEFT + (millis * SCALE / 10) as i32
}
