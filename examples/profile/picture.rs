//! The spans of some frames, as a viewer of traces shows them: one lane for each depth.

use std::error::Error;
use std::ops::RangeInclusive;
use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use serde_json::Value;

const WIDTH: u32 = 1_200;
const HEIGHT: u32 = 240;

/// The names of spans, in the order of the legend.
const COLOURS: [(&str, RGBColor); 9] = [
    ("frame", RGBColor(150, 170, 190)),
    ("step", RGBColor(190, 205, 220)),
    ("before_step", RGBColor(220, 150, 30)),
    ("forces", RGBColor(160, 110, 180)),
    ("rapier", RGBColor(200, 60, 40)),
    ("take_poses", RGBColor(30, 100, 190)),
    ("after_step", RGBColor(120, 90, 60)),
    ("show_poses", RGBColor(70, 170, 220)),
    ("draw", RGBColor(60, 150, 80)),
];

/// One that was entered and left; times in milliseconds.
struct Span {
    name: String,
    depth: usize,
    start: f64,
    end: f64,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws the spans of these frames out of a trace in Chrome's format, and below them the first of these alone.
pub fn draw(trace: &str, frames: RangeInclusive<u64>, file: &Path) -> Result<(), Box<dyn Error>> {
    let events: Vec<Value> = serde_json::from_str(trace)?;
    let (first, last) = frames.into_inner();

    let area = SVGBackend::new(file, (WIDTH, 2 * HEIGHT)).into_drawing_area();
    area.fill(&WHITE)?;
    let (all, one) = area.split_vertically(HEIGHT);
    let caption = format!("Frames {first} to {last}: the spans of the feature `tracing`");
    panel(&all, &caption, &spans(&events, first..last + 1))?;
    let caption = format!("Frame {first} alone");
    panel(&one, &caption, &spans(&events, first..first + 1))?;
    area.present()?;
    Ok(())
}

fn panel(area: &Area, caption: &str, spans: &[Span]) -> Result<(), Box<dyn Error>> {
    let (Some(start), Some(end)) = (
        spans.iter().map(|span| span.start).min_by(f64::total_cmp),
        spans.iter().map(|span| span.end).max_by(f64::total_cmp),
    ) else {
        return Err("the trace has none of these frames".into());
    };
    let mut chart = ChartBuilder::on(area)
        .caption(caption, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .build_cartesian_2d(0.0..end - start, 3.0..-0.8)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .disable_y_axis()
        .x_desc("time that it took, ms")
        .draw()?;
    let pixels = f64::from(WIDTH) / (end - start);
    for span in spans {
        let (left, right) = (span.start - start, span.end - start);
        let (top, bottom) = (span.depth as f64, span.depth as f64 + 0.9);
        let corners = [(left, top), (right, bottom)];
        chart.draw_series([Rectangle::new(corners, colour(&span.name).filled())])?;
        let width = (right - left) * pixels;
        // Of a narrower one it would hide the most part.
        if width > 8.0 {
            chart.draw_series([Rectangle::new(corners, WHITE.stroke_width(1))])?;
        }
        // Seven pixels a letter: what does not fit is told by the legend.
        if width > 7.0 * span.name.len() as f64 {
            let place = ((left + right) / 2.0, (top + bottom) / 2.0);
            chart.draw_series([Text::new(span.name.clone(), place, style(HPos::Center))])?;
        }
    }
    for (i, (name, colour)) in COLOURS.iter().enumerate() {
        let left = (end - start) * i as f64 / COLOURS.len() as f64;
        let right = left + 10.0 / pixels;
        let square = Rectangle::new([(left, -0.7), (right, -0.3)], colour.filled());
        chart.draw_series([square])?;
        let place = (right + 5.0 / pixels, -0.5);
        chart.draw_series([Text::new(name.to_string(), place, style(HPos::Left))])?;
    }
    Ok(())
}

fn style(at: HPos) -> TextStyle<'static> {
    let style = TextStyle::from(("sans-serif", 12).into_font());
    style.pos(Pos::new(at, VPos::Center))
}

fn colour(name: &str) -> RGBColor {
    let known = COLOURS.iter().find(|(known, _)| *known == name);
    known.map_or(BLACK, |(_, colour)| *colour)
}

/// Spans come as pairs of events: entered ("B") and left ("E").
fn spans(events: &[Value], frames: std::ops::Range<u64>) -> Vec<Span> {
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
