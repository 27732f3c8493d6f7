//! Tests poses and motion vectors that are read back from the graphics card.

use std::time::Duration;

use evenstep::rapier::glamx::Vec3;
use evenstep::rapier::prelude::*;
use evenstep::render::{PoseFloats, pose_floats};
use evenstep::{BodyKey, Simulation};
use gpu::{Camera, Gpu, Instances, Renderer, spinners};

const MS: fn(u64) -> Duration = Duration::from_millis;

/// A simulation, and its bodies on the graphics card.
struct Scene {
    gpu: Gpu,
    simulation: Simulation,
    instances: Instances,
}

impl Scene {
    fn new(simulation: Simulation) -> Self {
        let gpu = Gpu::open().expect("this needs a graphics card or a software rasteriser");
        let instances = Instances::new(&gpu, 1_000);
        Self {
            gpu,
            simulation,
            instances,
        }
    }

    fn frame(&mut self, ms: u64) {
        self.simulation.advance(MS(ms), |_, _| ());
        let data = self.simulation.render_data().unwrap();
        let removed = self.simulation.removed();
        self.instances.update(&self.gpu, data, removed).unwrap();
    }

    fn insert(&mut self, body: RigidBodyBuilder) -> BodyKey {
        let shape = ColliderBuilder::ball(0.1);
        self.simulation.physics.insert(body, shape)
    }

    /// Compares all poses with `Simulation::pose`.
    fn check(&self) {
        let bytes = self.gpu.read(&self.instances.poses);
        let poses: &[PoseFloats] = bytemuck::cast_slice(&bytes);
        let bodies = self.simulation.physics.bodies();
        let keys: Vec<BodyKey> = bodies.map(|(key, _)| key).collect();
        assert!(!keys.is_empty());
        for key in &keys {
            let slot = self.instances.slot(*key).expect("every body has a slot") as usize;
            let expected = pose_floats(&self.simulation.pose(*key).unwrap());
            for (one, other) in poses[slot].iter().zip(expected) {
                let off = (one - other).abs();
                assert!(off <= 3e-7 * (1.0 + other.abs()), "{key:?}: {off:e}");
            }
        }
        let drawn = (poses.iter()).filter(|pose| **pose != PoseFloats::default());
        assert_eq!(drawn.count(), keys.len());
    }
}

#[test]
fn every_gpu_pose_matches_the_pose_of_the_simulation() {
    let mut scene = Scene::new(spinners(500));
    for ms in [0, 7, 7, 7, 50, 3, 0, 7] {
        scene.frame(ms);
        scene.check();
    }
}

#[test]
fn gpu_poses_follow_inserted_removed_teleported_and_resting_bodies() {
    let mut scene = Scene::new(Simulation::default());
    let floor = ColliderBuilder::cuboid(9.0, 0.5, 9.0);
    let body = RigidBodyBuilder::fixed().translation(Vector::Y * -0.5);
    scene.simulation.physics.insert(body, floor);
    let mut keys = Vec::new();
    for i in 0..200_u8 {
        let at = Vector::new(f32::from(i % 5), 0.5 + f32::from(i % 3), 0.0);
        keys.push(scene.insert(RigidBodyBuilder::dynamic().translation(at)));
        if i % 3 == 2 {
            let key = keys.swap_remove(usize::from(i) % keys.len());
            scene.simulation.physics.remove(key).unwrap();
        }
        if i % 10 == 0 {
            let to = Pose::from_translation(Vector::new(0.0, 4.0, f32::from(i % 7)));
            scene.simulation.physics.teleport(keys[0], to).unwrap();
        }
        scene.frame(7);
        scene.check();
    }
    for _ in 0..200 {
        scene.frame(20);
    }
    scene.check();
}

#[test]
fn motion_vectors_follow_moving_bodies_and_ignore_teleports() {
    let mut simulation = Simulation::default();
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    let mut scene = Scene::new(simulation);
    let mover = RigidBodyBuilder::dynamic().translation(Vector::X * -2.0);
    let mover = scene.insert(mover.linvel(Vector::Y * 3.0));
    scene.insert(RigidBodyBuilder::fixed());
    let jumper = scene.insert(RigidBodyBuilder::fixed().translation(Vector::X * 9.0));
    scene.frame(25);
    scene.frame(10);
    let before = scene.simulation.pose(mover).unwrap();
    let to = Pose::from_translation(Vector::X * 2.0);
    scene.simulation.physics.teleport(jumper, to).unwrap();
    scene.frame(10);

    let renderer = Renderer::new(&scene.gpu, 256, 256);
    let camera = Camera::looking(Vec3::Z * 10.0, Vec3::ZERO, 1.0);
    renderer.draw(&scene.gpu, &camera, &scene.instances);
    let picture = renderer.read(&scene.gpu);
    // Half the height of the picture in metres, at the front of a cube 9.65 m away. The factor is the tangent of 0.4.
    let half = 9.65 * 0.422_793_2;
    let now = scene.simulation.pose(mover).unwrap().translation;
    let moved = now.y - before.translation.y;
    assert!((moved - 0.03).abs() < 1e-3, "{moved}");
    let [x, y] = picture.velocity(now.x / half, now.y / half);
    assert!(x.abs() < 1e-5 && (y - moved / half).abs() < 1e-4, "{x} {y}");
    for x in [0.0, 2.0] {
        assert_eq!(picture.velocity(x / half, 0.0), [0.0, 0.0]);
        let pixel = ((128 * 256) + (128.0 + 128.0 * x / half) as usize) * 4;
        assert_ne!(picture.rgba[pixel..pixel + 3], [0, 0, 0], "a cube is drawn");
    }
}
