//! Measures how even the frame times of captures are, before and after a filter.

use std::time::Duration;

use evenstep::time::{FilterError, FrameFilter};

/// The deviations of a capture's frame times after a filter, in milliseconds. They equal the deviations in millimetres
/// of a displayed body at 1 m/s.
struct Figures {
    /// The change from one frame to the next, root mean square.
    uneven: f64,
    /// The largest change.
    worst: f64,
    /// The largest difference between the sum of the filtered frame times and real time.
    off: f64,
}

/// Prints the table in README.md.
pub fn print(captures: &[(&str, &[Duration])]) -> Result<(), FilterError> {
    let filters = [
        ("none", None),
        ("automatic", Some(FrameFilter::automatic())),
        ("averaging 8 frames", Some(FrameFilter::averaging(8)?)),
        ("averaging 32 frames", Some(FrameFilter::averaging(32)?)),
    ];
    println!(
        "| capture | filter | from frame to frame, RMS ms | worst ms | off real time, worst ms |"
    );
    println!("| --- | --- | --- | --- | --- |");
    for (capture, times) in captures {
        for (name, filter) in &filters {
            let Figures { uneven, worst, off } = figures(times, filter.clone());
            println!("| {capture} | {name} | {uneven:.2} | {worst:.1} | {off:.1} |");
        }
    }
    Ok(())
}

fn figures(times: &[Duration], mut filter: Option<FrameFilter>) -> Figures {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    let (mut real, mut given, mut off) = (Duration::ZERO, Duration::ZERO, 0.0_f64);
    let mut shown = Vec::new();
    for time in times {
        let filtered = filter.as_mut().map_or(*time, |filter| filter.filter(*time));
        real += *time;
        given += filtered;
        off = off.max(ms(real.abs_diff(given)));
        shown.push(ms(filtered));
    }
    let changes = shown.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let squares: f64 = changes.clone().map(|change| change * change).sum();
    Figures {
        uneven: (squares / changes.len().max(1) as f64).sqrt(),
        worst: changes.fold(0.0, f64::max),
        off,
    }
}
