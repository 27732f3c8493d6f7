//! How many matches fit.

use std::error::Error;
use std::time::Duration;

use evenstep::Simulation;
use evenstep_server::game::Crates;
use evenstep_server::match_::{Game, Settings};
use evenstep_server::metrics::{Metrics, resident_bytes};
use hdrhistogram::Histogram;

use crate::Match;
use crate::pool::Server;
use crate::schedule::{period, phase};
use crate::wall::WallTime;

/// A load, and how long to measure it.
#[derive(Clone, Copy)]
pub struct Load {
    pub matches: u64,
    pub bodies: usize,
    pub is_quiet: bool,
    /// Whether the matches have different phases.
    pub is_spread: bool,
    pub length: Duration,
}

pub struct Figures {
    metrics: Metrics,
    /// The lateness of all steps, in microseconds.
    lateness: Histogram<u64>,
    /// The growth of the resident set due to the matches, per match. It is valid only for the first load of a process,
    /// because an allocator keeps freed memory.
    pub bytes_a_match: u64,
}

impl Figures {
    /// Returns whether no step was dropped and 999 of 1,000 steps were done before the next was due.
    pub fn is_on_time(&self) -> bool {
        let most = self.lateness.value_at_quantile(0.999);
        self.metrics.dropped_steps() == 0 && Duration::from_micros(most) < period()
    }

    pub fn print(&self, load: Load) {
        let ms = |part| self.lateness.value_at_quantile(part) as f64 / 1e3;
        println!(
            "| {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {} of {} | {} |",
            load.bodies,
            load.matches,
            if load.is_spread { "spread" } else { "together" },
            ms(0.5),
            ms(0.99),
            ms(0.999),
            ms(1.0),
            self.metrics.late_steps.get(),
            self.metrics.steps.get(),
            self.metrics.dropped_steps(),
        );
    }
}

pub fn print_header() {
    println!(
        "| bodies | matches | phases | p50, ms | p99 | p99.9 | longest | late steps | dropped steps |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
}

/// Measures a load, after a warm-up of one second.
pub fn measure(pool: &rayon::ThreadPool, load: Load) -> Result<Figures, Box<dyn Error>> {
    let server = Server::new(WallTime::new());
    let without = resident_bytes().unwrap_or(0);
    let prototype = settled(load);
    let start = server.now() + Duration::from_secs(1);
    for id in 0..load.matches {
        let at = if load.is_spread {
            phase(id, period())
        } else {
            Duration::ZERO
        };
        let settings = Settings {
            budget: period() / 2,
            length: u64::MAX,
        };
        // Each match has another seed, so that their crates are thrown at different times.
        let (simulation, mut game) = prototype.clone();
        game.seed = id;
        server.add(Match::new(id, (simulation, game), settings, start + at))?;
    }
    drop(prototype);
    let (metrics, lateness) = server.serve(pool, |server| {
        let warm = Duration::from_secs(1) + start.saturating_sub(server.now());
        sleep(warm);
        server.reset_metrics();
        sleep(load.length);
        server.look(|view| (view.metrics.clone(), view.lateness.clone()))
    });
    let with = resident_bytes().unwrap_or(0);
    let bytes_a_match = with.saturating_sub(without) / load.matches.max(1);
    Ok(Figures {
        metrics,
        lateness,
        bytes_a_match,
    })
}

#[expect(clippy::disallowed_methods, reason = "real time is measured")]
fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// Returns a world after its first steps, which take longer than all others.
fn settled(load: Load) -> (Simulation, Crates) {
    let (mut simulation, mut game) = Crates::new(load.bodies, 0, load.is_quiet);
    for _ in 0..120 {
        simulation.advance(period() * 2, |physics, step| {
            game.before_step(physics, step)
        });
    }
    (simulation, game)
}

/// Finds the largest number of matches that are on time, to one part in forty. It doubles the number until they are
/// late, then halves the gap.
pub fn search(pool: &rayon::ThreadPool, load: Load, from: u64) -> Result<u64, Box<dyn Error>> {
    print_header();
    let is_on_time = |matches| -> Result<bool, Box<dyn Error>> {
        let load = Load { matches, ..load };
        let figures = measure(pool, load)?;
        figures.print(load);
        Ok(figures.is_on_time())
    };
    let (mut most, mut too_many) = (0, from);
    while is_on_time(too_many)? {
        (most, too_many) = (too_many, too_many * 5 / 4 + 1);
    }
    while too_many - most > (too_many / 40).max(1) {
        let middle = most.midpoint(too_many);
        match is_on_time(middle)? {
            true => most = middle,
            false => too_many = middle,
        }
    }
    Ok(most)
}
