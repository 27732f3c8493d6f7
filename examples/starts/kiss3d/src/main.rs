//! A box that jumps and turns when you press the space bar, drawn by kiss3d.

use std::time::Instant;

use evenstep::Simulation;
use evenstep::input::{Button, Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use kiss3d::prelude::*;

#[kiss3d::main]
async fn main() {
    let mut simulation = Simulation::default(); // 60 steps per second
    let floor = ColliderBuilder::cuboid(4.0, 0.5, 4.0);
    simulation.physics.insert(RigidBodyBuilder::fixed(), floor);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
    // The box moves only up and down, so it stays in the picture.
    let body = body.enabled_translations(false, true, false);
    let collider = ColliderBuilder::cuboid(0.5, 0.5, 0.5);
    let hero = simulation.physics.insert(body, collider);

    let mut window = Window::new("evenstep and kiss3d").await;
    let mut camera = OrbitCamera3d::new(Vec3::new(5.0, 6.0, 11.0), Vec3::Y);
    let mut scene = SceneNode3d::empty();
    scene.add_light(Light::directional(Vec3::new(-1.0, -3.0, -2.0)));
    scene.add_cube(8.0, 1.0, 8.0).set_color(DARK_GREEN);
    let mut node = scene.add_cube(1.0, 1.0, 1.0).set_color(ORANGE);

    let mut keys = InputQueue::new(Delivery::NextStep);
    let mut jump = Button::default(); // ignores repeats of a held key
    let mut last = Instant::now(); // after loading
    while window.render_3d(&mut scene, &mut camera).await {
        for event in window.events().iter() {
            if let WindowEvent::Key(Key::Space, action, _) = event.value {
                keys.push(simulation.clock().real_time(), action == Action::Press);
            }
        }
        let now = Instant::now();
        simulation.advance(now - last, |physics, step| {
            // Runs before each step: forces, input, spawn and despawn.
            jump.start_step();
            for sample in keys.drain(step) {
                jump.set(sample.input);
            }
            if jump.presses() > 0 {
                physics.apply_impulse(hero, Vector::Y * 6.0).unwrap();
                physics
                    .apply_torque_impulse(hero, Vector::ONE * 0.3)
                    .unwrap();
            }
        });
        last = now;
        // The displayed pose, between two steps. kiss3d has the same pose type.
        node.set_pose(simulation.pose(hero).unwrap());
    }
}
