//! The character: a capsule that Rapier's character controller moves in every step.

use evenstep::rapier3d::control::{EffectiveCharacterMovement, KinematicCharacterController};
use evenstep::rapier3d::prelude::*;
use evenstep::{BodyKey, Simulation, Step};

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
/// From the middle to the feet.
pub const HALF_HEIGHT: f32 = 0.8;
/// Kept under the feet.
pub const GAP: f32 = 0.02;
/// From how far above it comes onto a platform.
const REACH: f32 = 0.1;
/// Below this height it starts over.
const LOWEST: f32 = -12.0;

/// The character. All that the next step depends on is in here, or in the world: a copy of it can be gone back to.
#[derive(Clone, Debug, PartialEq)]
pub struct Hero {
    key: BodyKey,
    start: Vector,
    /// By its own feet: horizontal, metres a second.
    walk: Vector,
    /// Of the platform that it rides or has left: metres a second.
    drift: Vector,
    /// Upwards, metres a second.
    rise: f32,
    steps_off_ground: u32,
    steps_since_press: u32,
}

/// What it stands on, or is about to.
#[derive(Clone, Copy)]
struct Ground {
    body: RigidBodyHandle,
    /// From the character's middle: metres.
    distance: f32,
}

impl Hero {
    /// Puts it into a world, with its feet there.
    pub fn build(simulation: &mut Simulation, feet: Vector) -> Self {
        let start = feet + Vector::Y * (HALF_HEIGHT + GAP);
        let body = RigidBodyBuilder::kinematic_position_based()
            .translation(start)
            .user_data(Paint::Hero.into());
        let collider =
            ColliderBuilder::capsule_y(HALF_HEIGHT - RADIUS, RADIUS).collision_groups(groups());
        Self {
            key: simulation.insert(body, collider),
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
    pub fn place(&self, simulation: &Simulation) -> Vector {
        simulation.body(self.key).expect("it stays").translation()
    }

    /// In the hook, before each step, after the platforms got their targets.
    pub fn step(&mut self, simulation: &mut Simulation, step: Step, wish: Wish) {
        let place = self.place(simulation);
        if place.y < LOWEST {
            self.start_over(simulation);
            return;
        }
        self.walk = approach(self.walk, wish.walk * SPEED, ACCELERATION * step.dt);
        let ground = self.ground_below(simulation, place);
        let mut carried = None;
        if let Some(ground) = ground.filter(|_| self.rise <= 0.0) {
            let by = carried_by(simulation, ground, place);
            self.land(Vector::new(by.x, 0.0, by.z) / step.dt);
            carried = Some(by);
        }
        if self.jumps(wish.jumps) {
            self.rise = JUMP;
            carried = None;
        }
        let wanted = match carried {
            Some(_) => self.walk * step.dt,
            None => (self.walk + self.drift + Vector::Y * self.rise) * step.dt,
        };
        let movement = self.go(simulation, step, place, wanted, ground);
        if carried.is_none() {
            self.fall(simulation, step, wanted, &movement);
        }
        let next = place + carried.unwrap_or_default() + movement.translation;
        let body = simulation.body_mut(self.key).expect("it stays");
        body.set_next_kinematic_position(Pose::from_parts(next, wish.look.heading()));
    }

    /// What is under the feet, or not far below them, if it moves by no force: the ground or a platform.
    fn ground_below(&self, simulation: &Simulation, place: Vector) -> Option<Ground> {
        let physics = simulation.physics();
        let down = Ray::new(place, Vector::NEG_Y);
        let filter = self.filter(simulation);
        let (collider, distance) = physics.cast_ray(&down, HALF_HEIGHT + REACH, true, filter)?;
        let body = physics.colliders[collider].parent()?;
        let is_firm = !physics.bodies[body].is_dynamic();
        is_firm.then_some(Ground { body, distance })
    }

    /// On the ground, which moves at `drift`.
    fn land(&mut self, drift: Vector) {
        self.drift = drift;
        self.rise = 0.0;
        self.steps_off_ground = 0;
    }

    /// Whether it jumps in this step: a press may come a little early or late.
    fn jumps(&mut self, presses: u32) -> bool {
        if presses > 0 {
            self.steps_since_press = 0;
        }
        let jumps = self.steps_since_press <= FORGIVEN && self.steps_off_ground <= FORGIVEN;
        if jumps {
            // One press is one jump.
            self.steps_since_press = FORGIVEN;
            self.steps_off_ground = FORGIVEN;
        }
        self.steps_since_press = self.steps_since_press.saturating_add(1);
        self.steps_off_ground = self.steps_off_ground.saturating_add(1);
        jumps
    }

    /// As far as it can go on its own feet; what is in the way is pushed. The ground is hidden from the controller, which
    /// at this speed hops on it by millimetres, and adds the velocity of a platform late, and in some steps only.
    fn go(
        &self,
        simulation: &mut Simulation,
        step: Step,
        place: Vector,
        wanted: Vector,
        ground: Option<Ground>,
    ) -> EffectiveCharacterMovement {
        let controller = KinematicCharacterController::default();
        let shape = Capsule::new_y(HALF_HEIGHT - RADIUS, RADIUS);
        let mut filter = self.filter(simulation);
        filter.exclude_rigid_body = ground.map(|ground| ground.body);
        let pose = Pose::from_translation(place);
        let mut hits = Vec::new();
        let mut queries = simulation.query_pipeline_mut(filter);
        let movement =
            controller.move_shape(step.dt, &queries.as_ref(), &shape, &pose, wanted, |hit| {
                hits.push(hit)
            });
        controller.solve_character_collision_impulses(step.dt, &mut queries, &shape, MASS, &hits);
        movement
    }

    /// After it went: is it on the ground, in the air, or at a ceiling?
    fn fall(
        &mut self,
        simulation: &Simulation,
        step: Step,
        wanted: Vector,
        movement: &EffectiveCharacterMovement,
    ) {
        if movement.grounded && self.rise <= 0.0 {
            // Pressed down by gravity as well, it would lose the motion of a whole step now and then.
            self.land(Vector::ZERO);
            return;
        }
        if movement.translation.y < 0.5 * wanted.y {
            self.rise = self.rise.min(0.0);
        }
        self.rise += simulation.physics().gravity.y * step.dt;
    }

    /// Into the depth, and back to the start.
    fn start_over(&mut self, simulation: &mut Simulation) {
        let start = Pose::from_translation(self.start);
        simulation.teleport(self.key, start).expect("it stays");
        self.walk = Vector::ZERO;
        self.land(Vector::ZERO);
    }

    /// All that it can stand on or run into.
    fn filter(&self, simulation: &Simulation) -> QueryFilter<'static> {
        let own = simulation.body(self.key).expect("it stays").colliders()[0];
        QueryFilter::new()
            .exclude_collider(own)
            .exclude_sensors()
            .groups(groups())
    }
}

/// How far a character there is moved in this step, to stay on the same spot of the ground.
fn carried_by(simulation: &Simulation, ground: Ground, place: Vector) -> Vector {
    let body = &simulation.physics().bodies[ground.body];
    let standing = place - Vector::Y * (ground.distance - HALF_HEIGHT - GAP);
    // The target of a platform is set: its next position is that after this step.
    body.next_position() * (body.position().inverse() * standing) - place
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
