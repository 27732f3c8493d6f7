//! The style of the book's pictures, which are readable on light and dark pages, and on a phone.
#![allow(missing_docs, reason = "read where they are used")]

use std::error::Error;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The width in pixels. A phone, whose pages are 320 wide, displays the picture at less than six tenths of its size.
pub const WIDTH: u32 = 560;
/// The height below the title, in pixels, unless a picture needs another.
pub const HEIGHT: u32 = 360;

/// The font is 19 pixels high in an SVG viewer, so that it is 11 pixels high on a phone.
pub const FONT: (&str, u32) = ("sans-serif", 24);
/// The height of a line of the title, and the margin above and below all of them, in pixels.
const LINE: u32 = 26;
const MARGIN: u32 = 12;

/// The distance from a point to the name that begins there, in pixels.
const GAP: i32 = 8;

/// The two sides of a comparison. They have these names and colours in each picture, report and terminal.
pub const WITHOUT: (&str, RGBColor) = ("without evenstep", ORANGE);
pub const EVENSTEP: (&str, RGBColor) = ("evenstep", BLUE);

pub const ORANGE: RGBColor = RGBColor(0xd6, 0x6c, 0x20);
pub const BLUE: RGBColor = RGBColor(0x3a, 0x86, 0xd8);
pub const GREY: RGBColor = RGBColor(110, 110, 110);

/// Browsers and code hosts tell a picture whether its page is dark. White becomes a dark grey, and hues do not change.
const ON_DARK_PAGES: &str = "<style>\
    @media (prefers-color-scheme: dark) { svg { filter: invert(0.9) hue-rotate(180deg) } }\
    </style>";

/// Part of a picture. Positions are in pixels from its upper left corner.
pub type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// A line over time, in seconds.
pub struct Line<'a> {
    pub name: &'a str,
    pub colour: RGBColor,
    pub points: Vec<(f64, f64)>,
    /// The point from which the name extends to the right, near an end of the line.
    pub label: (f64, f64),
}

/// A part of the time axis, in seconds, and the two lines of text beside it.
pub struct Band<'a> {
    pub times: [f64; 2],
    pub text: [&'a str; 2],
}

/// Draws a picture below its title, which says its message in one or two lines. Returns it as an SVG.
pub fn svg(
    title: &[&str],
    height: u32,
    draw: impl FnOnce(&Area) -> Result<(), Box<dyn Error>>,
) -> Result<String, Box<dyn Error>> {
    let above = title.len() as u32 * LINE + 2 * MARGIN;
    let mut svg = String::new();
    {
        let size = (WIDTH, above + height);
        let all = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        all.fill(&WHITE)?;
        for (line, i) in title.iter().zip(0..) {
            let y = MARGIN + LINE * i + LINE / 2;
            label(&all, line, (MARGIN as i32, y as i32), HPos::Left, BLACK)?;
        }
        draw(&all.split_vertically(above).1)?;
        all.present()?;
    }
    // After the opening tag.
    let content = svg.find('>').ok_or("no SVG")? + 1;
    svg.insert_str(content, ON_DARK_PAGES);
    Ok(svg)
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

/// Writes the name of a line or a side, in bold letters, which stay readable in colour.
pub fn label(
    area: &Area,
    text: &str,
    at: (i32, i32),
    end: HPos,
    colour: RGBColor,
) -> Result<(), Box<dyn Error>> {
    Ok(area.draw(&name(text, at, end, colour))?)
}

/// Returns the name of a line in a chart, in bold letters.
pub fn name<C>(text: &str, at: C, end: HPos, colour: RGBColor) -> Text<'static, C, String> {
    Text::new(text.to_owned(), at, bold(end, colour))
}

fn bold(end: HPos, colour: RGBColor) -> TextStyle<'static> {
    TextStyle {
        font: FONT.into_font().style(FontStyle::Bold),
        color: colour.to_backend_color(),
        pos: Pos::new(end, VPos::Center),
    }
}

/// Draws lines over the same time axis, in seconds. A band is behind the lines, and its text near the foot. The margin
/// at the right, in pixels, has room for the names of lines.
pub fn lines_over_time(
    title: &[&str],
    y: &str,
    lines: &[Line],
    band: Option<&Band>,
    right: u32,
) -> Result<String, Box<dyn Error>> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = lines.iter().flat_map(|line| &line.points).map(of);
        let values = values.filter(|value| value.is_finite());
        values.fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(v), high.max(v))
        })
    };
    let (times, mut values) = (range(|point| point.0), range(|point| point.1));
    if times.0 > times.1 {
        return Err("there is nothing to draw".into());
    }
    for line in lines {
        values = (values.0.min(line.label.1), values.1.max(line.label.1));
    }
    let margin = 0.05 * (values.1 - values.0).max(f64::MIN_POSITIVE);
    svg(title, HEIGHT, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(12)
            .margin_right(right)
            .x_label_area_size(60)
            .y_label_area_size(80)
            .build_cartesian_2d(times.0..times.1, values.0 - margin..values.1 + margin)?;
        chart
            .configure_mesh()
            .x_desc("time, s")
            .y_desc(y)
            .x_labels(6)
            .y_labels(6)
            .x_label_formatter(&|time| number(*time, times))
            .y_label_formatter(&|value| number(*value, values))
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
        for line in lines {
            let style = line.colour.stroke_width(3);
            chart.draw_series(LineSeries::new(line.points.iter().copied(), style))?;
            let name = name(line.name, (GAP, 0), HPos::Left, line.colour);
            chart.draw_series([EmptyElement::at(line.label) + name])?;
        }
        Ok(())
    })
}

/// Returns a number of an axis, with a decimal only if the axis is short.
fn number(value: f64, (low, high): (f64, f64)) -> String {
    let decimals = usize::from(high - low < 3.0);
    format!("{value:.decimals$}")
}
