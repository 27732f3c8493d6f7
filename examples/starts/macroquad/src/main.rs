//! A box that jumps and turns when you press the space bar, drawn by macroquad.

use std::time::Duration;

use evenstep::Simulation;
use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::time::FrameTimer;
use macroquad::prelude::*;

#[macroquad::main("evenstep and macroquad")]
async fn main() {
    let mut simulation = Simulation::default(); // 60 steps per second
    let floor = ColliderBuilder::cuboid(4.0, 0.5);
    simulation.physics.insert(RigidBodyBuilder::fixed(), floor);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
    // The box moves only up and down.
    let body = body.enabled_translations(false, true);
    let collider = ColliderBuilder::cuboid(0.5, 0.5);
    let hero = simulation.physics.insert(body, collider);

    let mut presses = InputQueue::new(Delivery::NextStep);
    let now = || Duration::from_secs_f64(get_time());
    let mut timer = FrameTimer::new(now(), simulation.clock().real_time());
    loop {
        if is_key_pressed(KeyCode::Space) {
            presses.push(simulation.clock().real_time(), ());
        }
        simulation.advance(timer.frame(now()), |physics, step| {
            // Runs before each step: forces, input, spawn and despawn.
            if presses.drain(step).count() > 0 {
                physics.apply_impulse(hero, Vector::Y * 6.0).unwrap();
                physics.apply_torque_impulse(hero, 0.5).unwrap();
            }
        });

        // The displayed pose, between two steps.
        let pose = simulation.pose(hero).unwrap();
        clear_background(SKYBLUE);
        // In metres, with y up. The floor's lower edge is that of the window.
        set_camera(&Camera2D {
            target: vec2(0.0, 2.5),
            zoom: vec2(1.0 / 4.0, -1.0 / 3.0),
            ..Default::default()
        });
        draw_rectangle(-4.0, -0.5, 8.0, 1.0, DARKGREEN);
        let turned = DrawRectangleParams {
            offset: vec2(0.5, 0.5),
            rotation: pose.rotation.angle(),
            color: ORANGE,
        };
        draw_rectangle_ex(pose.translation.x, pose.translation.y, 1.0, 1.0, turned);
        next_frame().await;
    }
}
