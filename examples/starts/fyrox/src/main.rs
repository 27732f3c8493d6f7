//! A box that jumps and turns, drawn by Fyrox.

use std::time::Instant;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Simulation};
use fyrox::core::algebra::{Matrix4, Quaternion, UnitQuaternion, Vector3};
use fyrox::core::{pool::Handle, reflect::prelude::*, visitor::prelude::*};
use fyrox::engine::executor::Executor;
use fyrox::event_loop::EventLoop;
use fyrox::plugin::{Plugin, PluginContext, error::GameResult};
use fyrox::scene::mesh::surface::{SurfaceBuilder, SurfaceData, SurfaceResource};
use fyrox::scene::mesh::{Mesh, MeshBuilder};
use fyrox::scene::{Scene, base::BaseBuilder, camera::CameraBuilder, transform::TransformBuilder};

#[derive(Debug, Visit, Reflect)]
#[reflect(non_cloneable)]
struct Game {
    #[visit(skip)]
    #[reflect(hidden)]
    physics: (Simulation, BodyKey, Instant),
    scene: Handle<Scene>,
    node: Handle<Mesh>,
}

impl Plugin for Game {
    fn init(&mut self, _: Option<&str>, context: PluginContext) -> GameResult {
        let mut scene = Scene::new();
        let back = TransformBuilder::new().with_local_position(Vector3::new(0.0, 2.0, -6.0));
        let camera = BaseBuilder::new().with_local_transform(back.build());
        CameraBuilder::new(camera).build(&mut scene.graph);
        let mut add_box = |size| {
            let data = SurfaceData::make_cube(Matrix4::new_nonuniform_scaling(&size));
            let surface = SurfaceBuilder::new(SurfaceResource::new_embedded(data)).build();
            let mesh = MeshBuilder::new(BaseBuilder::new()).with_surfaces(vec![surface]);
            mesh.build(&mut scene.graph)
        };
        add_box(Vector3::new(8.0, 1.0, 8.0));
        self.node = add_box(Vector3::new(1.0, 1.0, 1.0));
        self.scene = context.scenes.add(scene);
        Ok(())
    }

    // Once a frame: Fyrox's `update` is called at a rate of its own.
    fn before_rendering(&mut self, context: PluginContext) -> GameResult {
        let (simulation, body, last) = &mut self.physics;
        let frame_time = last.elapsed();
        *last += frame_time;
        simulation.advance(frame_time, |simulation, step| {
            // Before each step: forces, input, spawn and despawn.
            if step.tick % 90 == 0 {
                let push = Vector::new(0.0, 6.0, 0.0);
                simulation.apply_impulse(*body, push).expect("it is there");
            }
        });
        // Where it is shown: between two steps.
        let pose = simulation.pose(*body).expect("it is there");
        let graph = &mut context.scenes[self.scene].graph;
        let node = graph[self.node].local_transform_mut();
        node.set_position(Vector3::from(pose.translation.to_array()));
        let rotation = Quaternion::from(pose.rotation.to_array());
        node.set_rotation(UnitQuaternion::from_quaternion(rotation));
        graph.update_hierarchical_data();
        Ok(())
    }
}

fn main() {
    // 60 steps a second, at any frame rate.
    let mut simulation = Simulation::default();
    let floor = ColliderBuilder::cuboid(4.0, 0.5, 4.0);
    simulation.insert(RigidBodyBuilder::fixed(), floor);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 3.0);
    let body = simulation.insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5));
    let mut executor = Executor::new(Some(EventLoop::new().expect("an event loop")));
    executor.add_plugin(Game {
        physics: (simulation, body, Instant::now()),
        scene: Handle::NONE,
        node: Handle::NONE,
    });
    executor.run();
}
