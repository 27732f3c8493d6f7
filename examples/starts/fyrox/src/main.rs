//! A box that jumps and turns, drawn by Fyrox.

// The scene. Replace this module with yours.
mod scene;

use std::time::Instant;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use fyrox::core::algebra::{Unit, Vector3};
use fyrox::core::{pool::Handle, reflect::prelude::*, visitor::prelude::*};
use fyrox::engine::executor::Executor;
use fyrox::event_loop::EventLoop;
use fyrox::plugin::{Plugin, PluginContext, error::GameResult};
use fyrox::scene::{Scene, mesh::Mesh};

#[derive(Debug, Visit, Reflect)]
#[reflect(non_cloneable)]
struct Game {
    #[visit(skip)]
    #[reflect(hidden)]
    physics: (Simulation, BodyKey, Instant),
    scene: Handle<Scene>,
    mesh: Handle<Mesh>,
}

impl Plugin for Game {
    fn init(&mut self, _: Option<&str>, context: PluginContext) -> GameResult {
        let (scene, mesh) = scene::new();
        (self.scene, self.mesh) = (context.scenes.add(scene), mesh);
        Ok(())
    }

    // Opening the window took time that the first frame must not simulate.
    fn on_graphics_context_initialized(&mut self, _: PluginContext) -> GameResult {
        self.physics.2 = Instant::now();
        Ok(())
    }

    // This runs once per frame. Fyrox's `update` has its own fixed rate.
    fn before_rendering(&mut self, context: PluginContext) -> GameResult {
        let (simulation, body, last) = &mut self.physics;
        let frame_time = last.elapsed();
        *last += frame_time;
        simulation.advance(frame_time, |physics, step| {
            // Runs before each step: forces, input, spawn and despawn.
            if step.tick % 90 == 0 {
                let pushed = physics.apply_impulse(*body, Vector::Y * 6.0);
                let turned = physics.apply_torque_impulse(*body, Vector::ONE * 0.3);
                pushed.and(turned).unwrap();
            }
        });
        // The displayed pose, between two steps.
        let pose = simulation.pose(*body).unwrap();
        let graph = &mut context.scenes[self.scene].graph;
        let node = graph[self.mesh].local_transform_mut();
        node.set_position(Vector3::from(pose.translation.to_array()));
        node.set_rotation(Unit::new_normalize(pose.rotation.to_array().into()));
        graph.update_hierarchical_data();
        Ok(())
    }
}

fn main() {
    // 60 steps per second, at any frame rate.
    let mut simulation = Simulation::default();
    let floor = ColliderBuilder::cuboid(4.0, 0.5, 4.0);
    simulation.physics.insert(RigidBodyBuilder::fixed(), floor);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
    // The box moves only up and down, so it stays in the picture.
    let body = body.enabled_translations(false, true, false);
    let body = simulation
        .physics
        .insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5));
    let mut executor = Executor::new(Some(EventLoop::new().unwrap()));
    executor.add_plugin(Game {
        physics: (simulation, body, Instant::now()),
        scene: Handle::NONE,
        mesh: Handle::NONE,
    });
    executor.run();
}
