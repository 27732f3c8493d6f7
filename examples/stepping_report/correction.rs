//! The two plots of what is shown after a rollback.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Correction, RewindError, Simulation};

use super::picture::{BLUE, GREY, ORANGE, RED, lines_over_time};
use super::scenes::space;

const FRAME: Duration = Duration::from_micros(6_944);

const THERE: &str = "it is never removed";

/// In seconds: when the body is put to which side, by how many metres.
type Aside = (f64, f32);

pub fn plot(folder: &Path) -> Result<(), Box<dyn Error>> {
    let time = |millis| in_time(Duration::from_millis(millis));
    let mut coarse = time(200);
    coarse.position.min = 0.1;
    let twice = [(0.2, 0.5), (0.6, -0.3)];
    let off = Correction::OFF;
    lines_over_time(
        &folder.join("correction-time.svg"),
        "to the side, m",
        &[
            ("as simulated", GREY, sides(off, 0.0, &twice)?),
            ("half_life 50 ms", RED, sides(time(50), 0.0, &twice)?),
            ("half_life 200 ms", BLUE, sides(time(200), 0.0, &twice)?),
            ("200 ms, min 0.1 m", ORANGE, sides(coarse, 0.0, &twice)?),
        ],
    )?;
    let mut by_motion = in_time(Duration::from_secs(10));
    by_motion.position.half_distance = Some(0.3);
    let once = [(0.2, 0.5)];
    lines_over_time(
        &folder.join("correction-motion.svg"),
        "to the side, m",
        &[
            ("as simulated", GREY, sides(off, 2.0, &once)?),
            ("half_life 200 ms", BLUE, sides(time(200), 2.0, &once)?),
            (
                "10 s, half_distance 0.3 m, at 2 m/s",
                ORANGE,
                sides(by_motion, 2.0, &once)?,
            ),
            ("the same at 6 m/s", RED, sides(by_motion, 6.0, &once)?),
        ],
    )
}

fn in_time(half_life: Duration) -> Correction {
    let mut correction = Correction::default();
    correction.position.half_life = half_life;
    correction
}

/// Where to the side each frame shows a body that is put there by rollbacks, and goes ahead at `speed` from 0.7 s on.
fn sides(
    correction: Correction,
    speed: f32,
    asides: &[Aside],
) -> Result<Vec<(f64, f64)>, RewindError> {
    let mut simulation = space(60);
    simulation.set_correction(correction);
    simulation.set_rewind_limits(10, usize::MAX);
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
        simulation.advance(FRAME, |physics, step| {
            if step.tick == 42 {
                let body = physics.body_mut(body).expect(THERE);
                body.set_linvel(Vector::X * speed, true);
            }
        });
        let shown = simulation.pose(body).expect(THERE);
        points.push((time, f64::from(shown.translation.y)));
    }
    Ok(points)
}

/// Makes the last steps again, with the body so much to the side.
fn put_aside(simulation: &mut Simulation, body: BodyKey, by: f32) -> Result<(), RewindError> {
    let first = simulation.physics.tick() - 3;
    simulation.resimulate(first, |physics, step| {
        if step.tick == first {
            let by = Pose::from_translation(Vector::Y * by);
            physics.teleport_by(body, by).expect(THERE);
        }
    })
}
