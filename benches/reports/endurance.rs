//! Long runs: hours of frames, millions of bodies, and a thread that runs as long as you like. Each run prints its
//! results, and fails if a guarantee is broken.
//!
//! `cargo run --release -p evenstep-benches --all-features --example endurance -- frames --hours 10`
#![allow(missing_docs, reason = "a program")]

use std::collections::VecDeque;
use std::convert::Infallible;
use std::error::Error;
use std::fs;
use std::time::{Duration, Instant};

use clap::{Parser, Subcommand};
use evenstep::rapier::prelude::*;
use evenstep::threads::{Runner, RunnerSettings};
use evenstep::{BodyKey, Hooks, Physics, Rate};
use indicatif::{ProgressBar, ProgressStyle};
use scenes::strategies::Random;
use scenes::{ball, pile, space, with_floor};

/// Runs a long test that checks a guarantee.
#[derive(Parser)]
struct Options {
    #[command(subcommand)]
    run: Run,
}

#[derive(Subcommand)]
enum Run {
    /// The same hours in three patterns of frames must end with equal checksums, and memory must not grow
    Frames {
        #[arg(long, default_value_t = 10)]
        hours: u64,
    },
    /// Many bodies sleep, and a few among them are awake
    Sleepers {
        #[arg(long, default_value_t = 1_000_000)]
        bodies: u32,
    },
    /// Bodies are inserted and removed, and no key is used twice. Rapier's memory grows with their number
    Spawns {
        #[arg(long, default_value_t = 10_000_000)]
        bodies: u64,
    },
    /// A thread with random pauses and speeds is compared with the wall clock
    Thread {
        #[arg(long, default_value_t = 60)]
        minutes: u64,
    },
}

fn main() -> Result<(), Box<dyn Error>> {
    match Options::parse().run {
        Run::Frames { hours } => frames(hours),
        Run::Sleepers { bodies } => sleepers(bodies),
        Run::Spawns { bodies } => spawns(bodies),
        Run::Thread { minutes } => thread(minutes),
    }
}

fn progress(length: u64, unit: &'static str) -> ProgressBar {
    let style = format!("{{elapsed_precise}} {{wide_bar}} {{pos}} of {{len}} {unit}");
    let style = ProgressStyle::with_template(&style).expect("the template is valid");
    ProgressBar::new(length).with_style(style)
}

/// Returns the memory of this process in MB, on Linux.
fn memory() -> Option<f64> {
    let text = fs::read_to_string("/proc/self/statm").ok()?;
    let pages: f64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096.0 / 1e6)
}

/// Compares the memory after one-time growth with that at the end.
fn check_memory(early: Option<f64>) -> Result<(), Box<dyn Error>> {
    let (Some(early), Some(late)) = (early, memory()) else {
        println!("memory: not known on this system");
        return Ok(());
    };
    println!("memory: {early:.1} MB early, {late:.1} MB at the end");
    if late > early * 1.1 + 1.0 {
        return Err("the memory grew".into());
    }
    Ok(())
}

/// Returns frame times at 60 Hz, at 144 Hz with a hitch now and then, and of random length.
fn frame_time(pattern: usize, random: &mut Random) -> Duration {
    let any = random.number();
    Duration::from_secs_f64(match pattern {
        0 => 1.0 / 60.0,
        1 if any < 0.002 => 0.18,
        1 => 1.0 / 144.0,
        _ => 0.001 + 0.09 * any * any,
    })
}

fn frames(hours: u64) -> Result<(), Box<dyn Error>> {
    const TICKS_A_MINUTE: u64 = 60 * 60;
    let minutes = hours * 60;
    let bar = progress(minutes, "minutes");
    let mut runs = [1, 2, 3].map(|seed| {
        let mut simulation = with_floor(Rate::hz(60));
        let keys = pile(&mut simulation, 12);
        (simulation, keys, Random(seed))
    });
    let mut early = None;
    for minute in 0..minutes {
        let mut sums = [0; 3];
        for (pattern, (simulation, keys, random)) in runs.iter_mut().enumerate() {
            let end = (minute + 1) * TICKS_A_MINUTE;
            // The overstep at the end of each minute is the same too.
            while simulation.physics.tick() <= end {
                simulation.advance(frame_time(pattern, random), |physics, step| {
                    if step.tick == end {
                        sums[pattern] = physics.checksum();
                    }
                    // The pile comes to rest and is pushed again, so bodies wake and fall asleep.
                    if step.tick % 400 < 3 {
                        let key = keys[(step.tick / 400) as usize % keys.len()];
                        let height = physics.body(key).map_or(0.0, |body| body.translation().y);
                        let impulse =
                            Vector::new(0.3 - 0.1 * (step.tick % 7) as f32, 2.0 - height, 0.1);
                        physics.apply_impulse(key, impulse).unwrap();
                    }
                });
            }
        }
        if sums[0] != sums[1] || sums[0] != sums[2] {
            return Err(format!("minute {minute}: {sums:016x?} differ").into());
        }
        if minute == minutes / 10 {
            early = memory();
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    println!("{hours} hours, three patterns of frames: equal after each of {minutes} minutes");
    check_memory(early)
}

#[expect(clippy::disallowed_methods, reason = "wall-clock time is measured")]
fn sleepers(bodies: u32) -> Result<(), Box<dyn Error>> {
    let mut simulation = space(60);
    let side = f64::from(bodies).cbrt().ceil() as u32;
    for i in 0..bodies {
        let at = [i % side, i / side % side, i / side / side].map(|i| 3.0 * i as f32);
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::from_array(at))
            .sleeping(true);
        simulation.physics.insert(body, ball());
    }
    let awake: Vec<BodyKey> = (0..100)
        .map(|i| {
            let start = Vector::new(-10.0, 3.0 * i as f32, -10.0);
            simulation.physics.insert(
                RigidBodyBuilder::dynamic()
                    .translation(start)
                    .linvel(Vector::Z),
                ball(),
            )
        })
        .collect();
    let frame = Duration::from_secs(1) / 60;
    let start = Instant::now();
    simulation.advance(frame, |_, _| ());
    println!(
        "the first frame, which visits all bodies: {:?}",
        start.elapsed()
    );
    // Rapier builds its tree of bounding boxes in the steps after bodies were inserted.
    for _ in 0..10 {
        simulation.advance(frame, |_, _| ());
    }
    println!("the first eleven frames together: {:?}", start.elapsed());
    let mut times = Vec::new();
    for _ in 0..600 {
        let start = Instant::now();
        simulation.advance(frame, |_, _| ());
        times.push(start.elapsed());
        if simulation.moved().len() > awake.len() {
            return Err("bodies that are asleep moved".into());
        }
    }
    times.sort();
    let awake = awake.len();
    println!("{bodies} bodies asleep, {awake} awake; time of a frame with its step:");
    println!("{:?} (median), {:?} at most", times[300], times[599]);
    println!("memory: {:.0} MB", memory().unwrap_or(f64::NAN));
    Ok(())
}

fn spawns(bodies: u64) -> Result<(), Box<dyn Error>> {
    const ALIVE: usize = 200;
    let bar = progress(bodies, "bodies");
    let mut simulation = space(60);
    let mut random = Random(5);
    let mut alive = VecDeque::new();
    let mut last: VecDeque<BodyKey> = VecDeque::new();
    let early = memory();
    let mut spawned = 0;
    while spawned < bodies {
        let mut spawn = |physics: &mut Physics| {
            for i in 0..20u8 {
                let body = RigidBodyBuilder::dynamic().translation(Vector::X * 2.0 * f32::from(i));
                alive.push_back(physics.insert(body.linvel(Vector::Y), ball()));
                spawned += 1;
                if spawned % 3 == 0 {
                    // The removed bodies include some that no frame has displayed.
                    last.push_back(alive.pop_back().expect("a body was inserted"));
                    physics.remove(last[last.len() - 1]);
                }
            }
            while alive.len() > ALIVE {
                last.extend(alive.pop_front());
                physics.remove(last[last.len() - 1]);
            }
        };
        spawn(&mut simulation.physics);
        simulation.advance(frame_time(2, &mut random), |physics, _| spawn(physics));
        last.drain(..last.len().saturating_sub(1_000));
        if let Some(key) = last.iter().find(|key| simulation.pose(**key).is_some()) {
            return Err(format!("{key:?} was removed but still exists").into());
        }
        if simulation.physics.bodies().count() != alive.len() {
            return Err("the number of bodies is wrong".into());
        }
        bar.set_position(spawned);
    }
    bar.finish_and_clear();
    println!("{spawned} bodies were inserted and removed");
    if let (Some(early), Some(late)) = (early, memory()) {
        println!("memory: {early:.1} MB before, {late:.1} MB at the end");
    }
    Ok(())
}

/// A game that does nothing in its steps.
struct Nothing;

impl Hooks for Nothing {
    type Error = Infallible;
}

/// The expected simulated time, from the times at which the speed was set.
struct Expected {
    since: Duration,
    time: f64,
    speed: f64,
}

impl Expected {
    fn at(&self, real: Duration) -> f64 {
        self.time + self.speed * (real.as_secs_f64() - self.since.as_secs_f64())
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a thread that uses the wall clock is tested"
)]
fn thread(minutes: u64) -> Result<(), Box<dyn Error>> {
    let bar = progress(minutes * 60, "seconds");
    let mut simulation = space(60);
    pile(&mut simulation, 30);
    let mut runner = Runner::new(simulation, Nothing, RunnerSettings::default())?;
    let mut random = Random(11);
    let mut expected = Expected {
        since: Duration::ZERO,
        time: 0.0,
        speed: 1.0,
    };
    let (mut worst, mut worst_lag, mut changes) = (0.0_f64, Duration::ZERO, 0);
    let mut dropped = Duration::ZERO;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(minutes * 60) {
        let speed = match (random.number() * 5.0) as u8 {
            0 => 0.0,
            1 => 1.0,
            _ => random.number() * 3.0,
        };
        let (sender, receiver) = std::sync::mpsc::channel();
        runner.call(move |simulation, _| {
            if speed == 0.0 {
                simulation.pause();
            } else {
                simulation.resume();
                simulation
                    .clock_settings_mut()
                    .set_speed(speed)
                    .expect("the speed is valid");
            }
            let settings = simulation.clock().settings();
            let speed = if settings.is_paused() {
                0.0
            } else {
                settings.speed()
            };
            let _ = sender.send((simulation.clock().real_time(), speed));
        })?;
        let (at, speed) = receiver.recv_timeout(Duration::from_secs(60))?;
        expected = Expected {
            since: at,
            time: expected.at(at),
            speed,
        };
        changes += 1;
        let until = Instant::now() + Duration::from_secs_f64(random.number());
        while Instant::now() < until {
            runner.frame();
            std::thread::sleep(Duration::from_millis(5));
        }
        let before = runner.now();
        let answer = runner.ask(|simulation| {
            let clock = simulation.clock();
            (clock.real_time(), clock.time().as_secs_f64())
        })?;
        let (_, (real, time)) = answer.wait(Duration::from_secs(60)).ok_or("no answer")?;
        runner.frame();
        // The time dropped since the speed was set.
        let late = runner.dropped() - dropped;
        dropped += late;
        expected.time -= expected.speed * late.as_secs_f64();
        worst = worst.max((time - expected.at(real)).abs());
        // In slow motion and during a pause, the thread answers between two steps.
        worst_lag = worst_lag.max(before.saturating_sub(real));
        bar.set_position(start.elapsed().as_secs());
    }
    bar.finish_and_clear();
    println!(
        "{minutes} minutes, {changes} changes of the speed, {} steps",
        runner.stop().0.physics.tick()
    );
    println!(
        "simulated time and wall-clock time differ, apart from dropped time, by at most {:.3} µs",
        worst * 1e6
    );
    println!("the thread was behind the wall clock, when asked, by at most {worst_lag:?}");
    println!("dropped and reported because the thread was late: {dropped:?}");
    if worst > 1e-4 {
        return Err("the simulated time differs from the wall clock".into());
    }
    Ok(())
}
