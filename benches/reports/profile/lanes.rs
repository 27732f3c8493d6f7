//! Draws the spans of some frames as trace viewers do: one lane for each depth.

use std::error::Error;
use std::ops::RangeInclusive;
use std::path::Path;

use plotters::prelude::*;
use serde_json::Value;

use crate::picture::{self, Area, FONT};

/// The names of spans, in the order of the legend.
const COLOURS: [(&str, RGBColor); 9] = [
    ("frame", RGBColor(130, 130, 130)),
    ("step", RGBColor(110, 150, 190)),
    ("before_step", RGBColor(190, 110, 0)),
    ("forces", RGBColor(160, 110, 180)),
    ("rapier", RGBColor(200, 60, 40)),
    ("take_poses", RGBColor(30, 100, 190)),
    ("after_step", RGBColor(120, 90, 60)),
    ("show_poses", RGBColor(40, 130, 180)),
    ("draw", RGBColor(60, 150, 80)),
];

/// A finished span. Times are in milliseconds.
struct Span {
    name: String,
    depth: usize,
    start: f64,
    end: f64,
}

/// Draws the spans of these frames from a trace in Chrome's format, and the first frame alone below them.
pub fn draw(trace: &str, frames: RangeInclusive<u64>, file: &Path) -> Result<(), Box<dyn Error>> {
    let events: Vec<Value> = serde_json::from_str(trace)?;
    let (first, last) = frames.into_inner();
    picture::write(file, &COLOURS, |area| {
        let (all, one) = area.split_vertically((50).percent_height());
        panel(&all, &spans(&events, first..last + 1))?;
        panel(&one, &spans(&events, first..first + 1))
    })
}

fn panel(area: &Area, spans: &[Span]) -> Result<(), Box<dyn Error>> {
    let (Some(start), Some(end)) = (
        spans.iter().map(|span| span.start).min_by(f64::total_cmp),
        spans.iter().map(|span| span.end).max_by(f64::total_cmp),
    ) else {
        return Err("the trace has none of these frames".into());
    };
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .margin_left(24)
        .margin_right(24)
        .x_label_area_size(60)
        .build_cartesian_2d(0.0..end - start, 3.0..0.0)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .disable_y_axis()
        .x_desc("time, ms")
        .x_labels(8)
        .label_style(FONT)
        .draw()?;
    let pixels = f64::from(chart.plotting_area().dim_in_pixel().0) / (end - start);
    for span in spans {
        let (left, right) = (span.start - start, span.end - start);
        let corners = [(left, span.depth as f64), (right, span.depth as f64 + 0.9)];
        chart.draw_series([Rectangle::new(corners, colour(&span.name).filled())])?;
        // A label would hide most of a narrower span.
        if (right - left) * pixels > 8.0 {
            chart.draw_series([Rectangle::new(corners, WHITE.stroke_width(1))])?;
        }
    }
    Ok(())
}

fn colour(name: &str) -> RGBColor {
    let known = COLOURS.iter().find(|(known, _)| *known == name);
    known.map_or(BLACK, |(_, colour)| *colour)
}

/// Reads spans from pairs of events: entry ("B") and exit ("E").
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
