//! The loop that a game writes by hand.

use std::hint::black_box;
use std::time::{Duration, Instant};

use evenstep::rapier::math::Pose;
use evenstep::rapier::pipeline::PhysicsWorld;

use super::{Scene, Trace, start};

const HZ: u32 = 60;

/// Runs a scene without evenstep. Returns the wall time per second of simulated time, in seconds: that of Rapier's steps
/// alone, and that of the whole loop.
#[expect(
    clippy::disallowed_methods,
    reason = "the cost is measured with the wall clock"
)]
pub fn by_hand(scene: &Scene, trace: &Trace) -> [f64; 2] {
    let mut simulation = start(scene, HZ).0;
    let mut world: PhysicsWorld = std::mem::take(simulation.physics.rapier_mut());
    let dt = 1.0 / HZ as f32;
    world.integration_parameters.dt = dt;
    let (mut accumulator, mut steps, mut rapier) = (0.0, 0, Duration::ZERO);
    let mut previous = poses(&world);
    let mut current = previous.clone();
    let begin = Instant::now();
    for time in &trace.times {
        accumulator += time.as_secs_f32();
        while accumulator >= dt {
            let begin = Instant::now();
            world.step();
            rapier += begin.elapsed();
            previous = std::mem::replace(&mut current, poses(&world));
            accumulator -= dt;
            steps += 1;
        }
        let alpha = accumulator / dt;
        for (previous, current) in previous.iter().zip(&current) {
            black_box(previous.lerp(current, alpha));
        }
    }
    let seconds = f64::from(steps) / f64::from(HZ);
    [rapier, begin.elapsed()].map(|wall| wall.as_secs_f64() / seconds)
}

fn poses(world: &PhysicsWorld) -> Vec<Pose> {
    let bodies = world.bodies.iter();
    bodies.map(|(_, body)| *body.position()).collect()
}
