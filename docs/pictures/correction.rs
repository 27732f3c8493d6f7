//! How fast the visual error after a rollback decays.

use std::error::Error;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::rewind::{Kept, RewindError};
use evenstep::{BodyKey, Correction, Simulation};
use plotters::prelude::RGBColor;

use pictures::style::{BLUE, GREY, Line, lines_over_time};
use scenes::{MS, space};

const FRAME: Duration = Duration::from_micros(6_944);
/// The number of frames in the picture, and the frame of the rollback.
const FRAMES: u32 = 56;
const ROLLBACK: u32 = 9;
/// How far the rollback moves the body, in metres.
const ASIDE: f32 = 0.5;

/// The line of a shorter half-life has more contrast.
const DARK: RGBColor = RGBColor(20, 70, 140);
const LIGHT: RGBColor = RGBColor(110, 165, 225);

/// Draws the displayed positions of a body that a rollback moves sideways, for several half-lives.
pub fn svg() -> Result<String, Box<dyn Error>> {
    // Names of lines that end close to each other are moved apart, by some of these metres.
    let half_lives = [
        (50, "50 ms", DARK, 0.02),
        (100, "100 ms", BLUE, -0.02),
        (200, "200 ms", LIGHT, 0.0),
    ];
    let simulated = sides(Correction::OFF)?;
    let mut lines = vec![Line {
        name: "simulated",
        colour: GREY,
        points: simulated,
        label: (0.065, 0.55),
    }];
    for (millis, name, colour, up) in half_lives {
        let points = sides(Correction::half_life(MS(millis)))?;
        let &(time, end) = points.last().ok_or("no frames")?;
        lines.push(Line {
            name,
            colour,
            points,
            label: (time, end + up),
        });
    }
    let title = [
        "After a rollback the picture catches up:",
        "the longer the half-life, the more slowly",
    ];
    lines_over_time(&title, "to the side, m", &lines, None, 100)
}

/// Returns the displayed sideways position in each frame.
fn sides(correction: Correction) -> Result<Vec<(f64, f64)>, RewindError> {
    let mut simulation = space(60);
    simulation.correction = correction;
    simulation.keep(Kept {
        ticks: 10,
        ..Kept::default()
    });
    let body = simulation
        .physics
        .insert_body(RigidBodyBuilder::dynamic().can_sleep(false));
    let mut points = Vec::new();
    for frame in 0..FRAMES {
        if frame == ROLLBACK {
            put_aside(&mut simulation, body)?;
        }
        simulation.advance(FRAME, |_, _| ());
        let displayed = simulation.pose(body).unwrap().translation.y;
        points.push(((FRAME * frame).as_secs_f64(), displayed.into()));
    }
    Ok(points)
}

/// Resimulates the last steps, with the body moved sideways.
fn put_aside(simulation: &mut Simulation, body: BodyKey) -> Result<(), RewindError> {
    let first = simulation.physics.tick() - 3;
    simulation.resimulate(first, |physics, step| {
        if step.tick == first {
            let aside = Pose::from_translation(Vector::Y * ASIDE);
            physics.teleport_by(body, aside).unwrap();
        }
    })
}
