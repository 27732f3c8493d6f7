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

/// The height in pixels, the lower end of the lines, and the position of a body at rest at time zero.
const HEIGHT: u32 = 298;
const FOOT: i32 = 262;
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
        let resimulated = path(&with.resimulated);
        draw_moments(area, resimulated[0].1)?;
        line(area, &path(&without.displayed), ORANGE, 3)?;
        line(area, &path(&with.displayed), BLUE, 4)?;
        for point in resimulated {
            dot(area, point, 2, BLACK)?;
        }
        draw_names(area)
    })
}

/// Draws when the other player turned, at a height in pixels, when that input arrives, and an arrow from there back.
fn draw_moments(area: &Area, height: i32) -> Drawn {
    let [turn, arrival] = [TURN, ARRIVAL].map(x);
    for (x, foot) in [(turn, height), (arrival, FOOT)] {
        line(area, &[(x, 26), (x, foot)], GREY, 1)?;
    }
    text(area, "the other turns", (turn, 12), HPos::Center, BLACK)?;
    text(area, "input arrives", (arrival - 14, 12), HPos::Left, BLACK)?;
    arrow(area, (arrival - 4, 44), (turn + 4, 44), BLACK)?;
    text(area, "1. go back", (turn - 10, 44), HPos::Right, BLACK)?;
    text(area, "time", (544, FOOT + 18), HPos::Right, GREY)
}

fn draw_names(area: &Area) -> Drawn {
    let arrival = x(ARRIVAL);
    text(area, "prediction:", (12, 106), HPos::Left, BLACK)?;
    text(area, "goes on up", (12, 132), HPos::Left, BLACK)?;
    text(
        area,
        "2. resimulate",
        (arrival - 8, 192),
        HPos::Right,
        BLACK,
    )?;
    label(area, "evenstep", (arrival + 70, 66), HPos::Left, BLUE)?;
    let fades = (arrival + 70, 92);
    text(area, "3. the error fades", fades, HPos::Left, BLACK)?;
    let without = (arrival + 10, 220);
    label(area, "without correction", without, HPos::Left, ORANGE)?;
    text(
        area,
        "the body jumps",
        (arrival + 10, 246),
        HPos::Left,
        BLACK,
    )
}

/// Returns where a tick is, from the left.
fn x(tick: u64) -> i32 {
    pixels((tick as f64 / f64::from(HZ), 0.0)).0
}

fn path(points: &[Point]) -> Vec<At> {
    points.iter().map(|point| pixels(*point)).collect()
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
