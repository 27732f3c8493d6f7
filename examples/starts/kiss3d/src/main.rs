//! A box that jumps and turns, drawn by kiss3d.

use std::time::Instant;

use evenstep::Simulation;
use evenstep::rapier::prelude::*;
use kiss3d::prelude::*;

#[kiss3d::main]
async fn main() {
    // 60 steps per second, at any frame rate.
    let mut simulation = Simulation::default();
    simulation.physics.insert(
        RigidBodyBuilder::fixed(),
        ColliderBuilder::cuboid(4.0, 0.5, 4.0),
    );
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
    // The box moves only up and down, so it stays in the picture.
    let body = body.enabled_translations(false, true, false);
    let body = simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5));

    let mut window = Window::new("evenstep and kiss3d").await;
    let mut camera = OrbitCamera3d::new(Vec3::new(5.0, 6.0, 11.0), Vec3::Y);
    let mut scene = SceneNode3d::empty();
    scene.add_light(Light::directional(Vec3::new(-1.0, -3.0, -2.0)));
    scene.add_cube(8.0, 1.0, 8.0).set_color(DARK_GREEN);
    let mut node = scene.add_cube(1.0, 1.0, 1.0).set_color(ORANGE);

    let mut last = Instant::now();
    loop {
        let now = Instant::now();
        simulation.advance(now - last, |physics, step| {
            // Runs before each step: forces, input, spawn and despawn.
            if step.tick % 90 == 0 {
                let pushed = physics.apply_impulse(body, Vector::Y * 6.0);
                let turned = physics.apply_torque_impulse(body, Vector::ONE * 0.3);
                pushed.and(turned).unwrap();
            }
        });
        last = now;
        // The displayed pose, between two steps. evenstep and kiss3d use the same pose type.
        node.set_pose(simulation.pose(body).unwrap());
        if !window.render_3d(&mut scene, &mut camera).await {
            break;
        }
    }
}
