//! The character: a capsule on legs. Rapier's character controller moves the capsule past walls and crates, and a ray
//! finds the ground for the legs.
//!
//! A capsule that slides on the ground with the controller alone hops by millimetres. It gets the velocity of a
//! platform late, and only in some steps, and a platform that passes beside it tows it. Here only the ground carries the
//! legs, and platforms push the capsule out of their way.

use evenstep::rapier::control::KinematicCharacterController;
use evenstep::rapier::parry::query;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

use crate::controls::Wish;
use crate::level::{HERO, Paint, SHOT};

/// The walking speed, in m/s.
pub const SPEED: f32 = 5.0;
/// The acceleration up to that speed, in m/s².
const ACCELERATION: f32 = 40.0;
/// The speed at which a jump leaves the ground, in m/s. A jump is 2.5 m high.
const JUMP: f32 = 7.0;
/// A jump counts up to this many steps after the character has left the ground, and before it lands: 0.1 s each.
const FORGIVEN: u32 = 6;
/// The mass for pushing, in kilograms.
const MASS: f32 = 80.0;

/// The radius of the capsule, in metres.
pub const RADIUS: f32 = 0.3;
/// Half the height of the capsule without its caps, in metres.
pub const HALF_HEIGHT: f32 = 0.35;
/// The height of the capsule above the ground. The character steps onto lower obstacles.
pub const LEGS: f32 = 0.3;
/// The height of the body's centre above the ground.
pub const STANDING: f32 = LEGS + RADIUS + HALF_HEIGHT;
/// The gap to platforms, in metres. It is wider than the gap that the controller leaves, which is 1 % of the
/// capsule's height.
pub const GAP: f32 = 0.02;
/// Bodies further away than this do not reach the character in one step, in metres.
const REACH: f32 = 2.0;
/// Below this height the character starts over.
const LOWEST: f32 = -12.0;

/// The character. This value and the world contain everything that the next step depends on, so a copy can be restored.
#[derive(Clone, Debug, PartialEq)]
pub struct Hero {
    key: BodyKey,
    start: Vector,
    /// The horizontal walking velocity, in m/s.
    walk: Vector,
    /// The horizontal velocity of the platform that the character rides or has left, in m/s.
    drift: Vector,
    /// The upward velocity, in m/s.
    rise: f32,
    /// 0 on the ground.
    steps_off_ground: u32,
    steps_since_press: u32,
}

impl Hero {
    /// Inserts the character, with its feet at this position.
    pub fn build(physics: &mut Physics, feet: Vector) -> Self {
        let start = feet + Vector::Y * STANDING;
        let body = RigidBodyBuilder::kinematic_position_based()
            .translation(start)
            .user_data(Paint::Hero.into());
        let collider = ColliderBuilder::capsule_y(HALF_HEIGHT, RADIUS).collision_groups(groups());
        Self {
            key: physics.insert(body, collider),
            start,
            walk: Vector::ZERO,
            drift: Vector::ZERO,
            rise: 0.0,
            steps_off_ground: 0,
            steps_since_press: FORGIVEN + 1,
        }
    }

    /// Returns the key of the character's body.
    #[must_use]
    pub fn key(&self) -> BodyKey {
        self.key
    }

    /// Returns the position of the character's centre after the last step.
    #[must_use]
    pub fn place(&self, physics: &Physics) -> Vector {
        physics.body(self.key).unwrap().translation()
    }

    /// Moves the character. Called in the hook before each step, after the platforms have their targets.
    pub fn step(&mut self, physics: &mut Physics, step: Step, wish: Wish) {
        let place = self.place(physics);
        if place.y < LOWEST {
            self.start_over(physics);
            return;
        }
        self.walk = approach(self.walk, wish.walk * SPEED, ACCELERATION * step.dt);
        self.jump(wish.jumps);
        let wanted = self.wanted(physics, step);
        let gone = place + self.go(physics, step, place, wanted);
        let standing = self.stand(physics, step, gone);
        let next = self.give_way(physics, standing);
        let body = physics.body_mut(self.key).unwrap();
        body.set_next_kinematic_position(Pose::from_parts(next, wish.look.heading()));
    }

    /// Leaves the ground if the player asked for it. A press may come a little early (jump buffer) or late (coyote
    /// time).
    fn jump(&mut self, presses: u32) {
        if presses > 0 {
            self.steps_since_press = 0;
        }
        if self.steps_since_press <= FORGIVEN && self.steps_off_ground <= FORGIVEN {
            self.rise = JUMP;
            // One press causes one jump.
            self.steps_since_press = FORGIVEN;
            self.steps_off_ground = FORGIVEN + 1;
        }
        self.steps_since_press = self.steps_since_press.saturating_add(1);
    }

    /// Returns the intended motion in this step: on the ground by walking alone, in the air with gravity.
    fn wanted(&mut self, physics: &Physics, step: Step) -> Vector {
        if self.steps_off_ground == 0 {
            return self.walk * step.dt;
        }
        self.rise += physics.gravity().y * step.dt;
        (self.walk + self.drift + Vector::Y * self.rise) * step.dt
    }

    /// Returns how much of that motion the capsule can make along walls. It pushes bodies in its path.
    fn go(&mut self, physics: &mut Physics, step: Step, place: Vector, wanted: Vector) -> Vector {
        let controller = KinematicCharacterController::default();
        let capsule = Capsule::new_y(HALF_HEIGHT, RADIUS);
        let pose = Pose::from_translation(place);
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
        let gone = movement.translation;
        if gone.y.abs() < 0.5 * wanted.y.abs() {
            self.rise = 0.0;
            if wanted.y < 0.0 {
                // The capsule hangs at an edge, from which the character can jump.
                self.steps_off_ground = 0;
            }
        }
        gone
    }

    /// Returns the position after the step. The feet stand on the ground below `place`, and move with it.
    fn stand(&mut self, physics: &Physics, step: Step, place: Vector) -> Vector {
        let ground = self.ground_below(physics, place);
        let Some((body, distance)) = ground.filter(|_| self.rise <= 0.0) else {
            self.steps_off_ground = self.steps_off_ground.saturating_add(1);
            return place;
        };
        let standing = place + Vector::Y * (STANDING - distance);
        let next = carried(body, standing);
        let by = next - standing;
        self.land(Vector::new(by.x, 0.0, by.z) / step.dt);
        next
    }

    /// Returns the position nearest to `place` that leaves a gap to platforms after the step.
    fn give_way(&self, physics: &Physics, mut place: Vector) -> Vector {
        // Rapier's distances to the axis of the capsule are more exact than those to its surface.
        let axis = Segment::new(Vector::Y * HALF_HEIGHT, Vector::NEG_Y * HALF_HEIGHT);
        let distance = RADIUS + GAP;
        let world = physics.rapier();
        let queries = world.query_pipeline_with_filter(self.filter(physics));
        let near = Aabb::from_half_extents(place, Vector::splat(REACH));
        for (_, collider) in queries.intersect_aabb_conservative(near) {
            let body = collider.parent().map(|body| &world.bodies[body]);
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

    /// Returns the body below the feet, and its distance below the centre. Ground steeper than 45° does not count.
    fn ground_below<'a>(
        &self,
        physics: &'a Physics,
        place: Vector,
    ) -> Option<(&'a RigidBody, f32)> {
        // Legs on the ground reach a step down. In the air they do not.
        let reach = if self.steps_off_ground == 0 {
            LEGS
        } else {
            0.0
        };
        let down = Ray::new(place, Vector::NEG_Y);
        let filter = self.filter(physics);
        let world = physics.rapier();
        let (collider, hit) =
            world.cast_ray_and_get_normal(&down, STANDING + reach, true, filter)?;
        let body = world.colliders[collider].parent()?;
        let is_flat = hit.normal.y > 0.7;
        is_flat.then(|| (&world.bodies[body], hit.time_of_impact))
    }

    /// Puts the character on ground that moves at `drift`.
    fn land(&mut self, drift: Vector) {
        self.drift = drift;
        self.rise = 0.0;
        self.steps_off_ground = 0;
    }

    /// Returns the character to the start after a fall.
    fn start_over(&mut self, physics: &mut Physics) {
        let start = Pose::from_translation(self.start);
        physics.teleport(self.key, start).unwrap();
        self.walk = Vector::ZERO;
        self.land(Vector::ZERO);
    }

    /// Returns a filter for what the character can stand on or run into.
    fn filter(&self, physics: &Physics) -> QueryFilter<'static> {
        let own = physics.body(self.key).unwrap().colliders()[0];
        QueryFilter::new()
            .exclude_collider(own)
            .exclude_sensors()
            .groups(groups())
    }
}

/// Returns the position after this step of a point that is fixed to a body. The target of a platform is set already, so
/// its next position is that after the step.
fn carried(ground: &RigidBody, point: Vector) -> Vector {
    if ground.is_kinematic() {
        ground.next_position() * (ground.position().inverse() * point)
    } else {
        point
    }
}

fn groups() -> InteractionGroups {
    InteractionGroups::all()
        .with_memberships(HERO)
        .with_filter(!SHOT)
}

/// Returns `from`, moved towards `to` by at most `most`. In the end it is exactly `to`.
fn approach(from: Vector, to: Vector, most: f32) -> Vector {
    let way = to - from;
    let length = way.length();
    if length <= most {
        to
    } else {
        from + way * (most / length)
    }
}
