//! Reports where the time of a game's frames goes, with the spans of the feature `tracing`: a trace for a viewer, and a
//! picture.
//!
//! `cargo run --release -p evenstep-benches --example profile --features tracing`
//!
//! Open the trace in <https://ui.perfetto.dev> or in `chrome://tracing`. For Tracy, use the layer of the crate
//! `tracing-tracy` instead of that of `tracing-chrome`. Gaps between spans are the profiler's own time.

mod lanes;

use std::error::Error;
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use evenstep::Simulation;
use evenstep::rapier::prelude::*;
use evenstep::time::Dropped;
use tracing_chrome::ChromeLayerBuilder;
use tracing_subscriber::prelude::*;

/// The frames in the picture: two normal ones, one that the system delayed, and the next two.
const DRAWN: std::ops::Range<u64> = 119..124;
const HELD_UP: u64 = 121;

/// Runs a small game, and reports where the time of its frames goes.
#[derive(Parser)]
struct Options {
    /// The file for the trace
    #[arg(long, value_name = "FILE", default_value = "profile.json")]
    trace: PathBuf,
    /// The file for the picture
    #[arg(long, value_name = "FILE", default_value = "profile.svg")]
    picture: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let file = File::create(&options.trace)?;
    let (layer, guard) = ChromeLayerBuilder::new()
        .writer(file)
        .include_args(true)
        .include_locations(false)
        .build();
    let totals = tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), run);
    // Dropping the guard writes the rest of the trace.
    drop(guard);

    println!("{} steps, dropped: {:?}", totals.0, totals.1);
    let drawn = lanes::draw(&fs::read_to_string(&options.trace)?, DRAWN)?;
    Ok(fs::write(&options.picture, drawn)?)
}

/// Simulates a pile of crates in the wind. Returns totals of all frames.
fn run() -> (u64, Dropped) {
    let mut simulation = Simulation::default();
    let floor = ColliderBuilder::cuboid(50.0, 0.5, 50.0);
    simulation.physics.insert(RigidBodyBuilder::fixed(), floor);
    let keys: Vec<_> = (0..600u16)
        .map(|i| {
            let (x, y, z) = (i % 8, i / 64, i / 8 % 8);
            let place = Vector::new(x.into(), 2.0 + f32::from(y), z.into()) * 1.1;
            let body = RigidBodyBuilder::dynamic().translation(place);
            simulation
                .physics
                .insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5))
        })
        .collect();

    let (mut steps, mut dropped) = (0, Dropped::default());
    for number in 1..=150 {
        // A frame of 22 ms has one or two steps. A frame of 90 ms has five or six.
        let millis = if number == HELD_UP { 90 } else { 22 };
        let frame = simulation.advance(Duration::from_millis(millis), |physics, step| {
            let wind = Vector::X * (step.tick % 60) as f32 / 60.0;
            for key in &keys {
                physics.add_force(*key, wind).unwrap();
            }
        });
        steps += frame.steps;
        dropped += frame.dropped;
        // Your game's spans appear beside those of the physics.
        tracing::info_span!("draw").in_scope(|| draw(&simulation));
    }
    (steps, dropped)
}

/// Returns the data that a renderer would send to the graphics card.
fn draw(simulation: &Simulation) -> Vec<[f32; 16]> {
    let moved = simulation.moved().iter();
    let matrices = moved.map(|(_, pose)| pose.to_mat4().to_cols_array());
    std::hint::black_box(matrices.collect())
}
