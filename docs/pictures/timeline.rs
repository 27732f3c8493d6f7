//! When frames end, and what they display.

use std::error::Error;

use evenstep::Simulation;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use pictures::style::{self, Area, BLUE, GREY, label, text};
use scenes::MS;

/// The frame times in milliseconds. A step takes 16.7 ms.
const FRAME_TIMES: [u64; 6] = [21, 7, 7, 8, 14, 6];
/// The frame whose overstep and alpha the picture names.
const NAMED: usize = 3;

/// The x of time zero, and the length of a step, in pixels.
const START: f32 = 132.0;
const STEP: f32 = 98.0;
const LAST_STEP: u8 = 4;

/// Heights in the picture, in pixels from its title.
const FRAMES: i32 = 64;
const DISPLAYED: i32 = 182;
const NUMBERS: i32 = 262;
const HEIGHT: u32 = 312;

/// Draws when frames end, and the moment that each of them displays. Time runs to the right, in steps.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let title = [
        "Each frame displays the moment one step",
        "earlier, so it always has a step on both sides",
    ];
    style::svg(&title, HEIGHT, |area| {
        for step in 0..=LAST_STEP {
            let x = x(step.into());
            let line = [(x, FRAMES - 28), (x, NUMBERS - 18)];
            area.draw(&PathElement::new(line, GREY.mix(0.5).stroke_width(2)))?;
            text(area, &step.to_string(), (x, NUMBERS), HPos::Center, BLACK)?;
        }
        let middle = x(f32::from(LAST_STEP) / 2.0);
        text(
            area,
            "time, in steps",
            (middle, NUMBERS + 30),
            HPos::Center,
            BLACK,
        )?;
        for (name, y) in [("frames", FRAMES), ("displayed", DISPLAYED)] {
            label(area, name, (12, y), HPos::Left, BLUE)?;
        }
        draw_frames(area)?;
        text(area, "one step", (12, 110), HPos::Left, GREY)?;
        text(area, "earlier", (12, 136), HPos::Left, GREY)
    })
}

fn draw_frames(area: &Area) -> Result<(), Box<dyn Error>> {
    let mut simulation = Simulation::default();
    for (millis, i) in FRAME_TIMES.into_iter().zip(0..) {
        let frame = simulation.advance(MS(millis), |_, _| ());
        let last_step = frame.tick as f32;
        let [end, displayed] = [last_step + frame.alpha, last_step - 1.0 + frame.alpha];
        arrow(
            area,
            (x(end), FRAMES),
            (x(displayed), DISPLAYED),
            i == NAMED,
        )?;
        if i == NAMED {
            bracket(area, [last_step, end], FRAMES - 22, -20, "overstep")?;
            bracket(
                area,
                [last_step - 1.0, displayed],
                DISPLAYED + 22,
                20,
                "alpha",
            )?;
        }
    }
    Ok(())
}

fn x(steps: f32) -> i32 {
    (START + STEP * steps).round() as i32
}

/// Draws a dot, and an arrow to a second dot.
fn arrow(
    area: &Area,
    from: (i32, i32),
    to: (i32, i32),
    is_named: bool,
) -> Result<(), Box<dyn Error>> {
    let colour = BLUE.mix(if is_named { 1.0 } else { 0.45 });
    area.draw(&PathElement::new([from, to], GREY.stroke_width(2)))?;
    for dot in [from, to] {
        area.draw(&Circle::new(dot, 8, WHITE.filled()))?;
        area.draw(&Circle::new(dot, 8, colour.filled()))?;
    }
    Ok(())
}

/// Draws a line between two times, with ends, and its name `below` it.
fn bracket(
    area: &Area,
    times: [f32; 2],
    y: i32,
    below: i32,
    name: &str,
) -> Result<(), Box<dyn Error>> {
    let [left, right] = times.map(x);
    let line = [
        (left, y - 5),
        (left, y + 5),
        (left, y),
        (right, y),
        (right, y - 5),
        (right, y + 5),
    ];
    area.draw(&PathElement::new(line, BLACK.stroke_width(3)))?;
    text(
        area,
        name,
        ((left + right) / 2, y + below),
        HPos::Center,
        BLACK,
    )
}
