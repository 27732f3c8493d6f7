//! Bodies that depend on other bodies: the links of multibodies, and bodies with joints.

use rapier::dynamics::{
    Multibody, MultibodyJointSet, MultibodyLink, MultibodyLinkId, RigidBody, RigidBodyHandle,
    RigidBodyVelocity,
};
use rapier::geometry::ColliderHandle;
use rapier::math::{Pose, Rotation, SPATIAL_DIM};
use rapier::pipeline::PhysicsWorld;

use crate::pose::is_in_motion;

use super::World;

impl World {
    /// Returns a body's pose. For a link of a multibody, this is the pose that follows from its root, and for the frame
    /// of a soft body the one after a translation of the world. Rapier moves them there in the next step.
    pub fn position(&self, handle: RigidBodyHandle) -> Option<Pose> {
        let body = self.rapier.bodies.get(handle)?;
        Some(self.position_of(handle, body))
    }

    /// Returns the pose of a body, which the caller has looked up. After an edit, Rapier moves links of multibodies and
    /// frames of soft bodies only in the next step, so this returns where it will move them.
    #[inline]
    pub fn position_of(&self, handle: RigidBodyHandle, body: &RigidBody) -> Pose {
        if !self.shifts_of_frames.is_empty()
            && body.is_soft_frame()
            && let Some((_, by)) = self.shifts_of_frames.iter().find(|(it, _)| *it == handle)
        {
            return body.position().append_translation(*by);
        }
        let link = self.rapier.multibody_joints.rigid_body_link(handle);
        let position_by_root = link.and_then(|link| self.link_position(link));
        position_by_root.unwrap_or(*body.position())
    }

    /// Returns the pose of a link that follows from its root, where Rapier places it in the next step. Returns `None`
    /// if the pose of its body holds: the link is the root, the game has not moved the root since the last step, or
    /// Rapier has not placed the links yet.
    #[inline(never)]
    fn link_position(&self, link: &MultibodyLinkId) -> Option<Pose> {
        let PhysicsWorld {
            bodies,
            multibody_joints,
            ..
        } = &self.rapier;
        let multibody = multibody_joints.get_multibody(link.multibody)?;
        let root_handle = multibody.root().rigid_body_handle();
        let root = bodies.get(root_handle)?.position();
        let placed =
            [multibody.root(), multibody.link(link.id)?].map(MultibodyLink::local_to_world);
        // A root that the last step has stopped is not where its joint placed it, and yet the game has not moved it.
        let is_as_stepped = root == placed[0] || self.stopped_roots.contains(&(root_handle, *root));
        // Both poses are the identity until Rapier places the links.
        if link.id == 0 || is_as_stepped || placed == [&Pose::IDENTITY; 2] {
            return None;
        }
        let [root_by_joints, link_by_joints] =
            [0, link.id].map(|id| multibody.forward_kinematics_single_link(bodies, id, None, None));
        // The joints give the pose of the link relative to the root.
        Some(root * root_by_joints.inverse() * link_by_joints)
    }

    /// Records the roots of multibodies that continuous collision detection has stopped in the last step, and where. It
    /// does not stop their links, so such a root is not where its joint placed it. Without this record,
    /// `link_position` would take it for a root that the game has moved.
    pub(super) fn record_stopped_roots(&mut self) {
        let PhysicsWorld {
            bodies,
            multibody_joints,
            ..
        } = &self.rapier;
        let roots = multibody_joints.multibodies().map(Multibody::root);
        let stopped = roots.filter_map(|root| {
            let handle = root.rigid_body_handle();
            let position = *bodies.get(handle)?.position();
            (position != *root.local_to_world()).then_some((handle, position))
        });
        self.stopped_roots.clear();
        self.stopped_roots.extend(stopped);
    }

    /// Returns the links of the multibody whose root is this body, or none if the body is not a root.
    pub fn links(&self, root: RigidBodyHandle) -> impl Iterator<Item = RigidBodyHandle> {
        let link = self.rapier.multibody_joints.rigid_body_link(root);
        let links = link.filter(|link| link.id == 0).map(|_| self.members(root));
        links.into_iter().flat_map(|links| links.skip(1))
    }

    /// Returns all links of the multibody with this link, or none if the body is not a link.
    fn members(&self, link: RigidBodyHandle) -> impl Iterator<Item = RigidBodyHandle> {
        let joints = &self.rapier.multibody_joints;
        let link = joints.rigid_body_link(link);
        let multibody = link.and_then(|link| joints.get_multibody(link.multibody));
        let links = multibody.into_iter().flat_map(Multibody::links);
        links.map(MultibodyLink::rigid_body_handle)
    }

    /// Returns the disabled links of the multibody with this link, which Rapier moves with the others.
    pub fn disabled_links(&self, link: RigidBodyHandle) -> impl Iterator<Item = RigidBodyHandle> {
        self.members(link).filter(|it| self.is_disabled(*it))
    }

    /// Returns whether a disabled body may move in the next step: as a link of a multibody that is awake, or of one whose
    /// pose is not finite. Rapier places the latter as soon as the game has placed the root.
    pub fn is_carried(&self, handle: RigidBodyHandle) -> bool {
        let may_move = |link| {
            (self.rapier.bodies.get(link))
                .is_some_and(|link| is_in_motion(link) || !link.position().is_finite())
        };
        self.is_disabled(handle) && self.members(handle).any(may_move)
    }

    fn is_disabled(&self, handle: RigidBodyHandle) -> bool {
        let body = self.rapier.bodies.get(handle);
        body.is_some_and(|body| !body.is_enabled())
    }

    /// Returns the sleeping bodies that Rapier tests for contacts with this one, or that joints connect to it, perhaps
    /// some of them twice. Rapier wakes them when the body moves without a step, or when it or a collider of it is removed.
    pub fn sleeping_neighbours(&self, handle: RigidBodyHandle) -> Vec<RigidBodyHandle> {
        let PhysicsWorld {
            bodies,
            impulse_joints,
            ..
        } = &self.rapier;
        let attached = bodies.get(handle).map_or(&[][..], RigidBody::colliders);
        let touching = attached.iter().flat_map(|it| self.sleepers_at(*it));
        let joints = impulse_joints.attached_joints(handle);
        let joined = joints.flat_map(|(one, other, ..)| [one, other]);
        let joined = joined.chain(self.members(handle));
        let is_asleep = |it: &RigidBodyHandle| bodies.get(*it).is_some_and(RigidBody::is_sleeping);
        touching.chain(joined.filter(is_asleep)).collect()
    }

    /// Returns the sleeping bodies of the pairs that Rapier tests for contacts with this collider.
    pub fn sleepers_at(
        &self,
        collider: ColliderHandle,
    ) -> impl Iterator<Item = RigidBodyHandle> + '_ {
        let PhysicsWorld {
            bodies,
            colliders,
            narrow_phase,
            ..
        } = &self.rapier;
        let pairs = narrow_phase.contact_pairs_with(collider);
        let in_pairs = pairs.flat_map(|pair| [pair.collider1, pair.collider2]);
        let parents = in_pairs.filter_map(|collider| colliders.get(collider)?.parent());
        parents.filter(|it| bodies.get(*it).is_some_and(RigidBody::is_sleeping))
    }

    /// Returns whether a removal of the body may change joints or soft bodies. Any soft body counts, because it may be
    /// attached to the body.
    pub fn removal_may_change_joints(&self, handle: RigidBodyHandle) -> bool {
        let PhysicsWorld {
            impulse_joints,
            multibody_joints,
            soft_bodies,
            ..
        } = &self.rapier;
        impulse_joints.attached_joints(handle).next().is_some()
            || multibody_joints.rigid_body_link(handle).is_some()
            || soft_bodies.iter().next().is_some()
    }

    /// Returns whether the body's pose follows from that of others, so that Rapier would undo a change of it.
    pub fn is_dependent(&self, handle: RigidBodyHandle) -> bool {
        // Link 0 is the root, which the other links follow. The frame of a soft body follows its particles.
        let link = self.rapier.multibody_joints.rigid_body_link(handle);
        let body = self.rapier.bodies.get(handle);
        link.is_some_and(|link| link.id != 0) || body.is_some_and(RigidBody::is_soft_frame)
    }

    /// Moves the links of a multibody to the poses that follow from its root, as Rapier would in the next step. Returns
    /// those links, or none if the body is not a root.
    pub fn place_links(&mut self, root: RigidBodyHandle) -> Vec<RigidBodyHandle> {
        let links: Vec<_> = self.links(root).collect();
        let PhysicsWorld {
            bodies,
            multibody_joints,
            ..
        } = &mut self.rapier;
        if let Some(multibody) = multibody_with_root(multibody_joints, root) {
            // The flags read the pose of the root from its body, and update the mass properties of the links.
            multibody.forward_kinematics(bodies, true);
            multibody.update_rigid_bodies(bodies, true);
        }
        links
    }

    /// Transforms a body and its motion by an isometry of the world. If it is the root of a multibody, its links move
    /// too, and are returned. Returns `None` and changes nothing if the result is not finite.
    pub fn transform(
        &mut self,
        handle: RigidBodyHandle,
        by: &Pose,
    ) -> Option<Vec<RigidBodyHandle>> {
        let links: Vec<_> = self.links(handle).collect();
        let PhysicsWorld {
            bodies,
            multibody_joints,
            ..
        } = &mut self.rapier;
        let multibody = multibody_with_root(multibody_joints, handle);
        let all = || links.iter().chain([&handle]);
        let is_finite_after = |handle: &RigidBodyHandle| {
            let body = &bodies[*handle];
            (by * body.position()).is_finite() && (by * body.next_position()).is_finite()
        };
        if !all().all(is_finite_after) {
            return None;
        }
        for handle in all() {
            let body = &mut bodies[*handle];
            // The next position is read first, because `set_position` also sets it.
            let next = by * body.next_position();
            body.set_position(by * body.position(), true);
            body.set_next_kinematic_position(next);
            body.set_vels(body.vels().transformed(&by.rotation), true);
        }
        if let Some(multibody) = multibody {
            // The multibody has its own copy of the root's velocity.
            turn_root(multibody, by.rotation);
        }
        Some(links)
    }
}

/// Returns the multibody whose root is this body, or `None` if the body is not a root.
fn multibody_with_root(
    joints: &mut MultibodyJointSet,
    handle: RigidBodyHandle,
) -> Option<&mut Multibody> {
    let link = *joints.rigid_body_link(handle)?;
    if link.id != 0 {
        return None;
    }
    joints.get_multibody_mut(link.multibody)
}

/// Turns the velocity of a multibody's root, if the root moves freely. The first coordinates of the multibody are then
/// this velocity, in world axes. The other coordinates do not depend on the root's pose.
fn turn_root(multibody: &mut Multibody, by: Rotation) {
    // A root that moves freely has all degrees of freedom. The type of its body does not tell: if that was changed, or
    // if the multibody was cut off from another one, Rapier updates the root's joint only in the next step.
    if multibody.root().joint().ndofs() != SPATIAL_DIM {
        return;
    }
    let mut coordinates = multibody.generalized_velocity_mut();
    let root = &mut coordinates.as_mut_slice()[..SPATIAL_DIM];
    let turned = RigidBodyVelocity::from_slice(root).transformed(&by);
    root.copy_from_slice(turned.as_slice());
}
