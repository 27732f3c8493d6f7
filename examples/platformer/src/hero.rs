//! The character: a capsule on legs. Rapier's character controller moves the capsule past walls and crates, a ray finds the
//! ground for the legs.
//!
//! A capsule that slides over the ground by the controller alone hops by millimetres, and gets the velocity of a platform
//! late, and in some steps only.

use evenstep::rapier::control::KinematicCharacterController;
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

use crate::controls::Wish;
use crate::level::{HERO, Paint, SHOT};

/// Metres a second.
pub const SPEED: f32 = 5.0;
/// How fast it comes to that: metres per second squared.
const ACCELERATION: f32 = 40.0;
/// How fast it leaves the ground: metres a second, for a jump of 2.5 m.
const JUMP: f32 = 7.0;
/// A jump is good so many steps after the ground was lost, and so many before it is reached: 0.1 s each.
const FORGIVEN: u32 = 6;
/// For what it pushes: kilograms.
const MASS: f32 = 80.0;

/// The capsule: metres.
pub const RADIUS: f32 = 0.3;
/// The same, without its caps.
pub const HALF_HEIGHT: f32 = 0.35;
/// From the ground up to the capsule: it steps onto what is lower.
pub const LEGS: f32 = 0.3;
/// From the ground up to the body's middle.
pub const STANDING: f32 = LEGS + RADIUS + HALF_HEIGHT;
/// Below this height it starts over.
const LOWEST: f32 = -12.0;

/// The character. All that the next step depends on is in here, or in the world: a copy of it can be gone back to.
#[derive(Clone, Debug, PartialEq)]
pub struct Hero {
    key: BodyKey,
    start: Vector,
    /// By its own feet: horizontal, metres a second.
    walk: Vector,
    /// Of the platform that it rides or has left: horizontal, metres a second.
    drift: Vector,
    /// Upwards, metres a second.
    rise: f32,
    /// 0 on the ground.
    steps_off_ground: u32,
    steps_since_press: u32,
}

impl Hero {
    /// Puts it into a world, with its feet there.
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

    /// Its body.
    #[must_use]
    pub fn key(&self) -> BodyKey {
        self.key
    }

    /// Where its middle is, in the last state.
    #[must_use]
    pub fn place(&self, physics: &Physics) -> Vector {
        physics.body(self.key).expect("it stays").translation()
    }

    /// In the hook, before each step, after the platforms got their targets.
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
        let next = self.stand(physics, step, gone);
        let body = physics.body_mut(self.key).expect("it stays");
        body.set_next_kinematic_position(Pose::from_parts(next, wish.look.heading()));
    }

    /// Leaves the ground, if that was asked for: a press may come a little early (a jump buffer) or late (coyote time).
    fn jump(&mut self, presses: u32) {
        if presses > 0 {
            self.steps_since_press = 0;
        }
        if self.steps_since_press <= FORGIVEN && self.steps_off_ground <= FORGIVEN {
            self.rise = JUMP;
            // One press is one jump.
            self.steps_since_press = FORGIVEN;
            self.steps_off_ground = FORGIVEN + 1;
        }
        self.steps_since_press = self.steps_since_press.saturating_add(1);
    }

    /// How far it would go in this step: on the ground by its own feet alone, in the air with gravity.
    fn wanted(&mut self, physics: &Physics, step: Step) -> Vector {
        if self.steps_off_ground == 0 {
            return self.walk * step.dt;
        }
        self.rise += physics.rapier().gravity.y * step.dt;
        (self.walk + self.drift + Vector::Y * self.rise) * step.dt
    }

    /// As far of that as its capsule can go past walls. What is in the way is pushed.
    fn go(&mut self, physics: &mut Physics, step: Step, place: Vector, wanted: Vector) -> Vector {
        let controller = KinematicCharacterController::default();
        let capsule = Capsule::new_y(HALF_HEIGHT, RADIUS);
        let pose = Pose::from_translation(place);
        let filter = self.filter(physics);
        let mut hits = Vec::new();
        let mut queries = physics.query_pipeline_mut(filter);
        let movement =
            controller.move_shape(step.dt, &queries.as_ref(), &capsule, &pose, wanted, |hit| {
                hits.push(hit)
            });
        controller.solve_character_collision_impulses(step.dt, &mut queries, &capsule, MASS, &hits);
        let gone = movement.translation;
        if gone.y.abs() < 0.5 * wanted.y.abs() {
            self.rise = 0.0;
            if wanted.y < 0.0 {
                // It hangs by its capsule at an edge, and can jump from there.
                self.steps_off_ground = 0;
            }
        }
        gone
    }

    /// Where it is after the step: its feet are on what is under that place, and are moved with it.
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

    /// What is under its feet, and how far below its middle: nothing steeper than 45°.
    fn ground_below<'a>(
        &self,
        physics: &'a Physics,
        place: Vector,
    ) -> Option<(&'a RigidBody, f32)> {
        // Legs on the ground reach down a step, in the air they do not.
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

    /// On the ground, which moves at `drift`.
    fn land(&mut self, drift: Vector) {
        self.drift = drift;
        self.rise = 0.0;
        self.steps_off_ground = 0;
    }

    /// Into the depth, and back to the start.
    fn start_over(&mut self, physics: &mut Physics) {
        let start = Pose::from_translation(self.start);
        physics.teleport(self.key, start).expect("it stays");
        self.walk = Vector::ZERO;
        self.land(Vector::ZERO);
    }

    /// All that it can stand on or run into.
    fn filter(&self, physics: &Physics) -> QueryFilter<'static> {
        let own = physics.body(self.key).expect("it stays").colliders()[0];
        QueryFilter::new()
            .exclude_collider(own)
            .exclude_sensors()
            .groups(groups())
    }
}

/// Where a point is after this step that stays on the same spot of a body. The target of a platform is set: its next
/// position is that after the step.
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

/// `from`, moved towards `to` by no more than `most`: in the end it is exactly `to`.
fn approach(from: Vector, to: Vector, most: f32) -> Vector {
    let way = to - from;
    let length = way.length();
    if length <= most {
        to
    } else {
        from + way * (most / length)
    }
}
