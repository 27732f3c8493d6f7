//! One-way platforms: bodies land on them from above and pass through from below.

use evenstep::rapier::prelude::*;

/// The user data of the platforms' colliders.
pub const PLATFORM: u128 = 1;

/// The hook that makes platforms one-way. Rapier calls it for colliders with [`ActiveHooks::MODIFY_SOLVER_CONTACTS`].
#[derive(Clone, Copy, Debug, Default)]
pub struct OneWay;

impl PhysicsHooks for OneWay {
    fn modify_solver_contacts(&self, contacts: &mut ContactModificationContext) {
        let is_first = contacts.colliders[contacts.collider1].user_data == PLATFORM;
        let up = if is_first { Vector::Y } else { -Vector::Y };
        contacts.update_as_oneway_platform(up, 0.3);
    }
}

/// Returns a thin platform, `width` metres wide.
pub fn platform(width: f32) -> ColliderBuilder {
    ColliderBuilder::cuboid(0.5 * width, 0.1)
        .user_data(PLATFORM)
        .friction(1.0)
        .active_hooks(ActiveHooks::MODIFY_SOLVER_CONTACTS)
}
