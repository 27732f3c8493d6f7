//! The promises of the recipes in `examples/recipes` and of the book: the defects that each avoids, and the same result at
//! all frame rates.

mod attachments;
mod character;
mod cloth;
mod corrected_sounds;
mod crouching;
mod far_worlds;
mod fast;
mod fast_forward;
#[cfg(feature = "hecs")]
mod filters;
mod fixed_update;
mod grabbing;
mod headset;
#[cfg(feature = "hecs")]
mod hits;
mod input;
mod instances;
mod jitter;
mod joints;
#[cfg(feature = "serde")]
mod last_seconds;
mod moving;
mod moving_walls;
mod objects;
mod others;
mod outage;
mod paths;
mod paused;
mod platform;
mod player;
mod players;
mod pool;
mod predicted_player;
mod preview;
#[cfg(feature = "serde")]
mod progress;
#[cfg(feature = "serde")]
mod recorded;
mod remote_bodies;
mod rules;
mod server_loop;
mod shots;
mod sound;
mod time;
mod traps;
mod unity_script;
mod vehicle;
#[cfg(feature = "hecs")]
mod with_hecs;
mod worker;
mod world;
#[cfg(feature = "hecs")]
mod worlds;

use evenstep::rapier::control::KinematicCharacterController;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation, Step};
use recipes::hero::Hero;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn position(physics: &Physics, key: BodyKey) -> Pose {
    *physics.body(key).unwrap().position()
}

fn poses(physics: &Physics) -> Vec<Pose> {
    physics.bodies().map(|(_, body)| *body.position()).collect()
}

/// Returns `state` of the simulation before step `tick`, at this number of frames per second.
fn at_tick<T>(
    tick: u64,
    frames_per_second: u32,
    mut simulation: Simulation,
    mut hook: impl FnMut(&mut Physics, Step),
    state: impl Fn(&Physics) -> T,
) -> T {
    let mut result = None;
    while result.is_none() {
        simulation.advance(SECOND / frames_per_second, |physics, step| {
            if step.tick == tick {
                result = Some(state(physics));
            }
            hook(physics, step);
        });
    }
    result.unwrap()
}

/// Walks with Rapier's controller alone, which slides over the ground.
fn slide(physics: &mut Physics, step: Step, key: BodyKey, velocity: Vector) {
    let handle = physics.handle(key).unwrap();
    let rapier = physics.rapier_mut_except_bodies();
    let pose = *rapier.bodies[handle].position();
    let filter = QueryFilter::new().exclude_rigid_body(handle);
    let movement = KinematicCharacterController::default().move_shape(
        step.dt,
        &rapier.query_pipeline_with_filter(filter),
        &Capsule::new_y(0.5, 0.3),
        &pose,
        velocity * step.dt,
        |_| (),
    );
    let next = pose.translation + movement.translation;
    rapier.bodies[handle].set_next_kinematic_translation(next);
}

/// Inserts a capsule of 1.6 m that stands on ground at `height`.
fn sliding_capsule(simulation: &mut Simulation, height: f32) -> BodyKey {
    simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based().translation(Vector::Y * (height + 0.82)),
        ColliderBuilder::capsule_y(0.5, 0.3),
    )
}

/// Returns the position of the capsule after each step.
fn positions(
    simulation: &mut Simulation,
    hero: &mut Hero,
    steps: u64,
    velocity: Vector,
) -> Vec<Vector> {
    let mut positions = Vec::new();
    let end = simulation.physics.tick() + steps;
    simulation
        .clock_settings_mut()
        .set_max_frame_time(Duration::MAX);
    while simulation.physics.tick() < end {
        simulation.advance(SECOND / 60, |physics, step| {
            hero.walk(physics, step, velocity);
        });
        positions.push(position(&simulation.physics, hero.key).translation);
    }
    positions
}
