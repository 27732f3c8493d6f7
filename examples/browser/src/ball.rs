//! The loop of a page: a ball at 10 Hz, drawn at the latest step and interpolated by evenstep.

use std::cell::RefCell;
use std::rc::Rc;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Delivery, InputQueue, Rate, Simulation};
use wasm_bindgen::prelude::*;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, PointerEvent};

use crate::clock::{PageClock, each_frame, on};
use crate::panics::report_panics;

struct Page {
    simulation: Simulation,
    ball: BodyKey,
    presses: InputQueue<()>,
    clock: PageClock,
}

/// Draws the ball twice on a canvas. A press on the canvas pushes it up.
#[wasm_bindgen]
pub fn show_ball(canvas: HtmlCanvasElement) -> Result<(), JsValue> {
    report_panics();
    let mut simulation = Simulation::new(Rate::hz(10).unwrap());
    let floor = ColliderBuilder::cuboid(10.0, 0.1, 10.0).restitution(1.0);
    simulation.physics.insert(RigidBodyBuilder::fixed(), floor);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 3.0);
    let page = Rc::new(RefCell::new(Page {
        ball: simulation
            .physics
            .insert(body, ColliderBuilder::ball(0.4).restitution(0.8)),
        simulation,
        presses: InputQueue::new(Delivery::ByTime),
        clock: PageClock::new(),
    }));
    let pressed = Rc::clone(&page);
    on(&canvas, "pointerdown", move |event: PointerEvent| {
        let page = &mut *pressed.borrow_mut();
        page.presses.push(page.clock.stamp(&event), ());
    });
    let context = canvas
        .get_context("2d")?
        .expect("every browser has 2D canvases");
    let context: CanvasRenderingContext2d = context.unchecked_into();
    each_frame(move |stamp| draw(&context, &canvas, page.borrow_mut().frame(stamp)));
    Ok(())
}

impl Page {
    /// Gives the heights of the ball: after the last step, and between the last two.
    fn frame(&mut self, stamp: f64) -> [f32; 2] {
        let frame_time = self.clock.frame(stamp);
        self.simulation.advance(frame_time, |physics, step| {
            let presses = self.presses.drain(step).count();
            // Every two seconds too, so that it never comes to rest.
            let pushes = presses + usize::from(step.tick % 20 == 19);
            let pushed = physics.apply_impulse(self.ball, Vector::Y * 1.5 * pushes as f32);
            pushed.expect("the ball stays");
        });
        let last = self
            .simulation
            .physics
            .body(self.ball)
            .expect("the ball stays");
        let shown = self.simulation.pose(self.ball).expect("the ball stays");
        [last.translation().y, shown.translation.y]
    }
}

fn draw(context: &CanvasRenderingContext2d, canvas: &HtmlCanvasElement, heights: [f32; 2]) {
    let (width, height) = (f64::from(canvas.width()), f64::from(canvas.height()));
    context.clear_rect(0.0, 0.0, width, height);
    for (side, metres) in [0.25, 0.75].into_iter().zip(heights) {
        let y = height * (1.0 - f64::from(metres) / 6.0);
        context.begin_path();
        let circle = context.arc(side * width, y, height / 15.0, 0.0, std::f64::consts::TAU);
        circle.expect("a radius is positive");
        context.fill();
    }
}
