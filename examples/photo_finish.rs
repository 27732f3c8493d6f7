//! A photo finish: the race stops in the step in which the first ball touches the line, at any frame rate.
//!
//! `cargo run --example photo_finish`

use std::time::Duration;

use evenstep::Simulation;
use evenstep::rapier::prelude::*;

fn main() {
    for frames_per_second in [20, 60, 144] {
        let mut simulation = Simulation::default();
        let physics = &mut simulation.physics;
        physics.set_gravity(Vector::ZERO).unwrap();
        let line = ColliderBuilder::cuboid(0.01, 5.0, 5.0).sensor(true);
        let line = physics.insert(RigidBodyBuilder::fixed().translation(Vector::X * 9.0), line);
        let racers = [3.1f32, 3.15, 2.7].map(|speed| {
            let body = RigidBodyBuilder::dynamic()
                .linvel(Vector::X * speed)
                .translation(Vector::Z * speed);
            physics.insert(body, ColliderBuilder::ball(0.1))
        });
        while !simulation.clock().settings().is_paused() {
            let frame_time = Duration::from_secs(1) / frames_per_second;
            simulation
                .advance_with(frame_time, &mut Judge { line })
                .unwrap();
        }
        // The frame displays exactly the step of the finish, although it was longer.
        let finish = racers.map(|racer| simulation.pose(racer).unwrap().translation.x);
        println!(
            "{frames_per_second} fps: tick {}, {finish:.3?}",
            simulation.physics.tick()
        );
    }
}

/// Looks at the line after each step.
struct Judge {
    line: evenstep::BodyKey,
}

impl evenstep::Hooks for Judge {
    type Error = std::convert::Infallible;

    fn after_step(
        &mut self,
        physics: &mut evenstep::Physics,
        _step: evenstep::Step,
    ) -> Result<(), Self::Error> {
        if !physics.touching(self.line).is_empty() {
            physics.pause_after_step();
        }
        Ok(())
    }
}
