//! Contacts that Rapier would keep although the game has changed what they depend on.
//!
//! While two colliders barely move relative to each other, Rapier recycles the contacts of their last full update. It
//! sees neither a changed material nor another centre of mass, and contacts with a body that is not dynamic are in
//! world space, whatever happens to the body.

use rapier::dynamics::{RigidBody, RigidBodyHandle};
use rapier::geometry::{
    ActiveCollisionTypes, ColliderHandle, ColliderMaterial, ColliderSet, Group,
};
use rapier::math::{Pose, Real};
use rapier::pipeline::ActiveHooks;

use super::World;

/// The parts of a collider that its contacts depend on, and whose changes Rapier does not see.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct ContactParts {
    material: ColliderMaterial,
    skin: Real,
    collision_types: ActiveCollisionTypes,
    hooks: ActiveHooks,
    /// The position of a collider without a body.
    position: Option<Pose>,
}

impl World {
    /// Returns the parts of a collider on which its contacts depend and whose changes Rapier does not see, to compare
    /// them before and after an edit. Returns `None` if it was removed.
    pub fn contact_parts(&self, handle: ColliderHandle) -> Option<ContactParts> {
        let collider = self.rapier.colliders.get(handle)?;
        Some(ContactParts {
            material: *collider.material(),
            skin: collider.contact_skin(),
            collision_types: collider.active_collision_types(),
            hooks: collider.active_hooks(),
            // The position of any other collider follows from its body, and edits of bodies are compared separately.
            position: collider.parent().is_none().then(|| *collider.position()),
        })
    }

    /// Makes Rapier find a collider's contacts again in the next step. It wakes the bodies that touch it.
    pub fn renew_contacts_of(&mut self, handle: ColliderHandle) {
        renew(&mut self.rapier.colliders, handle);
    }

    /// Makes Rapier find the contacts of a body's colliders again in the next step, because its centre of mass has
    /// changed or, for a body that is not dynamic, its position was set.
    pub fn renew_contacts(&mut self, handle: RigidBodyHandle) {
        let attached = self.rapier.bodies.get(handle).map(RigidBody::colliders);
        for collider in attached.unwrap_or_default() {
            renew(&mut self.rapier.colliders, *collider);
        }
    }
}

/// Marks the collision groups of a collider as changed, after which Rapier recycles none of its contacts. Setting equal
/// groups would mark nothing, so it sets others first.
fn renew(colliders: &mut ColliderSet, handle: ColliderHandle) {
    if let Some(collider) = colliders.get_mut(handle) {
        let groups = collider.collision_groups();
        let others = groups.with_memberships(groups.memberships ^ Group::ALL);
        for groups in [others, groups] {
            collider.set_collision_groups(groups);
        }
    }
}
