//! Moves a match from one process to another while it runs, and lets a player join late.
//!
//! `cargo run --release --example carry_on --features serde,enhanced-determinism`
//!
//! The program starts itself three times. One process plays the first half and writes the state. Another reads the
//! state and plays the second half. The third plays both halves. The last two end with the same bits.

use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation, Step};

const HALF: u64 = 300;

struct Match {
    simulation: Simulation,
    /// Your game's part of the state, saved next to the simulation's.
    crates: Vec<BodyKey>,
}

impl Match {
    fn new() -> Self {
        let mut simulation = Simulation::default();
        let physics = &mut simulation.physics;
        physics.insert(
            RigidBodyBuilder::fixed().translation(Vector::Y * -0.5),
            ColliderBuilder::cuboid(50.0, 0.5, 50.0),
        );
        let tower =
            |i: usize| RigidBodyBuilder::dynamic().translation(Vector::Y * (0.5 + i as f32));
        let crates: Vec<BodyKey> = (0..20)
            .map(|i| physics.insert(tower(i), ColliderBuilder::cuboid(0.5, 0.5, 0.5)))
            .collect();
        Self { simulation, crates }
    }

    /// Plays up to the tick `until`, and drops a new crate every second.
    fn play(&mut self, until: u64) {
        while self.simulation.physics.tick() < until {
            let crates = &mut self.crates;
            self.simulation
                .advance(Duration::from_millis(16), |physics, step| {
                    blow(physics, crates[19], step);
                    if step.tick.is_multiple_of(60) {
                        crates.push(drop_crate(physics, step));
                    }
                });
        }
    }
}

fn drop_crate(physics: &mut Physics, step: Step) -> BodyKey {
    let at = Vector::new(0.2 * (step.tick / 60) as f32, 25.0, 0.3);
    let body = RigidBodyBuilder::dynamic().translation(at);
    physics.insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5))
}

/// Pushes the crate at the top of the tower with gusts of wind.
fn blow(physics: &mut Physics, windy: BodyKey, step: Step) {
    let velocity = physics.body(windy).unwrap().linvel();
    let gusts = Vector::X * (2.0 + (step.tick % 40) as f32 * 0.1) - velocity;
    physics.add_force(windy, gusts).unwrap();
}

fn write(path: &Path) -> Result<(), Box<dyn Error>> {
    let mut game = Match::new();
    game.play(HALF);
    // The simulation's state has its own format. The game's state can have any format.
    let state = game.simulation.save()?;
    let late_joiner = game.simulation.save()?;
    assert_eq!(state, late_joiner, "a late joiner gets the same bytes");
    let crates = serde_json::to_vec(&game.crates)?;
    fs::write(
        path,
        [&(crates.len() as u32).to_le_bytes(), &crates[..], &state].concat(),
    )?;
    println!(
        "{} bytes, {} of them for the simulation's state",
        crates.len() + state.len(),
        state.len()
    );
    Ok(())
}

fn read_and_go_on(path: &Path) -> Result<u64, Box<dyn Error>> {
    let bytes = fs::read(path)?;
    let (len, rest) = bytes.split_first_chunk().ok_or("the file has no length")?;
    let len = u32::from_le_bytes(*len) as usize;
    let (crates, state) = rest.split_at_checked(len).ok_or("the file is too short")?;
    let mut game = Match {
        simulation: Simulation::load(state)?,
        crates: serde_json::from_slice(crates)?,
    };
    game.play(2 * HALF);
    Ok(game.simulation.physics.checksum())
}

fn never_moved() -> u64 {
    let mut game = Match::new();
    game.play(2 * HALF);
    game.simulation.physics.checksum()
}

/// Runs this program in another process, and returns its output.
fn run(part: &str, path: &Path) -> Result<String, Box<dyn Error>> {
    let output = Command::new(env::current_exe()?)
        .arg(part)
        .arg(path)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [part, path] = &arguments[..] {
        let path = Path::new(path);
        match part.as_str() {
            "write" => write(path)?,
            "read" => println!("{:016x}", read_and_go_on(path)?),
            _ => println!("{:016x}", never_moved()),
        }
        return Ok(());
    }
    let path = env::temp_dir().join(format!("evenstep-match-{}", std::process::id()));
    println!("the first process writes {}", run("write", &path)?);
    let moved = run("read", &path)?;
    println!("the second process ends with  {moved}");
    let stayed = run("stay", &path)?;
    println!("a single process ends with    {stayed}");
    fs::remove_file(&path)?;
    assert_eq!(moved, stayed);
    Ok(())
}
