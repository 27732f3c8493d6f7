//! A box that jumps when you press the space bar, in a winit window, drawn by wgpu.

// All code for wgpu. Replace this module with your renderer.
mod screen;

use std::time::Instant;

use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use screen::Screen;
use winit::error::EventLoopError;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::keyboard::KeyCode;
use winit::{application::ApplicationHandler, window::WindowId};

struct Game {
    simulation: Simulation,
    body: BodyKey,
    presses: InputQueue<()>,
    last: Instant,
    screen: Option<Screen>,
}

impl ApplicationHandler for Game {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        self.screen = Some(Screen::open(event_loop));
        // Opening took time that the first frame must not simulate.
        self.last = Instant::now();
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(screen) = &mut self.screen else {
            return;
        };
        match event {
            WindowEvent::CloseRequested => event_loop.exit(),
            WindowEvent::Resized(size) => screen.resize(size),
            WindowEvent::KeyboardInput { event: key, .. } => {
                let is_press = key.state.is_pressed() && !key.repeat;
                if is_press && key.physical_key == KeyCode::Space {
                    let now = self.simulation.clock().real_time();
                    self.presses.push(now, ());
                }
            }
            WindowEvent::RedrawRequested => {
                let now = Instant::now();
                self.simulation.advance(now - self.last, |physics, step| {
                    // Runs before each step: forces, input, spawn and despawn.
                    if self.presses.drain(step).count() > 0 {
                        let up = Vector::Y * 6.0;
                        physics.apply_impulse(self.body, up).unwrap();
                    }
                });
                self.last = now;
                // The displayed pose, between two steps.
                let pose = self.simulation.pose(self.body).unwrap();
                let [x, y] = pose.translation.to_array();
                screen.draw(&[[0.0, 0.0, 8.0, 1.0], [x, y, 1.0, 1.0]]);
                screen.request_redraw();
            }
            _ => (),
        }
    }
}

fn main() -> Result<(), EventLoopError> {
    // 60 steps per second, at any frame rate.
    let mut simulation = Simulation::default();
    simulation
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::cuboid(4.0, 0.5));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
    // The box does not turn, because `screen.rs` draws upright rectangles.
    let body = body.lock_rotations();
    let body = simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(0.5, 0.5));
    EventLoop::new()?.run_app(&mut Game {
        simulation,
        body,
        presses: InputQueue::new(Delivery::NextStep),
        last: Instant::now(),
        screen: None,
    })
}
