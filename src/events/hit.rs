//! Where two colliders hit each other, and how hard.

use crate::pose::{Origin, finite_velocity, is_position_based};
use rapier::dynamics::{RigidBody, RigidBodySet};
use rapier::geometry::{
    Collider, ColliderHandle, ColliderSet, Contact, ContactManifold, ContactPair,
};
use rapier::math::{Pose, Real, Vector};

/// A contact of two colliders.
///
/// In [`Simulation::events`](crate::Simulation::events), its world space is that of the frame, and otherwise that of
/// the end of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Hit {
    /// The point of contact, in metres in world space, moved with the dynamic body or, if there are two or none, by the
    /// mean of both motions.
    pub point: Vector,
    /// The direction from the first collider to the second, of unit length.
    pub normal: Vector,
    /// The velocity of the first collider relative to the second at that point, in m/s in world axes: for a
    /// [`Collision`](super::Collision) before they hit each other; for a [`ContactForce`](super::ContactForce) after
    /// the step.
    pub velocity: Vector,
    origin: Origin,
}

impl Hit {
    /// Returns the speed at which the colliders approached each other along the normal, in m/s, or 0 if they moved
    /// apart.
    #[must_use]
    pub fn speed(&self) -> Real {
        self.velocity.dot(self.normal).max(0.0)
    }

    /// Returns the speed at which the colliders slid along each other, in m/s.
    #[must_use]
    pub fn sliding_speed(&self) -> Real {
        (self.velocity - self.normal * self.velocity.dot(self.normal)).length()
    }

    /// Returns whether the point is in the coordinates of another origin.
    pub(super) fn has_other_origin(&self, origin: &Origin) -> bool {
        self.origin != *origin
    }

    /// Converts the point to the coordinates of another origin, that of a picture.
    pub(super) fn translate(&mut self, origin: Origin) {
        self.point -= origin.offset_from(&self.origin);
        self.origin = origin;
    }
}

/// A contact that Rapier has found in a step, before it moves the bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct FoundContact {
    colliders: [ColliderHandle; 2],
    /// The points on the two colliders.
    points: [Vector; 2],
    /// The centres of mass of their bodies.
    centers_of_mass: [Vector; 2],
    normal: Vector,
    /// The relative velocity before the step. `None` for a contact force, whose velocity is read after the step.
    velocity: Option<Vector>,
}

impl FoundContact {
    /// Returns the deepest contact of a pair that has just started to touch, with the relative velocity before the step
    /// of length `dt`, or `None` without a valid contact point, as for soft bodies.
    pub fn at_start(
        pair: &ContactPair,
        colliders: &ColliderSet,
        bodies: &RigidBodySet,
        dt: Real,
    ) -> Option<Self> {
        let (manifold, contact) = pair.find_deepest_contact()?;
        let found = Self::at(pair, manifold, contact, colliders, bodies)?;
        let middle = (found.points[0] + found.points[1]) * 0.5;
        let velocities = found.colliders.map(|collider| {
            let body = body_of(collider, colliders, bodies);
            body.map_or(Vector::ZERO, |body| velocity_before(body, middle, dt))
        });
        Some(Self {
            velocity: Some(velocities[0] - velocities[1]),
            ..found
        })
    }

    /// Returns the contact with the largest impulse, or `None` without a valid contact point, as for soft bodies.
    pub fn strongest(
        pair: &ContactPair,
        colliders: &ColliderSet,
        bodies: &RigidBodySet,
    ) -> Option<Self> {
        let contacts = pair.manifolds().iter();
        let contacts = contacts.flat_map(|it| it.points.iter().map(move |point| (it, point)));
        let impulse = |(_, contact): &(_, &Contact)| contact.data.impulse;
        let strongest = contacts.max_by(|a, b| impulse(a).total_cmp(&impulse(b)));
        let (manifold, contact) = strongest?;
        Self::at(pair, manifold, contact, colliders, bodies)
    }

    /// Returns a contact in world space, still without its velocity, or `None` if a collider does not exist or a point
    /// is not finite.
    fn at(
        pair: &ContactPair,
        manifold: &ContactManifold,
        contact: &Contact,
        colliders: &ColliderSet,
        bodies: &RigidBodySet,
    ) -> Option<Self> {
        // The points are relative to a part of the collider if its shape is a compound.
        let pose_of = |collider: &Collider, part: Option<&Pose>| {
            part.map_or(*collider.position(), |part| collider.position() * *part)
        };
        let handles = [pair.collider1, pair.collider2];
        let pose1 = pose_of(colliders.get(handles[0])?, manifold.subshape_pos1());
        let pose2 = pose_of(colliders.get(handles[1])?, manifold.subshape_pos2());
        let points = [pose1 * contact.local_p1, pose2 * contact.local_p2];
        let centers_of_mass = handles.map(|handle| center_when_found(handle, colliders, bodies));
        let found = Self {
            colliders: handles,
            points,
            centers_of_mass,
            normal: pose1.rotation * manifold.local_n1,
            velocity: None,
        };
        points
            .iter()
            .all(|point| point.is_finite())
            .then_some(found)
    }

    /// Returns the contact as it is after the step. `first` is the collider that the event lists first: the normal
    /// points away from it, and the velocity is its own relative to the other. `origin` is that of the world space.
    pub fn hit_after_step(
        &self,
        first: ColliderHandle,
        colliders: &ColliderSet,
        bodies: &RigidBodySet,
        origin: Origin,
    ) -> Hit {
        // The point moves with the centre of mass of its body.
        let moved = |i: usize| {
            let by = center_of(self.colliders[i], colliders, bodies) - self.centers_of_mass[i];
            self.points[i] + by
        };
        let is_dynamic = |i: usize| {
            let body = body_of(self.colliders[i], colliders, bodies);
            body.is_some_and(RigidBody::is_dynamic)
        };
        // Against a body that contacts do not move, the point moves with the dynamic one.
        let point = match [0, 1].map(is_dynamic) {
            [true, false] => moved(0),
            [false, true] => moved(1),
            _ => (moved(0) + moved(1)) * 0.5,
        };
        // A collision has its velocity from before the step. That of a contact force is read after the step.
        let velocity = self.velocity.unwrap_or_else(|| {
            let velocities = self.colliders.map(|collider| {
                let body = body_of(collider, colliders, bodies);
                body.map_or(Vector::ZERO, |body| velocity_at(body, point))
            });
            velocities[0] - velocities[1]
        });
        let sign = if first == self.colliders[0] {
            1.0
        } else {
            -1.0
        };
        Hit {
            point,
            normal: self.normal * sign,
            velocity: velocity * sign,
            origin,
        }
    }
}

fn body_of<'a>(
    collider: ColliderHandle,
    colliders: &ColliderSet,
    bodies: &'a RigidBodySet,
) -> Option<&'a RigidBody> {
    bodies.get(colliders.get(collider)?.parent()?)
}

/// Returns the centre of mass of a collider's body, or zero for a collider without a body, which cannot move.
fn center_of(collider: ColliderHandle, colliders: &ColliderSet, bodies: &RigidBodySet) -> Vector {
    body_of(collider, colliders, bodies).map_or(Vector::ZERO, RigidBody::center_of_mass)
}

/// Returns the centre of mass of a collider's body when the contact was found, or zero without a body. It is computed
/// from the collider: when Rapier reports a force, it has moved the body, but not yet the collider.
fn center_when_found(
    collider: ColliderHandle,
    colliders: &ColliderSet,
    bodies: &RigidBodySet,
) -> Vector {
    let collider = colliders.get(collider);
    let Some((collider, parent)) = collider.and_then(|it| Some((it, it.parent()?))) else {
        return Vector::ZERO;
    };
    let local = bodies.get(parent).map(RigidBody::local_center_of_mass);
    let wrt_parent = collider.position_wrt_parent();
    let Some((local, wrt_parent)) = local.zip(wrt_parent) else {
        return Vector::ZERO;
    };
    collider.position() * (wrt_parent.inverse() * local)
}

/// Returns the velocity of the body's material at a point in world space.
fn velocity_at(body: &RigidBody, point: Vector) -> Vector {
    finite_velocity(body).velocity_at_point(point, body.center_of_mass())
}

/// Returns the velocity of a body at a point before the step of length `dt`. A position-based body still has that of
/// its last step in Rapier, so it is computed from the target, which is its position if it stops.
fn velocity_before(body: &RigidBody, point: Vector, dt: Real) -> Vector {
    if !is_position_based(body) {
        return velocity_at(body, point);
    }
    let next_point = body.next_position() * (body.position().inverse() * point);
    (next_point - point) / dt
}
