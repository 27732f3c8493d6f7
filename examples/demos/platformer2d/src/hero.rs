//! Walking and jumping: a body that never turns, pushed by impulses.

use evenstep::rapier::parry::query::ShapeCastOptions;
use evenstep::rapier::prelude::*;
use evenstep::{BodyError, BodyKey, Physics, Step};

use crate::controls::Wish;

/// The full walking speed, in m/s.
const SPEED: f32 = 6.0;
/// The fraction of the missing speed that each step adds at 60 Hz, on the ground and in the air.
const GRIP: [f32; 2] = [0.25, 0.08];
/// The speed of a jump, in m/s.
const JUMP: f32 = 8.5;
/// The hero may still jump this many steps after it has left the ground (coyote time).
const COYOTE: u64 = 6;
/// A press this many steps before landing still counts.
const BUFFER: u64 = 6;
/// If the key is released early, a jump keeps only this fraction of its speed.
const CUT: f32 = 0.5;

/// The hero's state, counted in ticks, so it is the same at every frame rate.
#[derive(Clone, Debug)]
pub struct Hero {
    key: BodyKey,
    last_on_ground: Option<u64>,
    last_pressed: Option<u64>,
    is_jumping: bool,
}

impl Hero {
    /// Creates the state for the hero's body.
    #[must_use]
    pub fn new(key: BodyKey) -> Self {
        Self {
            key,
            last_on_ground: None,
            last_pressed: None,
            is_jumping: false,
        }
    }

    /// Moves the hero. Called in the hook before each step.
    ///
    /// # Errors
    /// If the body has been removed.
    pub fn before_step(
        &mut self,
        physics: &mut Physics,
        wish: Wish,
        step: Step,
    ) -> Result<(), BodyError> {
        let body = physics.body(self.key).ok_or(BodyError::Gone(self.key))?;
        let (mass, velocity) = (body.mass(), body.linvel());
        let ground = self.ground(physics);
        let is_rising = velocity.y > ground.unwrap_or(Vector::ZERO).y + 0.5;
        if ground.is_some() && !is_rising {
            self.last_on_ground = Some(step.tick);
            self.is_jumping = false;
        }
        if wish.jumps {
            self.last_pressed = Some(step.tick);
        }
        let within =
            |since: Option<u64>, most| since.is_some_and(|since| step.tick - since <= most);

        // The speed is relative to the ground, which may move.
        let base = ground.map_or(0.0, |ground| ground.x);
        let missing = base + wish.walk * SPEED - velocity.x;
        let mut change = Vector::X * missing * GRIP[usize::from(ground.is_none())];
        if within(self.last_on_ground, COYOTE) && within(self.last_pressed, BUFFER) {
            change.y = JUMP - velocity.y;
            (self.last_on_ground, self.last_pressed) = (None, None);
            self.is_jumping = true;
        } else if self.is_jumping && !wish.is_jump_held && velocity.y > 0.0 {
            change.y = velocity.y * (CUT - 1.0);
            self.is_jumping = false;
        }
        physics.apply_impulse(self.key, change * mass)
    }

    /// Returns whether the hero stood on something in the last step, given the number of steps so far.
    #[must_use]
    pub fn is_on_ground(&self, ticks: u64) -> bool {
        self.last_on_ground.is_some_and(|last| last + 1 == ticks)
    }

    /// Returns the velocity of the ground below the hero.
    fn ground(&self, physics: &Physics) -> Option<Vector> {
        let body = physics.body(self.key)?;
        let not_itself = QueryFilter::default()
            .exclude_rigid_body(physics.handle(self.key)?)
            .exclude_sensors();
        // Casts a ball, slightly smaller than the foot, ten centimetres down.
        let foot = Pose::from_translation(body.translation() - Vector::Y * 0.3);
        let options = ShapeCastOptions {
            max_time_of_impact: 0.1,
            stop_at_penetration: false,
            ..ShapeCastOptions::default()
        };
        let world = physics.rapier();
        let (collider, _) =
            world.cast_shape(&foot, -Vector::Y, &Ball::new(0.27), options, not_itself)?;
        let below = world.colliders.get(collider)?.parent();
        let below = below.and_then(|handle| world.bodies.get(handle));
        Some(below.map_or(Vector::ZERO, RigidBody::linvel))
    }
}
