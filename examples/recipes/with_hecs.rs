//! The loop with hecs: crates that are spawned with their bodies, and drawn between their steps.

use std::time::Duration;

use evenstep::ecs::hecs::{Entities, RenderPose};
use evenstep::hecs::World;
use evenstep::rapier::prelude::*;
use evenstep::{Physics, Simulation};

/// Marks an entity as a crate.
pub struct Crate;

/// Spawns a crate at this position.
pub fn spawn(world: &mut World, entities: &mut Entities, physics: &mut Physics, position: Vector) {
    let body = RigidBodyBuilder::dynamic().translation(position);
    let collider = ColliderBuilder::cuboid(0.5, 0.5, 0.5);
    entities.spawn(world, physics, body, collider, (Crate,));
}

/// Runs a frame, and draws all crates with `draw`.
pub fn frame(
    simulation: &mut Simulation,
    world: &mut World,
    entities: &mut Entities,
    frame_time: Duration,
    mut draw: impl FnMut(Pose),
) {
    simulation.advance(frame_time, |_, _| ());
    entities.sync(world, simulation);
    for (pose, _) in world.query_mut::<(&RenderPose, &Crate)>() {
        draw(pose.0);
    }
}
