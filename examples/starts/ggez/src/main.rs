//! A box that jumps and turns, drawn by ggez.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use ggez::event::{self, EventHandler};
use ggez::graphics::{Canvas, Color, DrawParam, Quad, Rect};
use ggez::{Context, ContextBuilder, GameResult, glam};

struct Game {
    simulation: Simulation,
    body: BodyKey,
}

impl EventHandler for Game {
    fn update(&mut self, context: &mut Context) -> GameResult {
        // The time since the last call. ggez calls `update` once per frame.
        let frame_time = context.time.delta();
        self.simulation.advance(frame_time, |physics, step| {
            // Runs before each step: forces, input, spawn and despawn.
            if step.tick % 90 == 0 {
                let pushed = physics.apply_impulse(self.body, Vector::Y * 6.0);
                let turned = physics.apply_torque_impulse(self.body, 0.5);
                pushed.and(turned).unwrap();
            }
        });
        Ok(())
    }

    fn draw(&mut self, context: &mut Context) -> GameResult {
        // The displayed pose, between two steps.
        let pose = self.simulation.pose(self.body).unwrap();
        let mut canvas = Canvas::from_frame(context, Color::from_rgb(120, 180, 220));
        // Coordinates are in metres, with y up.
        canvas.set_screen_coordinates(Rect::new(-4.0, 5.5, 8.0, -6.0));
        let floor = DrawParam::new().dest_rect(Rect::new(-4.0, -0.5, 8.0, 1.0));
        canvas.draw(&Quad, floor.color(Color::from_rgb(30, 110, 50)));
        let square = DrawParam::new().dest(glam::Vec2::from(pose.translation.to_array()));
        let square = square.rotation(pose.rotation.angle()).offset([0.5, 0.5]);
        canvas.draw(&Quad, square.color(Color::from_rgb(240, 150, 30)));
        canvas.finish(context)
    }
}

fn main() -> GameResult {
    // 60 steps per second, at any frame rate.
    let mut simulation = Simulation::default();
    simulation
        .physics
        .insert(RigidBodyBuilder::fixed(), ColliderBuilder::cuboid(4.0, 0.5));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
    // The box moves only up and down, so it stays in the picture.
    let body = body.enabled_translations(false, true);
    let body = simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(0.5, 0.5));
    let (context, event_loop) = ContextBuilder::new("evenstep and ggez", "evenstep").build()?;
    event::run(context, event_loop, Game { simulation, body })
}
