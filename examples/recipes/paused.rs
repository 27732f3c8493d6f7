//! A part of the world that is paused, and then continues with its velocities.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics};

/// How to pause bodies. Time, ticks and kinematic targets continue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pause {
    /// Other bodies stop at them. A body in flight continues within rounding, and a pile is 5 mm off after 80 steps.
    Fixed,
    /// Other bodies pass through them. A body in flight continues exactly, and a pile is 5 mm off after 80 steps.
    Disabled,
    /// Other bodies wake them up. A body in flight and a pile continue exactly.
    Asleep,
}

/// The paused bodies, as they were. If you roll back, keep it in the simulation's resources.
#[derive(Clone)]
pub struct Paused {
    how: Pause,
    bodies: Vec<(BodyKey, RigidBody)>,
}

impl Paused {
    /// Pauses bodies. Call it in the hook.
    pub fn pause(physics: &mut Physics, keys: &[BodyKey], how: Pause) -> Self {
        let bodies = keys.iter().map(|key| {
            let body = physics.body_mut(*key).unwrap();
            let before = body.clone();
            match how {
                Pause::Fixed => body.set_body_type(RigidBodyType::Fixed, false),
                Pause::Disabled => body.set_enabled(false),
                Pause::Asleep => body.sleep(),
            }
            (*key, before)
        });
        let bodies = bodies.collect();
        Self { how, bodies }
    }

    /// Lets the bodies continue. Call it in the hook.
    pub fn resume(self, physics: &mut Physics) {
        for (key, before) in self.bodies {
            let body = physics.body_mut(key).unwrap();
            match self.how {
                Pause::Fixed => body.set_body_type(before.body_type(), true),
                Pause::Disabled => body.set_enabled(true),
                Pause::Asleep => body.wake_up(true),
            }
            body.set_linvel(before.linvel(), true);
            body.set_angvel(before.angvel(), true);
        }
    }
}
