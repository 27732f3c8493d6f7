//! A crate in flight.

use std::error::Error;

use evenstep::rapier::prelude::*;
use evenstep::{Rate, Simulation};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use pictures::style::{self, Area, BLUE, GREY, ORANGE, label, text};
use scenes::MS;

/// Half the width of the crate, in metres.
const HALF: f32 = 0.5;
/// The number of pixels per metre.
const SCALE: f32 = 78.0;

/// Draws a crate in flight, from the side: one outline for each step, and the displayed pose.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let mut simulation = Simulation::new(Rate::hz(5));
    let thrown = RigidBodyBuilder::dynamic()
        .translation(Vector::new(0.9, 0.6, 0.0))
        .linvel(Vector::new(6.6, 7.9, 0.0))
        .angvel(Vector::Z * -2.2);
    let shape = ColliderBuilder::cuboid(HALF, HALF, HALF);
    let key = simulation.physics.insert(thrown, shape);
    let truth = |simulation: &Simulation| *simulation.physics.body(key).unwrap().position();

    let mut states = vec![truth(&simulation)];
    for _ in 0..4 {
        simulation.advance(MS(200), |_, _| ());
        states.push(truth(&simulation));
    }
    let frame = simulation.advance(MS(80), |_, _| ());
    let displayed = simulation.pose(key).ok_or("no body")?;

    let title = [
        "pose(key) lies between the last two steps:",
        "it is smooth, and behind body(key)",
    ];
    style::svg(&title, 410, |area| {
        let alpha = format!("displayed, alpha {:.1}", frame.alpha);
        text(area, "earlier steps", (200, 312), HPos::Left, GREY)?;
        label(area, "pose(key)", (412, 12), HPos::Right, BLUE)?;
        text(area, &alpha, (412, 38), HPos::Right, BLACK)?;
        label(area, "body(key)", (432, 12), HPos::Left, ORANGE)?;
        text(area, "true", (432, 38), HPos::Left, BLACK)?;
        let path = states.iter().map(|pose| pixels(pose.translation));
        area.draw(&PathElement::new(
            path.collect::<Vec<_>>(),
            GREY.stroke_width(2),
        ))?;
        area.draw(&Polygon::new(corners(displayed), BLUE.mix(0.6)))?;
        let (latest, earlier) = states.split_last().ok_or("no state")?;
        for pose in earlier {
            outline(area, *pose, GREY.stroke_width(2))?;
        }
        outline(area, displayed, BLUE.stroke_width(4))?;
        outline(area, *latest, ORANGE.stroke_width(4))
    })
}

fn outline(area: &Area, pose: Pose, style: ShapeStyle) -> Result<(), Box<dyn Error>> {
    let [a, b, c, d] = corners(pose);
    // The first side is drawn once more, because a line has no joint at its ends.
    Ok(area.draw(&PathElement::new([a, b, c, d, a, b], style))?)
}

/// Returns the corners of the crate's front, in pixels.
fn corners(pose: Pose) -> [(i32, i32); 4] {
    let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
    corners.map(|(x, y)| pixels(pose * (Vector::new(x, y, 0.0) * HALF)))
}

fn pixels(point: Vector) -> (i32, i32) {
    ((SCALE * point.x) as i32, 396 - (SCALE * point.y) as i32)
}
