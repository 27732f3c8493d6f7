//! Nanoseconds per body, by number of bodies.
#![allow(missing_docs, reason = "read by one bench")]

use std::error::Error;

use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use serde::{Deserialize, Serialize};

use crate::style::{self, BLUE, FONT, GREY, HEIGHT, name};

/// The bytes that a frame without a step reads or writes per body: four poses of 32 bytes, an entry of the list of 40,
/// a key and two marks.
const BYTES_PER_BODY: f64 = 178.0;

/// The colour of a frame that also writes poses into an ECS.
const PURPLE: RGBColor = RGBColor(130, 80, 170);

/// A measurement by the bench `growth`, which is stored in `growth.json`.
#[derive(Serialize, Deserialize)]
pub struct Growth {
    /// The data caches of the processor.
    pub caches: Vec<Cache>,
    pub points: Vec<Point>,
}

#[derive(Serialize, Deserialize)]
pub struct Cache {
    pub level: u8,
    pub kilobytes: f64,
}

/// Nanoseconds per body.
#[derive(Serialize, Deserialize)]
pub struct Point {
    pub bodies: u32,
    pub frame: f64,
    pub frame_and_hecs: f64,
}

impl Growth {
    pub fn svg(&self) -> Result<String, Box<dyn Error>> {
        let of = |y: fn(&Point) -> f64| {
            let points = self.points.iter();
            points.map(move |point| (point.bodies.into(), y(point)))
        };
        let with_hecs = of(|point| point.frame_and_hecs);
        let most = with_hecs.clone().map(|point| point.1).fold(0.0, f64::max);
        let title = [
            "The cost per moving body hardly grows,",
            "from a hundred bodies to a million",
        ];
        style::svg(&title, HEIGHT, |area| {
            let mut chart = ChartBuilder::on(area)
                .margin(12)
                .margin_right(60)
                .x_label_area_size(60)
                .y_label_area_size(80)
                .build_cartesian_2d((100f64..1_000_000f64).log_scale(), 0.0..most * 1.6)?;
            chart
                .configure_mesh()
                .x_desc("moving bodies")
                .y_desc("nanoseconds per body")
                .x_label_formatter(&|bodies| label(*bodies).to_owned())
                .y_label_formatter(&|time| format!("{time}"))
                .y_labels(6)
                .label_style(FONT)
                .light_line_style(WHITE)
                .draw()?;
            for (cache, i) in self.caches.iter().zip(0..) {
                let bodies = cache.kilobytes * 1024.0 / BYTES_PER_BODY;
                let top = most * (1.5 - 0.14 * f64::from(i));
                let ends = [(bodies, 0.0), (bodies, top)];
                chart.draw_series([PathElement::new(ends, GREY.stroke_width(2))])?;
                chart.draw_series([Text::new(cache.label(), (bodies * 1.1, top), FONT)])?;
            }
            let lines: [(_, _, Vec<_>); 2] = [
                ("a frame", BLUE, of(|point| point.frame).collect()),
                ("with hecs", PURPLE, with_hecs.collect()),
            ];
            for (text, colour, points) in lines {
                let least = points.iter().map(|point| point.1).fold(f64::MAX, f64::min);
                let below = (200.0, least - 0.08 * most);
                chart.draw_series([name(text, below, HPos::Left, colour)])?;
                let line = LineSeries::new(points, colour.stroke_width(3));
                chart.draw_series(line.point_size(4))?;
            }
            Ok(())
        })
    }
}

impl Cache {
    fn label(&self) -> String {
        let (size, unit) = match self.kilobytes {
            ..1024.0 => (self.kilobytes, "kB"),
            _ => (self.kilobytes / 1024.0, "MB"),
        };
        format!("L{}, {size} {unit}", self.level)
    }
}

/// Returns the label of a power of ten. Every other one has none, because their labels would touch.
fn label(bodies: f64) -> &'static str {
    match bodies as u32 {
        100 => "100",
        10_000 => "10,000",
        1_000_000 => "1,000,000",
        _ => "",
    }
}
