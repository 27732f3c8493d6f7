//! Conveyor belts, which carry everything that lies on them.

use std::convert::Infallible;
use std::sync::Arc;

use evenstep::Hooks;
use evenstep::rapier::prelude::*;

/// The user data of a belt's collider.
const BELT: u128 = 1;
/// How fast a belt moves, in metres per second.
pub const VELOCITY: Vector = Vector::new(2.0, 0.0, 0.0);

/// Makes a belt of this collider.
pub fn belt(collider: ColliderBuilder) -> ColliderBuilder {
    collider
        .user_data(BELT)
        .active_hooks(ActiveHooks::MODIFY_SOLVER_CONTACTS)
}

/// Rapier's hooks, which give the contacts of each belt its velocity.
#[derive(Default)]
pub struct Belts;

impl PhysicsHooks for Belts {
    fn modify_solver_contacts(&self, context: &mut ContactModificationContext) {
        let is_first = context.colliders[context.collider1].user_data == BELT;
        let Some(manifold) = context.rigid_mut() else {
            return;
        };
        for contact in manifold.solver_contacts.iter_mut() {
            contact.tangent_velocity = if is_first { VELOCITY } else { -VELOCITY };
        }
    }
}

/// The hooks of a game with belts, for `advance_with`.
#[derive(Default)]
pub struct Game(Arc<Belts>);

impl Hooks for Game {
    type Error = Infallible;

    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        Some(self.0.clone())
    }
}
