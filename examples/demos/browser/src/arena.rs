//! The arena of a match, seen from above, and the keys of its players.

use std::cell::Cell;
use std::f64::consts::TAU;
use std::rc::Rc;

use evenstep::rapier::math::Vector;
use evenstep::{BodyKey, Simulation};
use evenstep_netcode::game::Arena;
use wasm_bindgen::prelude::*;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, KeyboardEvent};

use crate::clock::{document, on};

/// Half the width of the visible area, in metres.
pub const HALF: f64 = 6.6;
/// The colours of both players, and of everything else. The pages use orange and blue for the two kinds of motion.
pub const COLOURS: [&str; 3] = ["#2f9e58", "#8b5fd3", "#7d8794"];
/// The colour of motion without evenstep, on all pages.
const WITHOUT: &str = "#d66c20";
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

/// Draws all bodies at their displayed poses.
pub fn draw(
    context: &CanvasRenderingContext2d,
    canvas: &HtmlCanvasElement,
    simulation: &Simulation,
    arena: &Arena,
) -> Result<(), JsValue> {
    context.clear_rect(
        0.0,
        0.0,
        f64::from(canvas.width()),
        f64::from(canvas.height()),
    );
    let bodies = simulation.physics.bodies();
    for key in bodies
        .filter(|(_, body)| body.is_dynamic())
        .map(|(key, _)| key)
    {
        let number = arena.players.iter().position(|player| *player == key);
        context.set_fill_style_str(COLOURS[number.unwrap_or(2)]);
        if let Some(pose) = simulation.pose(key) {
            disc(context, canvas, simulation, key, pose.translation)?;
            context.fill();
        }
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
    for key in arena.players {
        let error = simulation.visual_error(key).unwrap_or_default();
        if let Some(pose) = simulation.pose(key) {
            context.set_stroke_style_str(WITHOUT);
            context.set_line_width(scale(canvas) * 0.1);
            let position = pose.translation - error.translation;
            disc(context, canvas, simulation, key, position)?;
            context.stroke();
        }
    }
    Ok(())
}

/// Begins a path with the outline of a body at a position.
fn disc(
    context: &CanvasRenderingContext2d,
    canvas: &HtmlCanvasElement,
    simulation: &Simulation,
    key: BodyKey,
    position: Vector,
) -> Result<(), JsValue> {
    let rapier = simulation.physics.rapier();
    let collider = simulation.physics.body(key).unwrap().colliders()[0];
    let size = rapier.colliders[collider]
        .shape()
        .compute_local_aabb()
        .half_extents()
        .x;
    let scale = scale(canvas);
    let [x, y] = [(position.x, canvas.width()), (position.z, canvas.height())]
        .map(|(metres, pixels)| f64::from(pixels) / 2.0 + f64::from(metres) * scale);
    context.begin_path();
    context.arc(x, y, f64::from(size) * scale, 0.0, TAU)
}
