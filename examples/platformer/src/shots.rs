//! What the character shoots: fast balls that do not pass through what they hit, for two seconds each.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

use crate::level::{HERO, Paint, SHOT};
use crate::look::Look;

/// Metres.
const RADIUS: f32 = 0.08;
/// Metres a second: 0.6 m in a step, so without CCD it would pass through thin things that can move.
const SPEED: f32 = 36.0;
/// Kilograms.
const MASS: f32 = 1.0;
/// How long it stays: steps.
const LIFE: u64 = 120;

/// The shots in the air, each with the tick at which it goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shots {
    flying: Vec<(BodyKey, u64)>,
}

impl Shots {
    /// In the hook, before a step: from the true place of the character, not from where it is shown. The shot is then
    /// shown from the muzzle on, as both are interpolated alike.
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

    /// In the hook, before each step: removes those whose time is over.
    pub fn expire(&mut self, physics: &mut Physics, step: Step) {
        self.flying.retain(|(key, end)| {
            let stays = step.tick < *end;
            if !stays {
                physics.remove(*key);
            }
            stays
        });
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.flying.len()
    }
}
