//! A character that walks evenly over slopes, stairs and moving platforms: a kinematic capsule that floats above the
//! ground.
//!
//! # Limits
//! - Motion is even on slopes up to 42° at 8 m/s. The character slides down slopes steeper than 45°.
//! - The character climbs each stair within one step.
//! - A single ray finds the ground. Over a gap, the character falls until its centre has crossed it, and low objects
//!   pass through its legs.
//! - Dynamic bodies don't carry it along, and it puts no weight on them.
//! - Queries don't find a new collider until the next step, so the character falls for one step on new ground.
//! - Platforms that are kinematic by velocity don't carry it, and push it one step late.
//! - Walls and ceilings don't stop it while it steps up, rides a platform or gives way to a door.

use evenstep::rapier::control::KinematicCharacterController;
use evenstep::rapier::parry::query;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation, Step};

/// Half the height of the capsule without its caps, in metres.
pub const HALF_HEIGHT: f32 = 0.4;
/// The radius of the capsule, in metres.
pub const RADIUS: f32 = 0.3;
/// The gap between the ground and the capsule. The character steps onto anything lower than this.
const LEGS: f32 = 0.3;
/// The height of the body's centre above the ground.
pub const STANDING: f32 = LEGS + RADIUS + HALF_HEIGHT;
/// The gap to kinematic bodies, in metres. It is wider than the gap that the controller leaves, which is 1 % of the
/// capsule's height.
pub const GAP: f32 = 0.02;
/// Bodies further away than this do not reach the character in one step, in metres.
const REACH: f32 = 2.0;
/// The mass with which the character pushes, in kilograms.
const MASS: f32 = 80.0;

/// The character. The world and this value are all that its next step depends on, so save and restore them together.
#[derive(Clone, Debug)]
pub struct Hero {
    /// The body.
    pub key: BodyKey,
    /// The upward velocity, in metres per second.
    pub rise: f32,
    /// Whether it stood on the ground after the last step.
    pub on_ground: bool,
}

impl Hero {
    /// Inserts the character, with its feet at this position.
    pub fn build(simulation: &mut Simulation, feet: Vector) -> Self {
        let centre = feet + Vector::Y * STANDING;
        let body = RigidBodyBuilder::kinematic_position_based().translation(centre);
        let collider = ColliderBuilder::capsule_y(HALF_HEIGHT, RADIUS);
        Self {
            key: simulation.physics.insert(body, collider),
            rise: 0.0,
            on_ground: false,
        }
    }

    /// Walks for one step. Call it in the hook before each step. `velocity` is horizontal, in metres per second.
    pub fn walk(&mut self, physics: &mut Physics, step: Step, velocity: Vector) {
        if !self.on_ground {
            self.rise += physics.gravity().y * step.dt;
        }
        let wanted = (velocity + Vector::Y * self.rise) * step.dt;
        let reached = self.go(physics, step, wanted);
        let standing = self.stand(physics, reached);
        let next = self.give_way(physics, standing);
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

    /// Returns the character's position after the step, with its feet on the ground under `position`.
    fn stand(&mut self, physics: &Physics, position: Vector) -> Vector {
        // On the ground, the legs reach down to a lower step. In the air they do not.
        let reach = if self.on_ground { LEGS } else { 0.0 };
        let down = Ray::new(position, Vector::NEG_Y);
        let filter = self.filter(physics);
        let rapier = physics.rapier();
        let ground = rapier
            .cast_ray_and_get_normal(&down, STANDING + reach, true, filter)
            .filter(|(_, hit)| self.rise <= 0.0 && hit.normal.y > 0.7); // no steeper than 45°
        self.on_ground = ground.is_some();
        let Some((collider, hit)) = ground else {
            return position;
        };
        self.rise = 0.0;
        let standing = position + Vector::Y * (STANDING - hit.time_of_impact);
        let parent = rapier.colliders[collider].parent();
        match parent.map(|body| &rapier.bodies[body]) {
            // Its target is set, so its position after this step is known.
            Some(platform) if platform.is_kinematic() => {
                platform.next_position() * (platform.position().inverse() * standing)
            }
            _ => standing,
        }
    }

    /// Returns the position nearest to `position` that leaves a gap to kinematic bodies, such as doors, after the step.
    fn give_way(&self, physics: &Physics, mut position: Vector) -> Vector {
        // Rapier's distances to the axis of the capsule are more exact than those to its surface.
        let axis = Segment::new(Vector::Y * HALF_HEIGHT, Vector::NEG_Y * HALF_HEIGHT);
        let distance = RADIUS + GAP;
        let rapier = physics.rapier();
        let queries = rapier.query_pipeline_with_filter(self.filter(physics));
        let near = Aabb::from_half_extents(position, Vector::splat(REACH));
        for (_, collider) in queries.intersect_aabb_conservative(near) {
            let body = collider.parent().map(|body| &rapier.bodies[body]);
            let Some(body) = body.filter(|body| body.is_kinematic()) else {
                continue;
            };
            let next = body.next_position() * collider.position_wrt_parent().unwrap();
            let pose = Pose::from_translation(position);
            let contact = query::contact(&pose, &axis, &next, collider.shape(), distance);
            if let Ok(Some(contact)) = contact {
                position -= contact.normal1 * (distance - contact.dist);
            }
        }
        position
    }

    /// Returns a filter for everything that the character can stand on or run into.
    fn filter(&self, physics: &Physics) -> QueryFilter<'static> {
        let own = physics.handle(self.key).unwrap();
        QueryFilter::new().exclude_rigid_body(own).exclude_sensors()
    }
}
