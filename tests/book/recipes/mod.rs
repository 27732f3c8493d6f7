//! Promises of the book's recipes beyond their own programs: the defects that each avoids, and the same result at all
//! frame rates.

mod character;
mod corrected_sounds;
mod far_worlds;
#[cfg(feature = "hecs")]
mod filters;
mod fixed_update;
mod headset;
#[cfg(feature = "serde")]
mod last_seconds;
mod moving_walls;
mod others;
mod outage;
mod paths;
mod paused;
mod platform;
mod predicted_player;
mod progress;
mod shots;
mod vehicle;
mod worker;
#[cfg(feature = "hecs")]
mod worlds;

use crate::scenes::{space, with_floor};
use evenstep::rapier::control::{
    DynamicRayCastVehicleController, KinematicCharacterController, WheelTuning,
};
use evenstep::rapier::parry::query;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation, Step};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn position(physics: &Physics, key: BodyKey) -> Pose {
    *physics.body(key).unwrap().position()
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

/// The capsule's dimensions, in metres.
const HALF_HEIGHT: f32 = 0.4; // without its caps
const RADIUS: f32 = 0.3;
/// The gap between the ground and the capsule. The character steps onto anything lower than this.
const LEGS: f32 = 0.3;
/// The height of the body's centre above the ground.
const STANDING: f32 = LEGS + RADIUS + HALF_HEIGHT;
/// The gap to kinematic bodies, in metres. It is wider than the gap that the controller leaves, which is 1 % of the
/// capsule's height.
const GAP: f32 = 0.02;
/// Bodies further away than this do not reach the character in one step, in metres.
const REACH: f32 = 2.0;
/// The mass with which the character pushes, in kilograms.
const MASS: f32 = 80.0;

struct Hero {
    key: BodyKey,
    /// The upward velocity, in metres per second.
    rise: f32,
    on_ground: bool,
}

impl Hero {
    fn build(simulation: &mut Simulation, feet: Vector) -> Self {
        let place = feet + Vector::Y * STANDING;
        let body = RigidBodyBuilder::kinematic_position_based().translation(place);
        let collider = ColliderBuilder::capsule_y(HALF_HEIGHT, RADIUS);
        Self {
            key: simulation.physics.insert(body, collider),
            rise: 0.0,
            on_ground: false,
        }
    }

    /// Walks for one step. Call it in the hook before each step. `velocity` is horizontal, in metres per second.
    fn walk(&mut self, physics: &mut Physics, step: Step, velocity: Vector) {
        if !self.on_ground {
            self.rise += physics.gravity().y * step.dt;
        }
        let wanted = (velocity + Vector::Y * self.rise) * step.dt;
        let place = self.go(physics, step, wanted);
        let place = self.stand(physics, place);
        let next = self.give_way(physics, place);
        let body = physics.body_mut(self.key).unwrap();
        body.set_next_kinematic_translation(next);
    }

    /// Returns the position that the capsule reaches. It stops at walls, and pushes bodies in its way.
    fn go(&mut self, physics: &mut Physics, step: Step, wanted: Vector) -> Vector {
        let controller = KinematicCharacterController::default();
        let capsule = Capsule::new_y(HALF_HEIGHT, RADIUS);
        let body = physics.body(self.key).unwrap();
        let pose = *body.position();
        let filter = self.filter(physics);
        let mut hits = Vec::new();
        let mut queries = physics.query_pipeline_mut(filter);
        // The controller adds the velocity of each kinematic body that the capsule touches. Without bodies, it takes
        // every collider for fixed.
        let no_bodies = RigidBodySet::new();
        let mut fixed = queries.as_ref();
        fixed.bodies = &no_bodies;
        let movement = controller.move_shape(step.dt, &fixed, &capsule, &pose, wanted, |hit| {
            hits.push(hit);
        });
        controller.solve_character_collision_impulses(step.dt, &mut queries, &capsule, MASS, &hits);
        if movement.translation.y.abs() < 0.5 * wanted.y.abs() {
            self.rise = 0.0; // the ceiling, or an edge under the capsule
        }
        pose.translation + movement.translation
    }

    /// Returns the character's position after the step, with its feet on the ground under `place`.
    fn stand(&mut self, physics: &Physics, place: Vector) -> Vector {
        // On the ground, the legs reach down to a lower step. In the air they do not.
        let reach = if self.on_ground { LEGS } else { 0.0 };
        let down = Ray::new(place, Vector::NEG_Y);
        let filter = self.filter(physics);
        let rapier = physics.rapier();
        let ground = rapier
            .cast_ray_and_get_normal(&down, STANDING + reach, true, filter)
            .filter(|(_, hit)| self.rise <= 0.0 && hit.normal.y > 0.7); // no steeper than 45°
        self.on_ground = ground.is_some();
        let Some((collider, hit)) = ground else {
            return place;
        };
        self.rise = 0.0;
        let standing = place + Vector::Y * (STANDING - hit.time_of_impact);
        let parent = rapier.colliders[collider].parent();
        match parent.map(|body| &rapier.bodies[body]) {
            // Its target is set, so its position after this step is known.
            Some(platform) if platform.is_kinematic() => {
                platform.next_position() * (platform.position().inverse() * standing)
            }
            _ => standing,
        }
    }

    /// Returns the position nearest to `place` that leaves a gap to kinematic bodies, such as doors, after the step.
    fn give_way(&self, physics: &Physics, mut place: Vector) -> Vector {
        // Rapier's distances to the axis of the capsule are more exact than those to its surface.
        let axis = Segment::new(Vector::Y * HALF_HEIGHT, Vector::NEG_Y * HALF_HEIGHT);
        let distance = RADIUS + GAP;
        let rapier = physics.rapier();
        let queries = rapier.query_pipeline_with_filter(self.filter(physics));
        let near = Aabb::from_half_extents(place, Vector::splat(REACH));
        for (_, collider) in queries.intersect_aabb_conservative(near) {
            let body = collider.parent().map(|body| &rapier.bodies[body]);
            let Some(body) = body.filter(|body| body.is_kinematic()) else {
                continue;
            };
            let next = body.next_position() * collider.position_wrt_parent().unwrap();
            let pose = Pose::from_translation(place);
            let contact = query::contact(&pose, &axis, &next, collider.shape(), distance);
            if let Ok(Some(contact)) = contact {
                place -= contact.normal1 * (distance - contact.dist);
            }
        }
        place
    }

    /// Returns a filter for everything that the character can stand on or run into.
    fn filter(&self, physics: &Physics) -> QueryFilter<'static> {
        let own = physics.handle(self.key).unwrap();
        QueryFilter::new().exclude_rigid_body(own).exclude_sensors()
    }
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
