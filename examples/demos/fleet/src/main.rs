//! Matches on many machines.
//!
//! `cargo run --release --manifest-path examples/demos/fleet/Cargo.toml -- try`

// A trial with several servers, of which one is killed and one drained.
mod trial;

use std::error::Error;
use std::time::Duration;

use clap::{Parser, Subcommand};
use evenstep_fleet::client::play_all;
use evenstep_fleet::server::{Settings, serve};
use evenstep_fleet::store::Store;

// Matches move between machines, which must all compute the same results.
evenstep::portable_math!();

/// Matches on many machines.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a game server beside Agones' sidecar
    Server(Settings),
    /// Plays all matches with bots, and prints what they received
    Client {
        /// The URL of Redis
        #[arg(long)]
        redis: String,
        /// The number of players in each match
        #[arg(long, default_value_t = 2)]
        players: u8,
    },
    /// Runs servers on this machine, kills one, drains another, and prints figures
    Try(trial::Settings),
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    match Options::parse().command {
        Command::Server(settings) => serve(settings).await,
        Command::Client { redis, players } => {
            let store = Store::connect(&redis, Duration::ZERO).await?;
            for log in play_all(store, players).await? {
                let (steps, moves) = (log.rows.len(), log.handovers.len());
                println!("match {}: {steps} steps, {moves} moves", log.id);
            }
            Ok(())
        }
        Command::Try(settings) => trial::run(settings).await,
    }
}
