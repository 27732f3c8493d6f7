//! Shots: fast balls that do not pass through what they hit. Each lasts two seconds.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

use crate::level::{HERO, Paint, SHOT};
use crate::look::Look;

/// The radius of a shot, in metres.
const RADIUS: f32 = 0.08;
/// The speed, in m/s. A shot moves 0.6 m in a step, so without CCD it would pass through thin movable bodies.
const SPEED: f32 = 36.0;
/// The mass of a shot, in kilograms.
const MASS: f32 = 1.0;
/// The lifetime of a shot, in steps.
const LIFE: u64 = 120;

/// The shots in the air, each with the tick at which it is removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shots {
    flying: Vec<(BodyKey, u64)>,
}

impl Shots {
    /// Shoots. Called in the hook, before a step. The shot starts at the character's simulated position, not the
    /// displayed one. It is then displayed from the muzzle on, because both are interpolated in the same way.
    pub fn shoot(&mut self, physics: &mut Physics, step: Step, hero: Vector, look: Look) {
        let direction = look.direction();
        let muzzle = hero + Vector::Y * 0.3 + direction * 0.6;
        let body = RigidBodyBuilder::dynamic()
            .translation(muzzle)
            .linvel(direction * SPEED)
            .gravity_scale(0.3)
            .ccd_enabled(true)
            .user_data(Paint::Shot.into());
        let groups = InteractionGroups::all()
            .with_memberships(SHOT)
            .with_filter(!HERO);
        let collider = ColliderBuilder::ball(RADIUS)
            .mass(MASS)
            .collision_groups(groups);
        let key = physics.insert(body, collider);
        self.flying.push((key, step.tick + LIFE));
    }

    /// Removes shots whose lifetime is over. Called in the hook before each step.
    pub fn expire(&mut self, physics: &mut Physics, step: Step) {
        self.flying.retain(|(key, end)| {
            let stays = step.tick < *end;
            if !stays {
                physics.remove(*key);
            }
            stays
        });
    }

    /// Returns the number of shots.
    #[must_use]
    pub fn count(&self) -> usize {
        self.flying.len()
    }
}
