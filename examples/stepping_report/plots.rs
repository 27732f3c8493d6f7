//! The two plots of the report.

use std::error::Error;
use std::path::Path;

use plotters::prelude::*;

use super::Row;

const COLOURS: [RGBColor; 4] = [
    RGBColor(200, 60, 40),
    RGBColor(220, 150, 30),
    RGBColor(90, 90, 90),
    RGBColor(30, 100, 190),
];

type Line<'a> = (&'a str, Vec<(f64, f64)>);

/// How fast the body on the curve goes on the screen, frame by frame, over the capture of our own: its
/// true speed is 8 m/s.
pub fn stutter(rows: &[Row], file: &Path) -> Result<(), Box<dyn Error>> {
    let names = [
        "fixed, latest",
        "display-counted 240 Hz",
        "variable",
        "fixed, interpolated",
    ];
    let lines = lines(rows, "curve", "own capture", &names, |row| {
        let samples = &row.outcome.samples;
        let pairs = samples
            .windows(2)
            .filter(|pair| (2.0..2.6).contains(&pair[1].0));
        let speed = |pair: &[(f64, f64, evenstep::rapier::math::Vector)]| {
            let way = f64::from(pair[1].2.distance(pair[0].2));
            (pair[1].0, way / (pair[1].0 - pair[0].0))
        };
        pairs.map(speed).collect()
    });
    draw(
        file,
        "A body at a steady 8 m/s, as fast as each frame shows it",
        "m/s",
        &lines,
    )
}

/// The height of the last crate of a pile, over a trace with one long frame.
pub fn pile(rows: &[Row], file: &Path) -> Result<(), Box<dyn Error>> {
    let names = [
        "variable",
        "semi-fixed",
        "display-counted 240 Hz",
        "fixed, interpolated",
    ];
    let lines = lines(rows, "1,000 mixed bodies", "one hitch", &names, |row| {
        row.outcome
            .samples
            .iter()
            .map(|sample| (sample.0, sample.1))
            .collect()
    });
    draw(
        file,
        "The top of a pile, with one frame of 300 ms at 2 s",
        "m",
        &lines,
    )
}

fn lines<'a>(
    rows: &[Row<'a>],
    scene: &str,
    trace: &str,
    names: &[&'a str],
    points: impl Fn(&Row) -> Vec<(f64, f64)>,
) -> Vec<Line<'a>> {
    let line = |name: &&'a str| {
        let mut rows = rows
            .iter()
            .filter(|row| row.scene.name == scene && row.trace.name == trace);
        rows.find(|row| row.strategy.name == *name)
            .map(|row| (*name, points(row)))
    };
    names.iter().filter_map(line).collect()
}

/// At most four lines over the same time.
pub fn draw(file: &Path, caption: &str, unit: &str, lines: &[Line]) -> Result<(), Box<dyn Error>> {
    let all = || lines.iter().flat_map(|(_, points)| points);
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = all().map(of).filter(|value| value.is_finite());
        values.fold((f64::MAX, f64::MIN), |(low, high), v| {
            (low.min(v), high.max(v))
        })
    };
    let (times, values) = (range(|point| point.0), range(|point| point.1));
    let height = (values.1 - values.0).max(f64::MIN_POSITIVE);
    // Room at the top for the names.
    let values = values.0 - 0.05 * height..values.1 + 0.4 * height;

    let area = SVGBackend::new(file, (860, 420)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(caption, ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d(times.0..times.1, values)?;
    chart
        .configure_mesh()
        .x_desc("time, s")
        .y_desc(unit)
        .light_line_style(WHITE)
        .draw()?;
    for ((name, points), colour) in lines.iter().zip(COLOURS) {
        chart
            .draw_series(LineSeries::new(
                points.iter().copied(),
                colour.stroke_width(2),
            ))?
            .label(*name)
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .border_style(BLACK)
        .background_style(WHITE)
        .draw()?;
    area.present()?;
    Ok(())
}
