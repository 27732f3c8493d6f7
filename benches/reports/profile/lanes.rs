//! Draws the spans of some frames as trace viewers do, one lane for each depth, and the total time of each name.

use std::error::Error;
use std::ops::Range;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use serde_json::Value;

use pictures::style::{self, Area, BLUE, FONT, GREY, label, text};

/// The lanes: names of spans, and the span with all others comes first.
const LANES: [&str; 3] = ["frame", "step", "rapier"];
/// The names of the spans in a step or a frame, in their order, and the colour of those who run them.
const PARTS: [(&str, RGBColor); 7] = [
    ("before_step", GAME),
    ("forces", BLUE),
    ("rapier", RAPIER),
    ("take_poses", BLUE),
    ("after_step", GAME),
    ("show_poses", BLUE),
    ("draw", GAME),
];
const RAPIER: RGBColor = GREY;
const GAME: RGBColor = RGBColor(60, 150, 80);

/// The width of the names at the left, and the height of the lanes with their axis, of a row, and of all, in pixels.
const NAMES: i32 = 150;
const TOP: i32 = 190;
const ROW: i32 = 27;
const HEIGHT: u32 = TOP as u32 + ROW as u32 * PARTS.len() as u32 + 46;

/// A finished span. Times are in milliseconds.
struct Span {
    name: String,
    depth: usize,
    start: f64,
    end: f64,
}

/// Draws the spans of these frames from a trace in Chrome's format, and below them the sum of each part.
pub fn draw(trace: &str, frames: Range<u64>) -> Result<String, Box<dyn Error>> {
    let events: Vec<Value> = serde_json::from_str(trace)?;
    let spans = spans(&events, frames);
    let title = ["Most of the time of a frame is Rapier's"];
    style::svg(&title, HEIGHT, |area| {
        let (lanes, sums) = area.split_vertically(TOP);
        draw_lanes(&lanes, &spans)?;
        draw_sums(&sums, &spans)
    })
}

fn draw_lanes(area: &Area, spans: &[Span]) -> Result<(), Box<dyn Error>> {
    let (Some(start), Some(end)) = (
        spans.iter().map(|span| span.start).min_by(f64::total_cmp),
        spans.iter().map(|span| span.end).max_by(f64::total_cmp),
    ) else {
        return Err("the trace has none of these frames".into());
    };
    let mut chart = ChartBuilder::on(area)
        .margin_left(NAMES)
        .margin_right(24)
        .x_label_area_size(66)
        .build_cartesian_2d(0.0..end - start, LANES.len() as f64..0.0)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .disable_y_axis()
        .x_desc("time, ms")
        .x_labels(8)
        .label_style(FONT)
        .draw()?;
    let lane = chart.plotting_area().dim_in_pixel().1 as i32 / LANES.len() as i32;
    for (name, i) in LANES.into_iter().zip(0..) {
        let middle = (NAMES - 12, lane * i + lane / 2);
        label(area, name, middle, HPos::Right, colour(name))?;
    }
    for span in spans {
        let (left, right) = (span.start - start, span.end - start);
        let corners = [(left, span.depth as f64), (right, span.depth as f64 + 0.9)];
        chart.draw_series([Rectangle::new(corners, colour(&span.name).filled())])?;
        chart.draw_series([Rectangle::new(corners, WHITE.stroke_width(1))])?;
    }
    Ok(())
}

/// Draws a bar for each part.
fn draw_sums(area: &Area, spans: &[Span]) -> Result<(), Box<dyn Error>> {
    let sum = |name: &str| -> f64 {
        let of_name = spans.iter().filter(|span| span.name == name);
        of_name.map(|span| span.end - span.start).sum()
    };
    let all = sum(LANES[0]);
    let (width, _) = area.dim_in_pixel();
    let longest = f64::from(width as i32 - NAMES - 110);
    text(area, "sums:", (NAMES - 12, 12), HPos::Right, BLACK)?;
    for ((name, colour), i) in PARTS.into_iter().zip(1..) {
        let (y, sum) = (ROW * i + 16, sum(name));
        label(area, name, (NAMES - 12, y), HPos::Right, colour)?;
        let end = NAMES + (longest * sum / all).round().max(1.0) as i32;
        area.draw(&Rectangle::new(
            [(NAMES, y - 9), (end, y + 9)],
            colour.filled(),
        ))?;
        let share = format!("{sum:.2} ms");
        text(area, &share, (end + 8, y), HPos::Left, BLACK)?;
    }
    Ok(())
}

fn colour(name: &str) -> RGBColor {
    let known = PARTS.iter().find(|(known, _)| *known == name);
    known.map_or(RGBColor(120, 140, 170), |(_, colour)| *colour)
}

/// Reads spans from pairs of events: entry ("B") and exit ("E").
fn spans(events: &[Value], frames: Range<u64>) -> Vec<Span> {
    let mut open: Vec<(&str, f64)> = Vec::new();
    let mut frame = None;
    let mut spans = Vec::new();
    for event in events {
        let time = event["ts"].as_f64().unwrap_or_default() / 1_000.0;
        let name = event["name"].as_str().unwrap_or_default();
        match event["ph"].as_str() {
            Some("B") => {
                let number = event["args"]["number"].as_str();
                frame = number.and_then(|number| number.parse().ok()).or(frame);
                open.push((name, time));
            }
            Some("E") => {
                let Some((name, start)) = open.pop() else {
                    continue;
                };
                if frame.is_some_and(|frame| frames.contains(&frame)) {
                    spans.push(Span {
                        name: name.to_owned(),
                        depth: open.len(),
                        start,
                        end: time,
                    });
                }
            }
            _ => (),
        }
    }
    spans
}
