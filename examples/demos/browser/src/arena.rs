//! The arena of a match, seen from above, and the keys of its players.

use std::cell::Cell;
use std::collections::VecDeque;
use std::f64::consts::TAU;
use std::rc::Rc;

use evenstep::rapier::math::{Pose, Vector};
use evenstep::rapier::parry::shape::Shape;
use evenstep::{BodyKey, Simulation};
use evenstep_netcode::game::Arena;
use wasm_bindgen::prelude::*;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, KeyboardEvent};

use crate::clock::{document, on};

/// Half the width of the visible area, in metres.
pub const HALF: f64 = 6.6;
/// The colours of both players, and of the other balls. The pages use orange and blue for the two kinds of motion.
pub const COLOURS: [&str; 3] = ["#2f9e58", "#8b5fd3", "#7d8794"];
/// The colour of motion without evenstep, on all pages.
const WITHOUT: &str = "#d66c20";
const CRATE: &str = "#b08d5f";
/// The widths of a ring and of a path, in metres. In a picture of 310 pixels, a ring is three pixels wide.
const RING: f64 = 0.13;
const PATH: f64 = 0.1;
/// The number of frames in a path.
const TRAIL: usize = 40;
/// The arrow keys, in the order of the bits of [`Buttons`](evenstep_netcode::game::Buttons).
pub const ARROWS: [&str; 4] = ["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"];

/// Returns the keys that are down, as the bits of [`Buttons`](evenstep_netcode::game::Buttons).
pub fn held_keys(keys: [&'static str; 4]) -> Rc<Cell<u8>> {
    let held = Rc::new(Cell::new(0));
    for (name, is_down) in [("keydown", true), ("keyup", false)] {
        let held = Rc::clone(&held);
        on(&document(), name, move |event: KeyboardEvent| {
            if let Some(bit) = keys.iter().position(|key| *key == event.code()) {
                let others = held.get() & !(1 << bit);
                held.set(others | u8::from(is_down) << bit);
                event.prevent_default();
            }
        });
    }
    held
}

/// Returns what draws on a canvas.
pub fn context(canvas: &HtmlCanvasElement) -> Result<CanvasRenderingContext2d, JsValue> {
    let context = canvas.get_context("2d")?.unwrap(); // every browser has 2D canvases
    Ok(context.unchecked_into())
}

/// Returns the pixels per metre of a canvas.
fn scale(canvas: &HtmlCanvasElement) -> f64 {
    f64::from(canvas.width().min(canvas.height())) / (2.0 * HALF)
}

/// Converts a position in the arena to pixels of a canvas.
fn pixels(canvas: &HtmlCanvasElement, position: Vector) -> [f64; 2] {
    let scale = scale(canvas);
    [(position.x, canvas.width()), (position.z, canvas.height())]
        .map(|(metres, pixels)| f64::from(pixels) / 2.0 + f64::from(metres) * scale)
}

/// Clears a canvas.
pub fn clear(context: &CanvasRenderingContext2d, canvas: &HtmlCanvasElement) {
    let [width, height] = [canvas.width(), canvas.height()].map(f64::from);
    context.clear_rect(0.0, 0.0, width, height);
}

/// Draws all bodies at their displayed poses.
pub fn draw(
    context: &CanvasRenderingContext2d,
    canvas: &HtmlCanvasElement,
    simulation: &Simulation,
    arena: &Arena,
) -> Result<(), JsValue> {
    let bodies = simulation.physics.bodies();
    for (key, _) in bodies.filter(|(_, body)| body.is_dynamic()) {
        let Some(pose) = simulation.pose(key) else {
            continue;
        };
        let number = arena.players.iter().position(|player| *player == key);
        let is_crate = shape(simulation, key).as_cuboid().is_some();
        let colour = number.map_or(COLOURS[2], |number| COLOURS[number]);
        context.set_fill_style_str(if is_crate { CRATE } else { colour });
        outline(context, canvas, shape(simulation, key), pose)?;
        context.fill();
    }
    Ok(())
}

/// Draws the outlines of both players without the correction of a rollback, in other words without their visual errors.
pub fn draw_without_correction(
    context: &CanvasRenderingContext2d,
    canvas: &HtmlCanvasElement,
    simulation: &Simulation,
    arena: &Arena,
) -> Result<(), JsValue> {
    context.set_stroke_style_str(WITHOUT);
    context.set_line_width(scale(canvas) * RING);
    for key in arena.players {
        if let Some([_, uncorrected]) = positions(simulation, key) {
            let pose = Pose::from_translation(uncorrected);
            outline(context, canvas, shape(simulation, key), pose)?;
            context.stroke();
        }
    }
    Ok(())
}

/// The positions of both players in the latest frames, newest first: as displayed, and without correction.
#[derive(Default)]
pub struct Trails([VecDeque<[Vector; 2]>; 2]);

impl Trails {
    /// Adds a frame, and draws the paths of both players. Without correction, a path has a corner after a rollback.
    pub fn draw(
        &mut self,
        context: &CanvasRenderingContext2d,
        canvas: &HtmlCanvasElement,
        simulation: &Simulation,
        arena: &Arena,
    ) {
        context.set_line_width(scale(canvas) * PATH);
        context.set_line_join("round");
        for (number, trail) in self.0.iter_mut().enumerate() {
            if let Some(positions) = positions(simulation, arena.players[number]) {
                trail.push_front(positions);
                trail.truncate(TRAIL);
            }
            for (side, colour) in [(1, WITHOUT), (0, COLOURS[number])] {
                context.set_stroke_style_str(colour);
                context.begin_path();
                for positions in &*trail {
                    let [x, y] = pixels(canvas, positions[side]);
                    context.line_to(x, y);
                }
                context.stroke();
            }
        }
    }
}

/// Returns the displayed position of a body, and the one without the correction of a rollback.
fn positions(simulation: &Simulation, key: BodyKey) -> Option<[Vector; 2]> {
    let displayed = simulation.pose(key)?.translation;
    let error = simulation.visual_error(key).unwrap_or_default();
    Some([displayed, displayed - error.translation])
}

/// Returns the shape of a body's only collider.
fn shape(simulation: &Simulation, key: BodyKey) -> &dyn Shape {
    let collider = simulation.physics.body(key).unwrap().colliders()[0];
    simulation.physics.rapier().colliders[collider].shape()
}

/// Begins a path with the outline of a shape from above: a circle, or a square for a crate.
fn outline(
    context: &CanvasRenderingContext2d,
    canvas: &HtmlCanvasElement,
    shape: &dyn Shape,
    pose: Pose,
) -> Result<(), JsValue> {
    let [x, y] = pixels(canvas, pose.translation);
    let half = shape.compute_local_aabb().half_extents().x;
    let size = f64::from(half) * scale(canvas);
    context.begin_path();
    if shape.as_cuboid().is_none() {
        return context.arc(x, y, size, 0.0, TAU);
    }
    // An axis of the crate that is not upright.
    let axes = [Vector::X, Vector::Z].map(|axis| pose.rotation * axis);
    let [a, b] = axes;
    let side = if a.y.abs() < b.y.abs() { a } else { b };
    let side = Vector::new(side.x, 0.0, side.z).normalize_or(Vector::X);
    let [across, down] = [side.x, side.z].map(|part| size * f64::from(part));
    for [a, b] in [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]] {
        context.line_to(x + a * across - b * down, y + a * down + b * across);
    }
    context.close_path();
    Ok(())
}
