//! How many matches fit.

use std::error::Error;
use std::time::Duration;

use evenstep::Simulation;

use crate::game::Game;
use crate::match_::{Match, Settings};
use crate::pool::Server;
use crate::report::{Totals, period, resident_bytes};
use crate::schedule::{next_period, phase};
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
    pub totals: Totals,
    /// The growth of the resident set due to the matches, per match. It is valid only for the first load of a process,
    /// because an allocator keeps freed memory.
    pub bytes_a_match: u64,
}

impl Figures {
    /// Returns whether no step was dropped and 999 of 1,000 steps were done before the next was due.
    pub fn is_on_time(&self) -> bool {
        self.totals.dropped_steps() == 0 && self.totals.lateness.quantile(0.999) < period()
    }

    pub fn print(&self, load: Load) {
        let ms = |part| 1e3 * self.totals.lateness.quantile(part).as_secs_f64();
        println!(
            "| {} | {} | {} | {:.2} | {:.2} | {:.2} | {:.2} | {} of {} | {} |",
            load.bodies,
            load.matches,
            if load.is_spread { "spread" } else { "together" },
            ms(0.5),
            ms(0.99),
            ms(0.999),
            1e3 * self.totals.lateness.longest.as_secs_f64(),
            self.totals.late_steps,
            self.totals.steps,
            self.totals.dropped_steps(),
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
    let start = next_period(server.now(), period()) + period() * 60;
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
        let game = (prototype.0.clone(), prototype.1.with_seed(id));
        server.add(Match::new(id, game, settings, start + at))?;
    }
    drop(prototype);
    let totals = server.serve(pool, |server| {
        let warm = Duration::from_secs(1) + start.saturating_sub(server.now());
        sleep(warm);
        server.reset_totals();
        sleep(load.length);
        server.look(|view| view.totals.clone())
    });
    let with = resident_bytes().unwrap_or(0);
    let bytes_a_match = with.saturating_sub(without) / load.matches.max(1);
    Ok(Figures {
        totals,
        bytes_a_match,
    })
}

#[expect(clippy::disallowed_methods, reason = "real time is measured")]
fn sleep(time: Duration) {
    std::thread::sleep(time);
}

/// Returns a world after its first steps, which take longer than all others.
fn settled(load: Load) -> (Simulation, Game) {
    let (mut simulation, game) = Game::new(load.bodies, 0, load.is_quiet);
    for _ in 0..120 {
        simulation.advance(period() * 2, |physics, step| game.step(physics, step));
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
