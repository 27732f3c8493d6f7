//! Plots the displayed poses after a rollback.

use evenstep::rewind::Kept;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::rewind::RewindError;
use evenstep::{BodyKey, Correction, Simulation};

use super::picture::{BLUE, GREY, ORANGE, RED, lines_over_time};
use super::scenes::space;

const FRAME: Duration = Duration::from_micros(6_944);

const THERE: &str = "the body is never removed";

/// A time in seconds, and the change of the body's sideways position at that time, in metres.
type Aside = (f64, f32);

pub fn plot(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut coarse = with_half_life(100);
    coarse.position.min = 0.1;
    let twice = [(0.2, 0.5), (0.6, -0.3)];
    let off = Correction::OFF;
    lines_over_time(
        &folder.join("correction-time.svg"),
        "to the side, m",
        &[
            ("as simulated", GREY, sides(off, &twice)?),
            ("half_life 50 ms", RED, sides(with_half_life(50), &twice)?),
            (
                "half_life 200 ms",
                BLUE,
                sides(with_half_life(200), &twice)?,
            ),
            ("100 ms, min 0.1 m", ORANGE, sides(coarse, &twice)?),
        ],
        None,
    )
}

fn with_half_life(millis: u64) -> Correction {
    Correction::half_life(Duration::from_millis(millis))
}

/// Returns the sideways position in each frame, for a body that rollbacks move sideways.
fn sides(correction: Correction, asides: &[Aside]) -> Result<Vec<(f64, f64)>, RewindError> {
    let mut simulation = space(60);
    simulation.correction = correction;
    simulation.keep(Kept {
        ticks: 10,
        ..Kept::default()
    });
    let body = simulation
        .physics
        .insert_body(RigidBodyBuilder::dynamic().can_sleep(false));
    let mut asides = asides.iter().peekable();
    let mut points = Vec::new();
    for frame in 0..200 {
        let time = f64::from(frame) * FRAME.as_secs_f64();
        if let Some((_, by)) = asides.next_if(|(when, _)| *when <= time) {
            put_aside(&mut simulation, body, *by)?;
        }
        simulation.advance(FRAME, |_, _| ());
        let shown = simulation.pose(body).expect(THERE);
        points.push((time, f64::from(shown.translation.y)));
    }
    Ok(points)
}

/// Resimulates the last steps, with the body moved sideways by `by`.
fn put_aside(simulation: &mut Simulation, body: BodyKey, by: f32) -> Result<(), RewindError> {
    let first = simulation.physics.tick() - 3;
    simulation.resimulate(first, |physics, step| {
        if step.tick == first {
            let by = Pose::from_translation(Vector::Y * by);
            physics.teleport_by(body, by).expect(THERE);
        }
    })
}
