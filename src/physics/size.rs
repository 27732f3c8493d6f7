//! The size of a snapshot in memory.

use rapier::dynamics::{ImpulseJoint, RigidBody};
use rapier::geometry::{Collider, ContactManifold, ContactPair, SolverContact};
use rapier::math::Pose;
use rapier::pipeline::PhysicsWorld;

use super::Physics;

impl Physics {
    /// Returns an estimate of the size in bytes, from the sizes of Rapier's sets.
    pub(crate) fn bytes(&self) -> usize {
        let PhysicsWorld {
            bodies,
            colliders,
            impulse_joints,
            narrow_phase,
            ..
        } = &self.world.physics;
        let manifolds = (narrow_phase.contact_pairs()).flat_map(ContactPair::manifolds);
        let contacts: usize = manifolds
            .map(|manifold| {
                let solved = manifold.data.solver_contacts.len();
                BYTES_PER_MANIFOLD + solved * BYTES_PER_CONTACT
            })
            .sum();
        // A state that was read may claim any length for these.
        let counted = [
            bodies.len().saturating_mul(BYTES_PER_BODY),
            colliders.len().saturating_mul(BYTES_PER_COLLIDER),
            impulse_joints
                .len()
                .saturating_mul(size_of::<ImpulseJoint>()),
        ];
        counted.into_iter().fold(contacts, usize::saturating_add)
    }
}

// The extra bytes beyond the size of each type were measured with a counting allocator.

/// Includes the body's poses, its key and its entry in the islands.
const BYTES_PER_BODY: usize = size_of::<RigidBody>() + 12 * size_of::<Pose>() + 316;
/// Includes the collider's leaf in the broad phase.
const BYTES_PER_COLLIDER: usize = size_of::<Collider>() + 500;
/// Includes the contact pair, because most pairs have one manifold.
const BYTES_PER_MANIFOLD: usize = size_of::<ContactManifold>() + size_of::<ContactPair>() + 100;
/// Includes the solver's copies of the contact.
const BYTES_PER_CONTACT: usize = 4 * size_of::<SolverContact>();
