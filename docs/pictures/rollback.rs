//! Late input: a rollback, and how the picture catches up.

use std::error::Error;

use evenstep::rapier::prelude::*;
use evenstep::rewind::{Kept, RewindError};
use evenstep::{BodyKey, Correction, Physics};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::shapes::{At, Drawn, arrow, dot, line};
use pictures::style::{self, Area, BLUE, GREY, ORANGE, label, text};
use scenes::{MS, space};

const HZ: u32 = 60;
/// The tick in which the other player turns, and the one in which that input arrives.
const TURN: u64 = 18;
const ARRIVAL: u64 = 36;
/// The speed of the other player in m/s: up, and then down.
const SPEEDS: [f32; 2] = [1.2, -0.4];
/// The number of frames of 10 ms.
const FRAMES: u32 = 118;

/// The height in pixels, and the position of a body at rest at time zero.
const HEIGHT: u32 = 276;
const ORIGIN: At = (16, 216);

/// A time in seconds, and a height in metres.
type Point = (f64, f64);

/// The displayed height in each frame of a run, and the heights that it resimulates.
#[derive(Default)]
struct Run {
    displayed: Vec<Point>,
    resimulated: Vec<Point>,
}

/// Draws the height of the other player over time: as displayed, with and without a correction of the error.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let title = [
        "Late input: evenstep goes back, resimulates,",
        "and lets the error fade instead of jumping",
    ];
    let with = play(Correction::default())?;
    let without = play(Correction::OFF)?;
    style::svg(&title, HEIGHT, |area| {
        let path = |points: &[Point]| {
            points
                .iter()
                .map(|point| pixels(*point))
                .collect::<Vec<_>>()
        };
        let arrival = f64::from(ARRIVAL as u32) / f64::from(HZ);
        let x = pixels((arrival, 0.0)).0;
        line(area, &[(x, 26), (x, HEIGHT as i32 - 36)], GREY, 1)?;
        text(area, "input arrives", (x, 12), HPos::Center, BLACK)?;
        line(area, &path(&without.displayed), ORANGE, 3)?;
        line(area, &path(&with.displayed), BLUE, 4)?;
        draw_rollback(area, &with)?;
        label(
            area,
            "without correction",
            (x + 10, 216),
            HPos::Left,
            ORANGE,
        )?;
        label(area, "evenstep", (x + 64, 104), HPos::Left, BLUE)?;
        text(area, "time", (544, HEIGHT as i32 - 18), HPos::Right, GREY)
    })
}

/// Draws an arrow back to the tick of the input, and the steps since then.
fn draw_rollback(area: &Area, run: &Run) -> Drawn {
    let last = run.resimulated.len() - 1;
    let [first, latest] = [run.resimulated[0], run.resimulated[last]].map(pixels);
    arrow(area, (latest.0 - 4, 40), (first.0, 40), BLACK)?;
    text(area, "1. back", (first.0 - 8, 40), HPos::Right, BLACK)?;
    line(area, &[(first.0, 48), (first.0, first.1 - 8)], GREY, 1)?;
    for point in &run.resimulated {
        dot(area, pixels(*point), 4, BLACK)?;
    }
    text(
        area,
        "2. resimulate",
        (latest.0 - 10, latest.1 + 64),
        HPos::Right,
        BLACK,
    )?;
    text(area, "3. fade", (latest.0 + 70, 78), HPos::Left, BLACK)
}

fn play(correction: Correction) -> Result<Run, RewindError> {
    let mut simulation = space(HZ);
    simulation.correction = correction;
    simulation.keep(Kept {
        ticks: 30,
        ..Kept::default()
    });
    let body = RigidBodyBuilder::dynamic().can_sleep(false);
    let player = simulation.physics.insert(body, ColliderBuilder::ball(0.5));
    let mut run = Run::default();
    let mut is_known = false;
    for _ in 0..FRAMES {
        if !is_known && simulation.physics.tick() == ARRIVAL {
            is_known = true;
            simulation.resimulate(TURN, |physics, step| {
                let time = step.tick as f64 / f64::from(HZ);
                run.resimulated.push((time, height(physics, player)));
                fly(physics, player, step.tick >= TURN);
            })?;
        }
        simulation.advance(MS(10), |physics, step| {
            fly(physics, player, is_known && step.tick >= TURN);
        });
        let displayed = simulation.pose(player).unwrap().translation.y;
        let time = simulation.clock().real_time().as_secs_f64();
        run.displayed.push((time, displayed.into()));
    }
    Ok(run)
}

fn fly(physics: &mut Physics, player: BodyKey, is_down: bool) {
    let speed = SPEEDS[usize::from(is_down)];
    let player = physics.body_mut(player).unwrap();
    player.set_linvel(Vector::Y * speed, true);
}

fn height(physics: &Physics, player: BodyKey) -> f64 {
    physics.body(player).unwrap().translation().y.into()
}

fn pixels((time, height): Point) -> At {
    let [right, up] = [time * 440.0, height * 220.0].map(|value| value.round() as i32);
    (ORIGIN.0 + right, ORIGIN.1 - up)
}
