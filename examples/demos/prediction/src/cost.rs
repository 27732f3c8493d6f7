//! Measures the cost of a rollback, and the size of states.

use std::error::Error;
use std::time::{Duration, Instant};

use evenstep::Simulation;
use evenstep::rapier::prelude::Vector;
use evenstep_prediction::client::Client;
use evenstep_prediction::end::End;
use evenstep_prediction::game::Buttons;
use evenstep_prediction::lab::Lab;
use evenstep_prediction::line::Quality;
use evenstep_prediction::packets::{State, write};

const MS: fn(u64) -> Duration = Duration::from_millis;
/// The number of steps that a latency of 50 ms needs.
const STEPS: u64 = 8;
/// A client has joined by this time.
const START: Duration = Duration::from_secs(3);
/// The number of repetitions of each measurement.
const TIMES: usize = 200;

/// Prints the costs and the sizes.
pub fn print(reach: f32) -> Result<(), Box<dyn Error>> {
    println!(
        "a player among crates, all of which are thrown up once per second; a rollback has {STEPS} steps"
    );
    println!(
        "{:>8}{:>22}{:>12}{:>14}{:>14}{:>12}",
        "crates", "predicted", "bodies", "us, median", "per second", "kB each"
    );
    for crates in [40, 200] {
        let mut all = [0.0, reach, f32::INFINITY].map(|reach| Cost::new(crates, reach));
        // The measurements alternate, so other work of the machine affects all of them.
        for i in 0..TIMES {
            for cost in &mut all {
                cost.measure(i)?;
            }
        }
        for (name, cost) in ["own body", "and crates near it", "all"].iter().zip(all) {
            cost.print(crates, name);
        }
    }
    println!("\nthe state of all bodies, bytes");
    println!(
        "{:>8}{:>22}{:>12}{:>12}{:>12}",
        "crates", "", "save()", "list", "load(), us"
    );
    for crates in [40, 200] {
        let mut lab = Lab::new(crates);
        lab.run(MS(5_000));
        print_sizes(&lab, "at rest")?;
        throw(&mut lab)?;
        lab.run(lab.now + MS(300));
        print_sizes(&lab, "in motion")?;
    }
    Ok(())
}

/// A match with one client, and its measurements.
struct Cost {
    lab: Lab,
    spent: Vec<Duration>,
    /// Sums of the number of predicted bodies and of the sizes of the snapshots.
    bodies: usize,
    bytes: usize,
}

impl Cost {
    fn new(crates: usize, reach: f32) -> Self {
        let quality = Quality {
            delay: MS(50),
            ..Quality::default()
        };
        let mut lab = Lab::new(crates);
        lab.join(End::new(Client::new(crates, reach), 60, &quality, 1));
        lab.ends[0].buttons = |_, _| Buttons(8);
        lab.run(START);
        lab.ends[0].client.counts = Default::default();
        Self {
            lab,
            spent: Vec::new(),
            bodies: 0,
            bytes: 0,
        }
    }

    /// Continues until the next snapshot, and measures.
    fn measure(&mut self, number: usize) -> Result<(), Box<dyn Error>> {
        if number.is_multiple_of(20) {
            throw(&mut self.lab)?;
        }
        self.lab.run(self.lab.now + MS(50));
        let client = &mut self.lab.ends[0].client;
        let tick = client.simulation.physics.tick() - STEPS;
        let (result, time) = timed(|| {
            client
                .simulation
                .roll_back(tick)
                .map(|()| client.resimulate())
        });
        result?;
        self.spent.push(time);
        let predicted = (0..client.bodies.len()).filter(|place| client.is_predicted(*place));
        self.bodies += predicted.count();
        let kept = client.simulation.rewindable();
        self.bytes += client.simulation.rewind_bytes() / (kept.end - kept.start) as usize;
        Ok(())
    }

    fn print(mut self, crates: usize, name: &str) {
        self.spent.sort();
        let us = self.spent[TIMES / 2].as_secs_f64() * 1e6;
        let [bodies, bytes] = [self.bodies, self.bytes].map(|sum| sum as f64 / TIMES as f64);
        let rollbacks = self.lab.ends[0].client.counts.rollbacks as f64;
        let a_second = rollbacks / (self.lab.now - START).as_secs_f64();
        let kilobytes = bytes / 1e3;
        println!("{crates:>8}{name:>22}{bodies:>12.1}{us:>14.0}{a_second:>14.1}{kilobytes:>12.0}");
    }
}

fn throw(lab: &mut Lab) -> Result<(), Box<dyn Error>> {
    for key in lab.server.bodies.clone() {
        lab.server
            .simulation
            .physics
            .apply_impulse(key, Vector::new(0.5, 4.0, 0.0))?;
    }
    Ok(())
}

fn print_sizes(lab: &Lab, name: &str) -> Result<(), Box<dyn Error>> {
    let simulation = &lab.server.simulation;
    let bytes = simulation.save()?;
    let list = lab
        .server
        .bodies
        .iter()
        .filter_map(|key| simulation.physics.body(*key));
    let list: Vec<(u16, State)> = (0..).zip(list.map(State::of)).collect();
    let mut spent = Vec::new();
    for _ in 0..TIMES {
        let (loaded, time) = timed(|| Simulation::load(&bytes));
        loaded?;
        spent.push(time);
    }
    spent.sort();
    let us = spent[TIMES / 2].as_secs_f64() * 1e6;
    let (crates, bytes, list) = (lab.server.bodies.len() - 4, bytes.len(), write(&list).len());
    println!("{crates:>8}{name:>22}{bytes:>12}{list:>12}{us:>12.0}");
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a measurement needs a clock")]
fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}
