use rapier3d::prelude::*;
use std::collections::HashMap;

/// The longest frame time in seconds. Longer frames slow the simulation down, so that one slow frame does not cause
/// another.
const MAX_FRAME_TIME: f32 = 0.25;

#[derive(Default)]
struct FixedSteps {
    /// The time that has passed and is not simulated yet, in seconds.
    accumulator: f32,
    /// The poses before the last step.
    previous: HashMap<RigidBodyHandle, Pose>,
}

impl FixedSteps {
    /// Simulates a frame.
    fn advance(&mut self, world: &mut PhysicsWorld, frame_time: f32) {
        let dt = world.integration_parameters.dt;
        self.accumulator += frame_time.min(MAX_FRAME_TIME);
        while self.accumulator >= dt {
            // Change the world here: forces, input, kinematic targets, new and removed bodies.
            let bodies = world.bodies.iter();
            self.previous = bodies
                .map(|(handle, body)| (handle, *body.position()))
                .collect();
            world.step();
            self.accumulator -= dt;
        }
    }

    /// Returns the pose to draw.
    fn pose(&self, world: &PhysicsWorld, body: RigidBodyHandle) -> Pose {
        let current = *world.bodies[body].position();
        // A body that was inserted after the last step has no previous pose.
        let previous = self.previous.get(&body).unwrap_or(&current);
        previous.lerp(&current, self.accumulator / world.integration_parameters.dt)
    }
}
