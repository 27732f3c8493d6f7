//! Runs every stepping strategy over the same scenes and the same frames, and reports the results: a table, a CSV file
//! with every run, and two plots.
//!
//! `cargo run --release -p evenstep-benches --example stepping_report`
//!
//! With `--filters`, it prints how even the captures' frames are after each filter of frame times. With `--preview`,
//! it compares extrapolation with a step that a copy of the state runs ahead. README.md in this folder has the results.
//! The book has copies of the plots, in docs/book/src.
#![allow(missing_docs, reason = "a program")]

mod filters;
mod plots;
mod preview;

use std::error::Error;
use std::fs::File;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use evenstep::rapier::math::Vector;
use indicatif::{ProgressBar, ProgressStyle};
use scenes::frame_times;
use scenes::strategies::{
    Outcome, Reference, SCENES, STRATEGIES, Scene, Strategy, Trace, costs, latency, run, traces,
};

/// Runs every stepping strategy over the same scenes and the same frames.
#[derive(Parser)]
struct Options {
    /// A capture from PresentMon or MangoHud, or a list of milliseconds, used as another trace
    #[arg(long, value_name = "FILE")]
    frame_times: Option<PathBuf>,
    /// The length of each run, in seconds of frame time
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(3..=600))]
    seconds: u64,
    /// The seed of the jitter and the inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder for the CSV file and the plots
    #[arg(long, value_name = "DIR", default_value = "target/stepping_report")]
    output: PathBuf,
    /// Compare extrapolation with previews instead, and print that table
    #[arg(long, conflicts_with_all = ["frame_times", "seed", "output"])]
    preview: bool,
    /// Print how even the captures are after each filter of frame times instead
    #[arg(long, conflicts_with_all = ["seed", "output", "preview"])]
    filters: bool,
}

/// A run, with its scene, strategy and trace.
pub struct Row<'a> {
    pub scene: &'a Scene,
    pub strategy: &'a Strategy,
    pub trace: &'a Trace,
    pub outcome: Outcome,
}

fn main() -> ExitCode {
    match report(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn report(options: &Options) -> Result<(), Box<dyn Error>> {
    if options.preview {
        return Ok(preview::print(Duration::from_secs(options.seconds))?);
    }
    let own =
        frame_times::read(&include_bytes!("../../../examples/hecs_game/frame-times.csv")[..])?;
    let given = read_given(options)?;
    let mut captures: Vec<(&str, &[Duration])> = vec![("own capture", &own)];
    if !given.is_empty() {
        captures.push(("given capture", &given));
    }
    if options.filters {
        return Ok(filters::print(&captures)?);
    }
    let length = Duration::from_secs(options.seconds);
    let traces = traces(options.seed, length, &captures);
    let rows = run_all(options, &traces)?;
    print_table(&rows, &traces, options);
    std::fs::create_dir_all(&options.output)?;
    write_csv(&rows, options)?;
    plots::stutter(&rows, &options.output.join("stutter.svg"))?;
    plots::pile(&rows, &options.output.join("pile.svg"))?;
    println!("\nall runs and two plots: {}", options.output.display());
    Ok(())
}

/// Reads the capture named on the command line, if any.
fn read_given(options: &Options) -> Result<Vec<Duration>, Box<dyn Error>> {
    let Some(path) = &options.frame_times else {
        return Ok(Vec::new());
    };
    let named = |error: &dyn Error| format!("{}: {error}", path.display());
    let file = File::open(path).map_err(|error| named(&error))?;
    let times = frame_times::read(file).map_err(|error| named(&error))?;
    if times.iter().all(Duration::is_zero) {
        return Err(format!("{}: the frames take no time", path.display()).into());
    }
    Ok(times)
}

fn run_all<'a>(options: &Options, traces: &'a [Trace]) -> Result<Vec<Row<'a>>, Box<dyn Error>> {
    let runs = SCENES.len() * STRATEGIES.len() * traces.len();
    let progress = ProgressBar::new(runs as u64);
    progress.set_style(ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}")?);
    let mut rows = Vec::new();
    for scene in &SCENES {
        progress.set_message(scene.name);
        let reference = Reference::of(scene, Duration::from_secs(options.seconds));
        for strategy in &STRATEGIES {
            for trace in traces {
                let outcome = run(scene, strategy, trace, reference.as_ref());
                rows.push(Row {
                    scene,
                    strategy,
                    trace,
                    outcome,
                });
                progress.inc(1);
            }
        }
    }
    progress.finish_and_clear();
    Ok(rows)
}

fn print_table(rows: &[Row], traces: &[Trace], options: &Options) {
    for scene in &SCENES {
        println!("\n{}: {}", scene.name, scene.figure_name);
        print!("{:24}", "");
        for trace in traces {
            print!(" {:>16}", trace.name);
        }
        println!(" {:>6} {:>8}", "ends", "apart m");
        for strategy in &STRATEGIES {
            print!("{:24}", strategy.name);
            let of =
                |row: &&Row| row.scene.name == scene.name && row.strategy.name == strategy.name;
            let mut ends = Vec::new();
            for row in rows.iter().filter(of) {
                print!(" {:>16.3}", row.outcome.figure);
                ends.push(row.outcome.end);
            }
            ends.sort_unstable();
            ends.dedup();
            println!(" {:>6} {:>8.3}", ends.len(), apart(rows.iter().filter(of)));
        }
    }
    let mixed = &SCENES[SCENES.len() - 1];
    println!(
        "\n{:24} {:>14} {:>14} {:>12} {:>15} {:>14} {:>14} {:>14}",
        "",
        "off course m",
        "stutter mm",
        "jump mm",
        "first effect ms",
        "cost ms per s",
        "x Rapier alone",
        "x by hand"
    );
    for strategy in &STRATEGIES {
        let on = move |name: &'static str| {
            let of = move |row: &&Row| row.strategy.name == strategy.name && row.scene.name == name;
            rows.iter().filter(of)
        };
        let own = on("curve").find(|row| row.trace.name == "own capture");
        let own = own.map(|row| row.outcome.clone()).unwrap_or_default();
        let off = on("curve").filter_map(|row| row.outcome.off_reference);
        let latencies = traces
            .iter()
            .map(|trace| latency(strategy, trace, options.seed));
        let [cost, rapier, by_hand] = traces.iter().fold([0.0; 3], |sums, trace| {
            let costs = costs(mixed, strategy, trace);
            std::array::from_fn(|i| sums[i] + costs[i])
        });
        println!(
            "{:24} {:>14.2} {:>14.2} {:>12.1} {:>15.1} {:>14.1} {:>14.2} {:>14.2}",
            strategy.name,
            off.fold(0.0, f64::max),
            own.stutter * 1e3,
            own.jump * 1e3,
            latencies.sum::<f64>() / traces.len() as f64 * 1e3,
            cost / traces.len() as f64 * 1e3,
            cost / rapier,
            cost / by_hand,
        );
    }
    println!(
        "ends: the number of different end states over the traces, to the bit; apart: the distance between the ends \
         of the watched body\noff course: the curve against steps of 1/2,000 s, the worst of all traces; stutter and jump: \
         the rendered body on the curve, own capture; first effect: mean over all traces, from an \
         input to the first frame that shows any of it; cost: 1,000 mixed bodies, mean, and divided by that of \
         Rapier's steps alone and by that of a fixed-step loop by hand"
    );
}

/// Returns the largest distance between the final positions of the watched body over the traces, in metres.
fn apart<'a>(rows: impl Iterator<Item = &'a Row<'a>>) -> f32 {
    let last = |row: &Row| row.outcome.samples.last().map(|sample| sample.2);
    let places: Vec<_> = rows.filter_map(last).collect();
    let from = |place| {
        places
            .iter()
            .map(move |other: &Vector| other.distance(place))
    };
    places
        .iter()
        .flat_map(|place| from(*place))
        .fold(0.0, f32::max)
}

fn write_csv(rows: &[Row], options: &Options) -> Result<(), Box<dyn Error>> {
    let mut file = csv::Writer::from_path(options.output.join("runs.csv"))?;
    file.write_record([
        "scene",
        "strategy",
        "trace",
        "figure",
        "value",
        "off_reference_m",
        "stutter_m",
        "jump_m",
        "cost_s_per_s",
        "end",
    ])?;
    for Row {
        scene,
        strategy,
        trace,
        outcome,
    } in rows
    {
        file.write_record([
            scene.name,
            strategy.name,
            &trace.name,
            scene.figure_name,
            &outcome.figure.to_string(),
            &outcome
                .off_reference
                .map_or(String::new(), |off| off.to_string()),
            &outcome.stutter.to_string(),
            &outcome.jump.to_string(),
            &outcome.cost.to_string(),
            &format!("{:016x}", outcome.end),
        ])?;
    }
    Ok(file.flush()?)
}
