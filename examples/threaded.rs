//! A game that renders from hecs while its physics runs on another thread. There is a pile of crates, a drone that
//! flies in a circle, and balls that the game loop spawns. The program prints how smooth and how late the displayed
//! motion was.
//!
//! `cargo run --release --example threaded --features hecs`

use std::collections::VecDeque;
use std::convert::Infallible;
use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use evenstep::ecs::hecs::{Entities, RenderPose};
use evenstep::rapier::prelude::*;
use evenstep::threads::{Runner, RunnerSettings, SendError};
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use hecs::{Entity, World};

/// The drone's speed in m/s, and the radius of its circle in metres.
const SPEED: f32 = 6.0;
const ORBIT: f32 = 8.0;

/// A ball is spawned every `SPAWN_EVERY` frames. Above the maximum count, the oldest ball is despawned.
const SPAWN_EVERY: u32 = 20;
const BALLS: usize = 12;

/// Runs a game whose physics is on another thread
#[derive(Parser)]
struct Options {
    /// The duration of the run, in seconds of wall-clock time
    #[arg(long, default_value_t = 3)]
    seconds: u32,
    /// Frames per second
    #[arg(long, default_value_t = 144, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    frames: u32,
    /// Physics steps per second
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate: u32,
    /// The number of crates
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    bodies: u16,
}

/// The hooks that run on the physics thread.
struct Autopilot {
    drone: BodyKey,
}

impl Hooks for Autopilot {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Infallible> {
        if let Some(drone) = physics.body_mut(self.drone) {
            let out = drone.translation() * Vector::new(1.0, 0.0, 1.0);
            let ahead = Vector::Y.cross(out).normalize_or_zero();
            // Steers back to the circle if the drone has left it.
            let back = out.normalize_or_zero() * (ORBIT - out.length());
            drone.set_linvel((ahead + back).normalize_or_zero() * SPEED, true);
        }
        Ok(())
    }
}

/// The part of the game that runs in the game loop.
struct Game {
    world: World,
    entities: Entities,
    drone: Entity,
    balls: VecDeque<Entity>,
    /// The number of balls for which the queue had no room.
    refused: u32,
}

impl Game {
    /// Builds the level and its entities, before the thread starts.
    fn new(physics: &mut Physics, crates: u16) -> (Self, Autopilot) {
        let (mut world, mut entities) = (World::new(), Entities::default());
        let mut spawn = |body: RigidBodyBuilder, collider: ColliderBuilder| {
            entities.spawn(&mut world, physics, body, collider, ())
        };
        let floor = RigidBodyBuilder::fixed().translation(Vector::Y * -0.5);
        spawn(floor, ColliderBuilder::cuboid(25.0, 0.5, 25.0));
        for i in 0..crates {
            let crate_ = RigidBodyBuilder::dynamic().translation(place_in_pile(i));
            spawn(crate_, ColliderBuilder::cuboid(0.4, 0.4, 0.4));
        }
        let drone = RigidBodyBuilder::dynamic()
            .translation(Vector::new(ORBIT, 16.0, 0.0))
            .gravity_scale(0.0);
        let (entity, drone) = spawn(drone, ColliderBuilder::cuboid(0.5, 0.2, 0.3));
        let game = Self {
            world,
            entities,
            drone: entity,
            balls: VecDeque::new(),
            refused: 0,
        };
        (game, Autopilot { drone })
    }

    /// Displays a frame, and spawns and despawns balls.
    fn frame(&mut self, runner: &mut Runner<Autopilot>, number: u32) -> Result<(), Box<dyn Error>> {
        runner.frame();
        for failure in runner.failures() {
            eprintln!("{failure}");
            runner.recover()?; // after a panic, physics stands still until then
        }
        self.entities.sync(&mut self.world, runner);
        // A renderer would go through the entities' `RenderPose`s here.
        if number.is_multiple_of(SPAWN_EVERY) {
            let x = f32::from((number / SPAWN_EVERY % 20) as u8) - 10.0;
            let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, 9.0, 0.3 * x));
            let (world, ball) = (&mut self.world, ColliderBuilder::ball(0.35));
            match self.entities.try_spawn(world, runner, body, ball, ()) {
                Ok((entity, _)) => self.balls.push_back(entity),
                Err(SendError::Full(_)) => self.refused += 1,
                Err(error) => return Err(error.to_string().into()),
            }
        }
        if self.balls.len() > BALLS
            && let Some(oldest) = self.balls.pop_front()
        {
            // Despawns the entity only. The next sync removes its body.
            self.world.despawn(oldest)?;
        }
        Ok(())
    }

    fn drone_at(&self) -> Result<Vector, hecs::ComponentError> {
        let pose = self.world.get::<&RenderPose>(self.drone)?;
        Ok(pose.0.translation)
    }
}

/// Returns a position in layers of five by five crates, each layer shifted a little from the one below.
fn place_in_pile(i: u16) -> Vector {
    let [layer, row, column] = [i / 25, i / 5 % 5, i % 5].map(f32::from);
    Vector::new(
        row * 0.95 - 2.0 + 0.1 * (layer % 3.0),
        0.45 + layer * 0.85,
        column * 0.95 - 2.0,
    )
}

/// Measures how smooth and how late the frames were.
#[derive(Default)]
struct Report {
    frames: u32,
    starved: u32,
    last: Option<(Duration, Vector)>,
    /// The longest jump of the drone beyond its true speed, in metres.
    longest_jump: f32,
    latency_sum: f64,
    latency_max: f64,
}

impl Report {
    /// Adds a frame that began at `now`.
    fn frame(&mut self, now: Duration, runner: &Runner<Autopilot>, drone: Vector) {
        self.frames += 1;
        self.starved += u32::from(runner.view().is_starved());
        if let Some((then, there)) = self.last.replace((now, drone)) {
            let due = SPEED * (now - then).as_secs_f32();
            self.longest_jump = self.longest_jump.max((drone - there).length() - due);
        }
        let present = now.saturating_sub(runner.dropped()).as_secs_f64();
        let latency = present - runner.view().time().as_secs_f64();
        self.latency_sum += latency;
        self.latency_max = self.latency_max.max(latency);
    }

    fn print(&self, simulation: &Simulation, game: &Game) {
        println!(
            "{} frames, {} steps, {} frames starved, {:.1} ms dropped, {} balls refused",
            self.frames,
            simulation.physics.tick(),
            self.starved,
            simulation.clock().dropped().frame_time.as_secs_f64() * 1e3,
            game.refused,
        );
        println!(
            "longest jump of the drone beyond its true speed: {:.1} mm",
            self.longest_jump * 1e3
        );
        println!(
            "delay behind real time: {:.1} ms on average, {:.1} ms at most",
            self.latency_sum / f64::from(self.frames.max(1)) * 1e3,
            self.latency_max * 1e3,
        );
    }
}

fn main() -> ExitCode {
    match play(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn play(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut simulation = Simulation::new(Rate::hz(options.rate));
    let (mut game, autopilot) = Game::new(&mut simulation.physics, options.bodies);
    let mut runner = Runner::new(simulation, autopilot, RunnerSettings::default())?;
    let mut report = Report::default();
    let period = Duration::from_secs(1) / options.frames;
    let end = Duration::from_secs(options.seconds.into());
    for number in 0.. {
        let now = runner.now();
        if now >= end {
            break;
        }
        game.frame(&mut runner, number)?;
        report.frame(now, &runner, game.drone_at()?);
        wait_until(&runner, period * (number + 1));
    }
    let (simulation, _) = runner.stop();
    report.print(&simulation, &game);
    Ok(())
}

/// Waits until a time, as vertical sync would.
#[expect(clippy::disallowed_methods, reason = "a game loop")]
fn wait_until(runner: &Runner<Autopilot>, time: Duration) {
    std::thread::sleep(time.saturating_sub(runner.now()));
}
