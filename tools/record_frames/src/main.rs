//! Opens a window with falling crates, and records how long each frame took.
//!
//! The loop is a usual one: handle the window's events, advance the physics by the last frame time, draw and present.
//! The recorded times are from one present to the next.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Parser;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation};
use minifb::{Window, WindowOptions};

const WIDTH: usize = 1024;
const HEIGHT: usize = 640;
/// The number of pixels per metre, and the position of the world's origin on the screen.
const SCALE: f32 = 24.0;
const ORIGIN: (f32, f32) = (WIDTH as f32 / 2.0, HEIGHT as f32 - 40.0);

const CRATES: u32 = 400;
/// The number of seconds after which the crates are dropped again, so that the load varies.
const ROUND: u64 = 6;
/// The number of frames at the start that are not recorded, because the window is being mapped.
const START: usize = 30;

#[derive(Parser)]
struct Options {
    /// The file for the capture
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// The duration, in seconds
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// The target frame rate
    #[arg(long, default_value_t = 75)]
    fps: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let mut window = Window::new("evenstep", WIDTH, HEIGHT, WindowOptions::default())?;
    window.set_target_fps(options.fps);
    let mut simulation = Simulation::new(Rate::hz(60));
    let crates = fill(&mut simulation.physics);
    let mut pixels = vec![0; WIDTH * HEIGHT];
    let mut times = Vec::new();
    let mut last = Instant::now();
    let end = last + Duration::from_secs(options.seconds);
    while window.is_open() && last < end {
        let frame_time = times.last().copied().unwrap_or_default();
        simulation.advance(frame_time, |physics, step| {
            if step.tick.is_multiple_of(ROUND * 60) {
                drop_anew(physics, &crates);
            }
        });
        draw(&simulation, &crates, &mut pixels);
        window.update_with_buffer(&pixels, WIDTH, HEIGHT)?;
        let now = Instant::now();
        times.push(now - last);
        last = now;
    }
    fs::write(
        &options.output,
        capture(&options, times.get(START..).unwrap_or_default())?,
    )?;
    Ok(())
}

fn fill(physics: &mut Physics) -> Vec<BodyKey> {
    let wall = |x: f32, half: f32| RigidBodyBuilder::fixed().translation(Vector::new(x, half, 0.0));
    physics.insert(wall(0.0, -0.5), ColliderBuilder::cuboid(20.0, 0.5, 10.0));
    for side in [-1.0, 1.0] {
        physics.insert(
            wall(18.0 * side, 6.0),
            ColliderBuilder::cuboid(0.5, 6.0, 10.0),
        );
    }
    let size = |i: u32| 0.25 + 0.05 * (i % 5) as f32;
    let crates = (0..CRATES).map(|i| {
        let body = RigidBodyBuilder::dynamic();
        physics.insert(body, ColliderBuilder::cuboid(size(i), size(i), size(i)))
    });
    crates.collect()
}

fn drop_anew(physics: &mut Physics, crates: &[BodyKey]) {
    for (&key, i) in crates.iter().zip(0u32..) {
        let (column, row) = ((i % 20) as f32, (i / 20) as f32);
        let at = Pose::translation(
            1.5 * column - 14.0 + 0.2 * (row % 3.0),
            4.0 + row,
            0.1 * (row % 7.0),
        );
        physics.teleport(key, at).expect("crates are never removed");
    }
}

/// Draws crates as rotated squares, seen along z.
fn draw(simulation: &Simulation, crates: &[BodyKey], pixels: &mut [u32]) {
    pixels.fill(0x0018_2028);
    for (&key, i) in crates.iter().zip(0u32..) {
        let Some(pose) = simulation.pose(key) else {
            continue;
        };
        let half = 0.25 + 0.05 * (i % 5) as f32;
        let x_axis = pose.rotation * Vector::X;
        let angle = Vector::new(x_axis.x, x_axis.y, 0.0).normalize_or_zero();
        let colour = 0x0040_60a0 + (i % 8) * 0x0014_0c08;
        square(
            pixels,
            (pose.translation.x, pose.translation.y),
            half,
            (angle.x, angle.y),
            colour,
        );
    }
}

/// Fills a square with this centre and half side in metres, and this direction of one side.
fn square(pixels: &mut [u32], at: (f32, f32), half: f32, along: (f32, f32), colour: u32) {
    let centre = (ORIGIN.0 + at.0 * SCALE, ORIGIN.1 - at.1 * SCALE);
    let reach = half * SCALE * 1.5;
    let range = |middle: f32, end: usize| {
        (middle - reach).clamp(0.0, end as f32) as usize
            ..(middle + reach).clamp(0.0, end as f32) as usize
    };
    for y in range(centre.1, HEIGHT) {
        for x in range(centre.0, WIDTH) {
            let (dx, dy) = (x as f32 - centre.0, centre.1 - y as f32);
            let (u, v) = (dx * along.0 + dy * along.1, dy * along.0 - dx * along.1);
            if u.abs().max(v.abs()) < half * SCALE {
                pixels[y * WIDTH + x] = colour;
            }
        }
    }
}

fn capture(options: &Options, times: &[Duration]) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(
        text,
        "# The frame times of a real render loop, in milliseconds from one present to the next."
    )?;
    writeln!(
        text,
        "# Recorded by tools/record_frames: {CRATES} crates fall, are drawn in software into a window of"
    )?;
    writeln!(
        text,
        "# {WIDTH}x{HEIGHT}, and are dropped again every {ROUND} s. The loop aims at {} frames per second. The first",
        options.fps
    )?;
    writeln!(text, "# {START} frames are left out.")?;
    writeln!(text, "MsBetweenPresents")?;
    for time in times {
        writeln!(text, "{:.4}", time.as_secs_f64() * 1e3)?;
    }
    Ok(text)
}
