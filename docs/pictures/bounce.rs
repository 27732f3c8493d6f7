//! The height of an elastic ball that falls from 5 m, over a trace in which one frame in sixty is long: a scene of the
//! report on the stepping strategies.

use std::error::Error;
use std::time::Duration;

use pictures::style::{EVENSTEP, Line, WITHOUT, lines_over_time};
use scenes::strategies::{SCENES, STRATEGIES, run, traces};

pub fn svg() -> Result<String, Box<dyn Error>> {
    let scene = (SCENES.iter()).find(|scene| scene.name == "elastic ball");
    let scene = scene.ok_or("no such scene")?;
    let traces = traces(1, Duration::from_secs(8), &[]);
    let trace = traces.iter().find(|trace| trace.name == "hitches");
    let trace = trace.ok_or("no such trace")?;
    // Each strategy, its name, and the point from which the name extends to the right.
    let lines = [
        ("variable", WITHOUT, (4.3, 6.4)),
        ("fixed, interpolated", EVENSTEP, (0.1, 5.6)),
    ];
    let lines = lines.map(|(name, (label, colour), at)| {
        let strategies = STRATEGIES.iter().filter(|it| it.name == name);
        let samples = strategies.flat_map(|it| run(scene, it, trace, None).samples);
        Line {
            name: label,
            colour,
            points: samples.map(|(time, height, _)| (time, height)).collect(),
            label: at,
        }
    });
    let title = [
        "With steps as long as the frame, an elastic ball",
        "rises higher than the 5 m that it fell from",
    ];
    lines_over_time(&title, "height, m", &lines, None, 120)
}
