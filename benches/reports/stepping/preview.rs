//! Prints the tables of previews in README.md.

use std::time::Duration;

use evenstep::Rate;
use evenstep::time::RateError;

use scenes::preview::{Figures, WAYS, latency, measure, scenes};

/// Measures each method of displaying a frame, at 60 Hz and at 30 Hz, and prints the results.
pub fn print(length: Duration) -> Result<(), RateError> {
    for hz in [60, 30] {
        let rate = Rate::hz(hz);
        println!("\n## {hz} Hz\n");
        println!(
            "| scene | displayed | off, mean mm | worst mm | turned, worst ° | off the curve, worst mm | jump, worst mm | cost |"
        );
        println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
        for scene in scenes() {
            for (name, way) in WAYS {
                let figures = measure(&scene, way, rate, length);
                println!("| {} | {name} | {} |", scene.name, cells(&figures));
            }
        }
        println!("\n| displayed | first effect, ms |\n| --- | --- |");
        for (name, way) in WAYS {
            println!("| {name} | {:.1} |", latency(way, rate) * 1e3);
        }
    }
    Ok(())
}

fn cells(figures: &Figures) -> String {
    let mm = |metres: f64| format!("{:.2}", metres * 1e3);
    let curve = figures.off_curve.map(|errors| mm(errors.worst));
    let cost = figures.cost.map(|cost| format!("{cost:.1}"));
    [
        mm(figures.off.mean()),
        mm(figures.off.worst),
        format!("{:.2}", figures.turned.worst),
        curve.unwrap_or_default(),
        mm(figures.jump.worst),
        cost.unwrap_or_default(),
    ]
    .join(" | ")
}
