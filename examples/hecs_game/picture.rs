//! The pictures of the book, readable on light and dark pages, and on a phone.
#![allow(dead_code, reason = "not every program draws lines")]

use std::error::Error;
use std::fs;
use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The width and height are in pixels. A phone, whose pages are 320 wide, displays the picture at less than six tenths
/// of its size.
const WIDTH: u32 = 560;
const HEIGHT: u32 = 360;

/// The font is 19 pixels high in an SVG viewer, so that it is 11 pixels high on a phone.
pub const FONT: (&str, u32) = ("sans-serif", 24);
/// The maximum width of a letter, in pixels.
const LETTER: u32 = 10;
/// The height of a row of the legend, in pixels.
const ROW: u32 = 28;

pub const RED: RGBColor = RGBColor(200, 60, 40);
pub const BLUE: RGBColor = RGBColor(30, 100, 190);
pub const ORANGE: RGBColor = RGBColor(190, 110, 0);
pub const GREY: RGBColor = RGBColor(110, 110, 110);

/// Browsers and code hosts tell a picture whether its page is dark. White becomes a dark grey, and hues do not change.
const ON_DARK_PAGES: &str = "<style>\
    @media (prefers-color-scheme: dark) { svg { filter: invert(0.9) hue-rotate(180deg) } }\
    </style>";

pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A name, and its points.
pub type Line<'a> = (&'a str, RGBColor, Vec<(f64, f64)>);

/// A part of the time axis, in seconds, and the two lines of text beside it.
pub struct Band<'a> {
    pub times: [f64; 2],
    pub text: [&'a str; 2],
}

/// Draws a picture, and returns it as an SVG. The legend is above the lines, where it hides nothing.
pub fn svg(
    legend: &[(&str, RGBColor)],
    draw: impl FnOnce(&Area) -> Result<(), Box<dyn Error>>,
) -> Result<String, Box<dyn Error>> {
    let letters = legend.iter().map(|(name, _)| name.chars().count()).max();
    let columns = WIDTH / (letters.unwrap_or(0) as u32 * LETTER + 50).min(WIDTH);
    let above = (legend.len() as u32).div_ceil(columns) * ROW + 10;

    let mut svg = String::new();
    {
        let size = (WIDTH, above + HEIGHT);
        let all = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        all.fill(&WHITE)?;
        for ((name, colour), i) in legend.iter().zip(0..) {
            let x = (i % columns * (WIDTH / columns) + 12) as i32;
            let y = (i / columns * ROW + 24) as i32;
            all.draw(&Rectangle::new(
                [(x, y - 7), (x + 24, y + 7)],
                colour.filled(),
            ))?;
            text(&all, name, (x + 32, y), HPos::Left, BLACK)?;
        }
        draw(&all.split_vertically(above).1)?;
        all.present()?;
    }
    // After the opening tag.
    let content = svg.find('>').ok_or("no SVG")? + 1;
    svg.insert_str(content, ON_DARK_PAGES);
    Ok(svg)
}

/// Writes a picture to a file.
pub fn write(
    file: &Path,
    legend: &[(&str, RGBColor)],
    draw: impl FnOnce(&Area) -> Result<(), Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    Ok(fs::write(file, svg(legend, draw)?)?)
}

/// Writes text whose left end, centre or right end is at a position in pixels.
pub fn text(
    area: &Area,
    text: &str,
    at: (i32, i32),
    end: HPos,
    colour: RGBColor,
) -> Result<(), Box<dyn Error>> {
    let style = TextStyle::from(FONT.into_font()).color(&colour);
    let style = style.pos(Pos::new(end, VPos::Center));
    Ok(area.draw(&Text::new(text.to_owned(), at, style))?)
}

/// Draws lines over the same time axis, in seconds. A band is behind the lines, and its text near the foot.
pub fn lines_over_time(
    file: &Path,
    y: &str,
    lines: &[Line],
    band: Option<&Band>,
) -> Result<(), Box<dyn Error>> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = lines.iter().flat_map(|line| &line.2).map(of);
        let values = values.filter(|value| value.is_finite());
        values.fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(v), high.max(v))
        })
    };
    let (times, values) = (range(|point| point.0), range(|point| point.1));
    if times.0 > times.1 {
        return Err("there is nothing to draw".into());
    }
    let margin = 0.05 * (values.1 - values.0).max(f64::MIN_POSITIVE);
    let legend: Vec<_> = lines.iter().map(|line| (line.0, line.1)).collect();
    write(file, &legend, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(24)
            .x_label_area_size(60)
            .y_label_area_size(80)
            .build_cartesian_2d(times.0..times.1, values.0 - margin..values.1 + margin)?;
        chart
            .configure_mesh()
            .x_desc("time, s")
            .y_desc(y)
            .x_labels(6)
            .y_labels(6)
            .label_style(FONT)
            .light_line_style(WHITE)
            .draw()?;
        if let Some(band) = band {
            let [start, end] = band.times;
            let corners = [(start, values.0 - margin), (end, values.1 + margin)];
            chart.draw_series([Rectangle::new(corners, GREY.mix(0.35).filled())])?;
            let right = end + 0.02 * (times.1 - times.0);
            for (line, share) in band.text.into_iter().zip([0.28, 0.16]) {
                let height = values.0 + share * (values.1 - values.0);
                chart.draw_series([Text::new(line.to_owned(), (right, height), FONT)])?;
            }
        }
        for (_, colour, points) in lines {
            let style = colour.stroke_width(3);
            chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
        }
        Ok(())
    })
}
