//! The loop of a page: a ball at 10 Hz, drawn without evenstep, at the latest step, and with it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Smoothing};
use wasm_bindgen::prelude::*;
use web_sys::{CanvasRenderingContext2d, Event, HtmlCanvasElement, KeyboardEvent, PointerEvent};

use crate::clock::{PageClock, document, each_frame, on};
use crate::panics::report_panics;

/// The physics rate, in Hz. It is low, so that the stutter of the latest step is obvious.
const RATE: u32 = 10;
/// Half the width of the scene, in metres.
const HALF: f32 = 4.0;
/// The height of the scene above the floor, in metres.
const HEIGHT: f32 = 2.3;
/// The ball's radius, in metres.
const RADIUS: f32 = 0.4;
/// The ball's speeds, in m/s: sideways, and upwards when it hops or jumps.
const RUN: f32 = 3.0;
const HOP: f32 = 3.5;
const JUMP: f32 = 5.5;
/// The visible thickness of the floor, in metres.
const FLOOR: f64 = 0.2;
/// The number of frames that leave a mark in the pictures.
const TRAIL: usize = 50;
/// The colours without evenstep, with it, and of the floor.
const COLOURS: [&str; 2] = ["#d66c20", "#3a86d8"];
const STONE: &str = "#7d8794";

struct Page {
    simulation: Simulation,
    ball: BodyKey,
    presses: InputQueue<()>,
    clock: PageClock,
    /// The ball's poses in the latest frames, newest first.
    trail: VecDeque<[Pose; 2]>,
}

/// Draws the ball on a canvas, without evenstep above and with it below. A press on the canvas and the space bar make
/// it jump.
#[wasm_bindgen]
pub fn show_ball(canvas: HtmlCanvasElement) -> Result<(), JsValue> {
    report_panics();
    let page = Rc::new(RefCell::new(Page::new()));
    let pressed = Rc::clone(&page);
    on(&canvas, "pointerdown", move |event: PointerEvent| {
        pressed.borrow_mut().press(&event);
    });
    let pressed = Rc::clone(&page);
    on(&document(), "keydown", move |event: KeyboardEvent| {
        // The space bar also presses buttons, if one has the focus.
        let is_free = document()
            .active_element()
            .is_none_or(|element| element.tag_name() == "BODY");
        if event.code() == "Space" && is_free {
            event.prevent_default();
            pressed.borrow_mut().press(&event);
        }
    });
    let context = canvas.get_context("2d")?.unwrap();
    let context: CanvasRenderingContext2d = context.unchecked_into();
    each_frame(move |stamp| {
        let page = &mut *page.borrow_mut();
        let poses = page.frame(stamp);
        page.trail.push_front(poses);
        page.trail.truncate(TRAIL);
        draw(&context, &canvas, &page.trail).unwrap();
    });
    Ok(())
}

impl Page {
    fn new() -> Self {
        let mut simulation = Simulation::new(Rate::hz(RATE));
        // At this rate the corners of a straight line between two steps would be visible.
        simulation.smoothing = Smoothing::Hermite;
        let physics = &mut simulation.physics;
        for y in [-1.0, HEIGHT + 1.0] {
            let body = RigidBodyBuilder::fixed().translation(Vector::Y * y);
            physics.insert(body, ColliderBuilder::cuboid(2.0 * HALF, 1.0, 1.0));
        }
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::Y * RADIUS)
            .linvel(Vector::X * RUN)
            .enabled_translations(true, true, false)
            .enabled_rotations(false, false, true);
        Self {
            ball: physics.insert(body, ColliderBuilder::ball(RADIUS)),
            simulation,
            presses: InputQueue::new(Delivery::ByTime),
            clock: PageClock::new(),
            trail: VecDeque::new(),
        }
    }

    fn press(&mut self, event: &Event) {
        self.presses.push(self.clock.stamp(event), ());
    }

    /// Runs a frame. Returns two poses of the ball: after the latest step, and between the last two steps.
    fn frame(&mut self, stamp: f64) -> [Pose; 2] {
        let frame_time = self.clock.frame(stamp);
        self.simulation.advance(frame_time, |physics, step| {
            let jumps = self.presses.drain(step).count() > 0;
            run(physics, self.ball, jumps);
        });
        let latest = self.simulation.physics.body(self.ball);
        let interpolated = self.simulation.pose(self.ball);
        [*latest.unwrap().position(), interpolated.unwrap()]
    }
}

/// Lets the ball run to and fro, before a step. It hops where it lands.
fn run(physics: &mut Physics, ball: BodyKey, jumps: bool) {
    let body = physics.body_mut(ball).unwrap();
    let Vector { x, y, .. } = body.translation();
    let mut velocity = body.linvel();
    let is_at_edge = x.abs() > HALF - RADIUS - RUN / RATE as f32;
    // Landing has slowed it down.
    velocity.x = RUN.copysign(if is_at_edge { -x } else { velocity.x });
    if jumps {
        velocity.y = JUMP;
    } else if y < RADIUS + 0.05 && velocity.y < 0.1 {
        velocity.y = HOP;
    }
    body.set_linvel(velocity, true);
    body.set_angvel(Vector::NEG_Z * (velocity.x / RADIUS), true);
}

/// Draws both pictures, one above the other. Each has a floor, marks where the ball was drawn recently, and the ball.
fn draw(
    context: &CanvasRenderingContext2d,
    canvas: &HtmlCanvasElement,
    trail: &VecDeque<[Pose; 2]>,
) -> Result<(), JsValue> {
    let window = document().default_view();
    let ratio = window.map_or(1.0, |window| window.device_pixel_ratio());
    let [width, height] =
        [canvas.client_width(), canvas.client_height()].map(|length| f64::from(length) * ratio);
    // To set a size is also to clear the canvas.
    canvas.set_width(width as u32);
    canvas.set_height(height as u32);
    let half = f64::from(HALF);
    let scale = width / (2.0 * half);
    for (side, colour) in COLOURS.into_iter().enumerate() {
        let floor = height * (side as f64 + 1.0) / 2.0 - FLOOR * scale;
        // In metres from the middle of the floor, with y upwards.
        context.set_transform(scale, 0.0, 0.0, -scale, width / 2.0, floor)?;
        context.set_fill_style_str(STONE);
        context.fill_rect(-half, -FLOOR, 2.0 * half, FLOOR);
        context.set_fill_style_str(colour);
        // The marks are one path, so they are not darker where they overlap.
        context.begin_path();
        for poses in trail {
            disc(context, poses[side].translation, 0.05)?;
        }
        context.set_global_alpha(0.6);
        context.fill();
        context.set_global_alpha(1.0);
        let Some(pose) = trail.front().map(|poses| poses[side]) else {
            continue;
        };
        context.begin_path();
        disc(context, pose.translation, RADIUS)?;
        context.fill();
        let rim = pose * (Vector::X * RADIUS);
        context.set_stroke_style_str("white");
        context.set_line_width(0.08);
        context.begin_path();
        context.move_to(f64::from(pose.translation.x), f64::from(pose.translation.y));
        context.line_to(f64::from(rim.x), f64::from(rim.y));
        context.stroke();
    }
    Ok(())
}

/// Adds a disc to the path.
fn disc(context: &CanvasRenderingContext2d, centre: Vector, radius: f32) -> Result<(), JsValue> {
    let [x, y, radius] = [centre.x, centre.y, radius].map(f64::from);
    context.move_to(x + radius, y);
    context.arc(x, y, radius, 0.0, std::f64::consts::TAU)
}
