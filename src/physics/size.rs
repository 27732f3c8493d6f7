//! The memory that a snapshot takes.

use rapier::dynamics::{ImpulseJoint, RigidBody};
use rapier::geometry::{Collider, ContactManifold, ContactPair, SolverContact};
use rapier::math::Pose;
use rapier::pipeline::PhysicsWorld;

use super::Physics;

impl Physics {
    /// About how many bytes of memory it takes, by the sizes of Rapier's sets.
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
        // What was read may say any length of these.
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

// What each takes beside its own size was measured with an allocator that counts.

/// With its poses, its key and its place in the islands.
const BYTES_PER_BODY: usize = size_of::<RigidBody>() + 12 * size_of::<Pose>() + 316;
/// With its leaf in the broad phase.
const BYTES_PER_COLLIDER: usize = size_of::<Collider>() + 500;
/// With its pair, of which most have one.
const BYTES_PER_MANIFOLD: usize = size_of::<ContactManifold>() + size_of::<ContactPair>() + 100;
/// As the solver has it.
const BYTES_PER_CONTACT: usize = 4 * size_of::<SolverContact>();
