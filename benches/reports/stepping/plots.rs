//! The plots of the report.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::time::Duration;

use plotters::style::RGBColor;

use super::Row;
use pictures::style::{Band, EVENSTEP, Line, WITHOUT, lines_over_time};

/// A strategy, its label and its colour, and the point from which the label extends to the right.
type Named = (&'static str, (&'static str, RGBColor), (f64, f64));

/// Plots the displayed speed of the body on the curve, frame by frame, over the project's capture. Its true speed is 8
/// m/s.
pub fn stutter(rows: &[Row], file: &Path) -> Result<(), Box<dyn Error>> {
    let names = [
        ("fixed, latest", WITHOUT, (2.02, 14.6)),
        ("fixed, interpolated", EVENSTEP, (2.61, 8.1)),
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
    let title = [
        "At 8 m/s, a body without evenstep appears",
        "to move at 0 to 13 m/s",
    ];
    let drawn = lines_over_time(&title, "speed, m/s", &lines, None, 120)?;
    Ok(fs::write(file, drawn)?)
}

/// Plots the height of the last crate of a pile, over a trace with one long frame.
pub fn pile(rows: &[Row], file: &Path) -> Result<(), Box<dyn Error>> {
    let names = [
        ("variable", WITHOUT, (6.05, 3.6)),
        ("fixed, interpolated", EVENSTEP, (8.05, 9.5)),
    ];
    let lines = lines(rows, "1,000 mixed bodies", "one hitch", &names, |row| {
        row.outcome
            .samples
            .iter()
            .map(|sample| (sample.0, sample.1))
            .collect()
    });
    let (start, length) = longest_frame(rows, "one hitch").ok_or("no frame")?;
    let hitch = Band {
        times: [start, start + length].map(|time| time.as_secs_f64()),
        text: ["one frame", &format!("takes {} ms", length.as_millis())],
    };
    let title = [
        "A pile collapses if a step is as long",
        "as the frame, and stands with evenstep",
    ];
    let drawn = lines_over_time(&title, "height, m", &lines, Some(&hitch), 120)?;
    Ok(fs::write(file, drawn)?)
}

/// Returns the start and the length of the longest frame of a trace.
fn longest_frame(rows: &[Row], trace: &str) -> Option<(Duration, Duration)> {
    let times = &rows.iter().find(|row| row.trace.name == trace)?.trace.times;
    let longest = (0..times.len()).max_by_key(|i| times[*i])?;
    Some((times[..longest].iter().sum(), times[longest]))
}

fn lines(
    rows: &[Row],
    scene: &str,
    trace: &str,
    names: &[Named],
    points: impl Fn(&Row) -> Vec<(f64, f64)>,
) -> Vec<Line<'static>> {
    let line = |&(strategy, (name, colour), label): &Named| {
        let mut rows = rows
            .iter()
            .filter(|row| row.scene.name == scene && row.trace.name == trace);
        let row = rows.find(|row| row.strategy.name == strategy)?;
        Some(Line {
            name,
            colour,
            points: points(row),
            label,
        })
    };
    names.iter().filter_map(line).collect()
}
