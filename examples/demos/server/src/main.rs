//! Hundreds of small matches in one process, each with its own clock and budget, on the threads of one pool.
//!
//! `cargo run --release --manifest-path examples/demos/server/Cargo.toml -- run`
//!
//! - `run` plays matches that come and go, one of them with a bug and one far over its budget, and prints the metrics
//!   that an orchestrator reads.
//! - `move` moves one match to a second process while the others continue, and compares the results.
//! - `load` measures one load. `search` finds how many matches are on time.
#![allow(
    clippy::cast_precision_loss,
    reason = "small counts become positions in metres and printed figures"
)]

// Which match is due next.
mod schedule;
// The matches of the server, and their totals.
mod hall;
// The threads that play the matches.
mod pool;
// The server's time, from the wall clock.
mod wall;
// How many matches fit.
mod search;
// The commands.
mod shows;
// Time for tests.
#[cfg(test)]
mod virtual_time;

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use evenstep_server::game::Crates;
use search::Load;

type Match = evenstep_server::match_::Match<Crates>;

/// Runs a server of many small matches.
#[derive(Parser)]
struct Options {
    /// The number of threads in the pool; as many as the machine has cores if not given
    #[arg(long, global = true, default_value_t = 0)]
    threads: usize,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plays matches that come and go, and prints metrics
    Run {
        #[arg(long, default_value_t = 100)]
        matches: u64,
        #[arg(long, default_value_t = 4)]
        seconds: u64,
        /// Writes the metrics to this file instead
        #[arg(long)]
        metrics: Option<PathBuf>,
    },
    /// Moves a match to a second process while it runs
    Move,
    /// Plays the match in a file to its end, as the second process
    #[command(hide = true)]
    Adopt { file: PathBuf },
    /// Measures one load
    Load {
        #[command(flatten)]
        load: LoadOptions,
        #[arg(long)]
        matches: u64,
        /// Makes all matches due at the same moment
        #[arg(long)]
        together: bool,
        /// Lets all bodies fall asleep
        #[arg(long)]
        quiet: bool,
    },
    /// Finds how many matches are on time
    Search {
        #[command(flatten)]
        load: LoadOptions,
        /// The number of matches to begin with
        #[arg(long)]
        from: u64,
    },
}

#[derive(Args)]
struct LoadOptions {
    /// The number of bodies in each match
    #[arg(long, default_value_t = 50)]
    bodies: usize,
    /// The duration of a measurement, in seconds
    #[arg(long, default_value_t = 4)]
    seconds: u64,
}

impl LoadOptions {
    fn load(&self) -> Load {
        Load {
            matches: 0,
            bodies: self.bodies,
            is_quiet: false,
            is_spread: true,
            length: Duration::from_secs(self.seconds),
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build()?;
    match options.command {
        Command::Run {
            matches,
            seconds,
            metrics,
        } => shows::run(
            &pool,
            matches,
            Duration::from_secs(seconds),
            metrics.as_deref(),
        ),
        Command::Move => shows::move_one(&pool),
        Command::Adopt { file } => shows::adopt(&pool, &file),
        Command::Load {
            load,
            matches,
            together,
            quiet,
        } => {
            let load = Load {
                matches,
                is_spread: !together,
                is_quiet: quiet,
                ..load.load()
            };
            search::print_header();
            let figures = search::measure(&pool, load)?;
            figures.print(load);
            println!("\n{} KiB per match", figures.bytes_a_match / 1_024);
            Ok(())
        }
        Command::Search { load, from } => {
            let (most, threads) = (
                search::search(&pool, load.load(), from)?,
                pool.current_num_threads(),
            );
            println!(
                "\n{most} matches of {} bodies on {threads} threads: {} per core",
                load.bodies,
                most / threads as u64
            );
            Ok(())
        }
    }
}
