//! A box that jumps and turns, drawn by macroquad.

use std::time::Duration;

use evenstep::Simulation;
use evenstep::rapier::prelude::*;
use evenstep::time::FrameTimer;
use macroquad::prelude::*;

#[macroquad::main("evenstep and macroquad")]
async fn main() {
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

    // macroquad's frame time is an `f32`. Its clock is an `f64`.
    let now = || Duration::from_secs_f64(get_time());
    let mut timer = FrameTimer::new(now());
    loop {
        simulation.advance(timer.frame(now()), |physics, step| {
            // Runs before each step: forces, input, spawn and despawn.
            if step.tick % 90 == 0 {
                let pushed = physics.apply_impulse(body, Vector::Y * 6.0);
                let turned = physics.apply_torque_impulse(body, 0.5);
                pushed.and(turned).unwrap();
            }
        });

        // The displayed pose, between two steps.
        let pose = simulation.pose(body).unwrap();
        clear_background(SKYBLUE);
        // Coordinates are in metres, with y up. The lower edge of the picture is that of the floor.
        set_camera(&Camera2D {
            target: vec2(0.0, 2.5),
            zoom: vec2(1.0 / 4.0, -1.0 / 3.0),
            ..Default::default()
        });
        draw_rectangle(-4.0, -0.5, 8.0, 1.0, DARKGREEN);
        let how = DrawRectangleParams {
            offset: vec2(0.5, 0.5),
            rotation: pose.rotation.angle(),
            color: ORANGE,
        };
        draw_rectangle_ex(pose.translation.x, pose.translation.y, 1.0, 1.0, how);
        next_frame().await;
    }
}
