//! One path, displayed with each smoothing.

use std::error::Error;

use evenstep::rapier::prelude::*;
use evenstep::{Rate, Smoothing};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use super::shapes::{At, Drawn, dot, line, ring};
use pictures::style::{self, Area, BLUE, GREY, label, text};
use scenes::{MS, with_floor};

/// A smoothing, and what it does with the path.
const SMOOTHINGS: [(Smoothing, &str, &str); 4] = [
    (Smoothing::Interpolate, "Interpolate", "straight lines"),
    (Smoothing::Hermite, "Hermite", "curves, overshoots"),
    (Smoothing::Extrapolate, "Extrapolate", "ahead, and jumps"),
    (Smoothing::Latest, "Latest", "stops and jumps"),
];

/// The rate is low, so that the differences are visible.
const RATE: u32 = 8;
/// The radius of the ball, and its speed to the right.
const RADIUS: f32 = 0.15;
const SPEED: f32 = 2.0;
/// The number of frames of 10 ms.
const FRAMES: u32 = 125;

/// The size of a panel, and the number of pixels per metre.
const PANEL: [i32; 2] = [272, 172];
const SCALE: f32 = 94.0;

/// Draws a bouncing ball in four panels: its states, and where each frame displays it.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let title = [
        "The same steps, drawn in four ways. Only",
        "Interpolate neither jumps nor overshoots",
    ];
    let [width, height] = PANEL;
    style::svg(&title, 2 * height as u32 + 74, |area| {
        for ((smoothing, name, what), i) in SMOOTHINGS.into_iter().zip(0..) {
            let corner = (8 + i % 2 * width, i / 2 * height);
            draw_panel(area, corner, smoothing)?;
            label(area, name, (corner.0 + 8, corner.1 + 12), HPos::Left, BLUE)?;
            text(area, what, (corner.0 + 8, corner.1 + 36), HPos::Left, BLACK)?;
        }
        let y = 2 * height + 52;
        ring(area, (24, y), 7, GREY)?;
        text(area, "after a step", (38, y), HPos::Left, BLACK)?;
        dot(area, (200, y), 4, BLUE)?;
        text(area, "drawn, in each frame", (212, y), HPos::Left, BLACK)
    })
}

fn draw_panel(area: &Area, corner: At, smoothing: Smoothing) -> Drawn {
    let floor = corner.1 + PANEL[1] - 16;
    let pixels = |at: Vector| {
        let [right, up] = [at.x, at.y - RADIUS].map(|metres| (metres * SCALE).round() as i32);
        (corner.0 + 14 + right, floor - 7 - up)
    };
    let mut simulation = with_floor(Rate::hz(RATE));
    simulation.smoothing = smoothing;
    let thrown = RigidBodyBuilder::dynamic()
        .translation(Vector::Y * 0.9)
        .linvel(Vector::X * SPEED)
        .lock_rotations();
    let bouncy = ColliderBuilder::ball(RADIUS)
        .restitution(1.0)
        .restitution_combine_rule(CoefficientCombineRule::Max)
        .friction(0.0)
        .friction_combine_rule(CoefficientCombineRule::Min);
    let ball = simulation.physics.insert(thrown, bouncy);
    line(
        area,
        &[(corner.0 + 4, floor), (corner.0 + PANEL[0] - 12, floor)],
        GREY,
        2,
    )?;
    let mut frames = Vec::new();
    let mut states = Vec::new();
    for _ in 0..FRAMES {
        let frame = simulation.advance(MS(10), |_, _| ());
        if frame.steps > 0 {
            states.push(simulation.physics.body(ball).unwrap().translation());
        }
        if frame.tick > 1 {
            frames.push(simulation.pose(ball).unwrap().translation);
        }
    }
    for state in states {
        ring(area, pixels(state), 7, GREY)?;
    }
    for frame in frames {
        dot(area, pixels(frame), 4, BLUE)?;
    }
    Ok(())
}
