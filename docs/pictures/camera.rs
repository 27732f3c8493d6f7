//! A body on the screen, with two cameras.

use std::error::Error;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};

use pictures::style::{BLUE, Line, ORANGE, lines_over_time};
use scenes::{frame_times, space};

/// The speed of the body, in m/s.
const SPEED: f32 = 7.0;
/// The frames in the picture.
const FRAMES: std::ops::Range<usize> = 60..110;

/// Returns the position of a camera that follows a body.
type Camera = fn(&Simulation, BodyKey) -> Option<f32>;

/// Draws the distance of a body from two cameras that follow it, frame by frame.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let true_pose: Camera = |simulation, key| {
        let body = simulation.physics.body(key)?;
        Some(body.translation().x)
    };
    let displayed_pose: Camera = |simulation, key| Some(simulation.pose(key)?.translation.x);
    let lines = [
        Line {
            name: "camera at body(key)",
            colour: ORANGE,
            points: on_the_screen(true_pose)?,
            label: (0.01, -13.0),
        },
        Line {
            name: "camera at pose(key)",
            colour: BLUE,
            points: on_the_screen(displayed_pose)?,
            label: (0.01, 1.4),
        },
    ];
    let title = [
        "A camera at the true pose makes its target",
        "jitter. At the displayed pose it is at rest",
    ];
    lines_over_time(&title, "target off centre, cm", &lines, None, 24)
}

/// Returns the distance of the body from the camera, in centimetres, over the frames of a recorded loop.
fn on_the_screen(camera: Camera) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let capture = include_bytes!("../../examples/hecs_game/frame-times.csv");
    let mut simulation = space(60);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * SPEED);
    let body = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let mut points = Vec::new();
    let mut start = Duration::ZERO;
    for (frame, time) in frame_times::read(&capture[..])?.into_iter().enumerate() {
        simulation.advance(time, |_, _| ());
        let now = simulation.clock().real_time();
        if frame == FRAMES.start {
            start = now;
        }
        if FRAMES.contains(&frame) {
            let displayed = simulation.pose(body).ok_or("no body")?.translation.x;
            let camera = camera(&simulation, body).ok_or("no body")?;
            points.push((
                (now - start).as_secs_f64(),
                f64::from((displayed - camera) * 100.0),
            ));
        }
    }
    Ok(points)
}
