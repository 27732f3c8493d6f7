//! Prints the ten runs as a table.
//!
//! `cargo run --release --manifest-path examples/ecs/Cargo.toml`

use std::time::Duration;

use evenstep_ecs::host::{ALL, frames};

/// The length of a run: six hundred and a half steps.
const LENGTH: Duration = Duration::from_millis(10_008);

fn main() {
    println!("ECS        frames/s  frames  steps  entities              hash  glue lines");
    for ecs in ALL {
        for fps in [60, 144] {
            let frames = frames(fps, LENGTH);
            let outcome = ecs.play(&frames);
            println!(
                "{:<10} {fps:>8} {:>7} {:>6} {:>9}  {:016x} {:>11}",
                ecs.name,
                frames.len(),
                outcome.frame.tick,
                outcome.entities.len(),
                outcome.hash,
                ecs.glue_lines(),
            );
        }
    }
}
