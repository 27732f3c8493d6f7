//! The drone of the example `hecs_game`, as two renderers draw it: one in the latest step, the other interpolated.

// The game as the example plays it.
#[path = "../../examples/hecs_game/game.rs"]
mod game;

use std::error::Error;
use std::time::Duration;

use evenstep::Simulation;
use evenstep::ecs::hecs::{Body, RenderPose};
use evenstep::rapier::math::Vector;
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;

use game::{DRONE_SPEED, Game};
use pictures::style::{self, Area, EVENSTEP, FONT, GREY, HEIGHT, WITHOUT, name};

/// The number of frames of the run, at 144 Hz. The picture has the last ones.
const FRAMES: usize = 300;
const IN_PICTURE: usize = 16;

/// The width of the numbers beside the left panel, in pixels.
const POSITIONS: u32 = 80;

/// A frame: its end in milliseconds, and the positions at which the two renderers draw the drone.
struct DrawnFrame {
    end: f32,
    latest: Vector,
    interpolated: Vector,
}

/// A renderer: the name and the colour of its side, and its positions.
type Renderer = ((&'static str, RGBColor), fn(&DrawnFrame) -> Vector);

const RENDERERS: [Renderer; 2] = [(WITHOUT, |it| it.latest), (EVENSTEP, |it| it.interpolated)];

/// Draws a panel for each renderer, with the drone's position in each frame, and a line for even motion.
pub fn svg() -> Result<String, Box<dyn Error>> {
    let frames = play()?;
    let title = [
        "Without evenstep a body stops and jumps,",
        "with evenstep it moves evenly",
    ];
    style::svg(&title, HEIGHT, |area| {
        let (width, _) = area.dim_in_pixel();
        let panels = area.split_horizontally((width + POSITIONS) / 2);
        panel(&panels.0, &frames, &RENDERERS[0], POSITIONS)?;
        panel(&panels.1, &frames, &RENDERERS[1], 0)
    })
}

/// Returns the last frames of a run.
fn play() -> Result<Vec<DrawnFrame>, Box<dyn Error>> {
    let mut simulation = Simulation::default();
    let mut game = Game::new(&mut simulation.physics);
    let mut frames = Vec::new();
    let mut start = None;
    for number in 0..FRAMES {
        let frame_time = Duration::from_secs(1) / 144;
        game.collect_input(simulation.clock().real_time() + frame_time);
        let Ok(_) = simulation.advance_with(frame_time, &mut game);
        game.entities.sync(&mut game.world, &mut simulation);
        if number < FRAMES - IN_PICTURE {
            continue;
        }
        let end = simulation.clock().real_time();
        let start = *start.get_or_insert(end);
        let drone = game.world.entity(game.drone)?;
        let key = drone.get::<&Body>().ok_or("no body")?.key();
        let body = simulation.physics.body(key).ok_or("no body")?;
        frames.push(DrawnFrame {
            end: (end - start).as_secs_f32() * 1e3,
            latest: body.translation(),
            interpolated: drone.get::<&RenderPose>().ok_or("no pose")?.0.translation,
        });
    }
    Ok(frames)
}

fn panel(
    area: &Area,
    frames: &[DrawnFrame],
    &((side, colour), position): &Renderer,
    positions: u32,
) -> Result<(), Box<dyn Error>> {
    // The distance that the renderer has moved the drone, in metres, against the time.
    let points = frames.iter().map(|frame| {
        let distance = position(frame).distance(position(&frames[0]));
        (frame.end, distance)
    });
    let end = points.clone().next_back().ok_or("no frames")?.0;
    let speed = DRONE_SPEED / 1e3;
    // The line has the same mean as the points.
    let ahead = points
        .clone()
        .map(|(time, distance)| distance - speed * time);
    let ahead = ahead.sum::<f32>() / frames.len() as f32;
    let even = [-0.04 * end, 1.04 * end].map(|time| (time, speed * time + ahead));

    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(60)
        .y_label_area_size(positions)
        .build_cartesian_2d(even[0].0..even[1].0, -0.1 * speed * end..1.22 * speed * end)?;
    chart
        .configure_mesh()
        .x_desc("time, ms")
        .y_desc("distance, m")
        .x_label_formatter(&|time| format!("{time}"))
        .x_labels(3)
        .y_labels(5)
        .label_style(FONT)
        .light_line_style(WHITE)
        .draw()?;
    let above = (0.0, 1.13 * speed * end);
    chart.draw_series([name(side, above, HPos::Left, colour)])?;
    chart.draw_series(LineSeries::new(even, GREY.stroke_width(2)))?;
    chart.draw_series(points.map(|dot| Circle::new(dot, 5, colour.filled())))?;
    Ok(())
}
