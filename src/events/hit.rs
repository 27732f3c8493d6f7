//! Where two colliders hit each other, and how hard.

use crate::pose::{Origin, finite_velocity};
use rapier::dynamics::{RigidBody, RigidBodySet};
use rapier::geometry::{
    Collider, ColliderHandle, ColliderSet, Contact, ContactManifold, ContactPair,
};
use rapier::math::{Pose, Real, Vector};

/// A contact of two colliders: where they touch, and how fast they move relative to each other.
///
/// Its world space is that of the frame that displays the event and, in [`Physics::events`](crate::Physics::events), of
/// the end of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Hit {
    /// The point of contact, in metres in world space, moved with the dynamic body, or by half of the motion of each of
    /// two.
    pub point: Vector,
    /// The direction from the first collider to the second, of unit length.
    pub normal: Vector,
    /// The velocity of the first collider relative to the second at that point, in m/s in world axes: for a
    /// [`Collision`](super::Collision) before they hit each other, so it does not depend on the restitution; for a
    /// [`ContactForce`](super::ContactForce) after the step.
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

    /// Returns whether the origin of a picture differs from that of the step.
    pub(super) fn is_elsewhere(&self, origin: &Origin) -> bool {
        self.origin != *origin
    }

    /// Moves the contact into the coordinates of a picture.
    pub(super) fn translate(&mut self, origin: Origin) {
        self.point -= origin.offset_from(&self.origin);
        self.origin = origin;
    }
}

/// A contact that Rapier has found in a step, before it moves the bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    colliders: [ColliderHandle; 2],
    /// The points on the two colliders.
    points: [Vector; 2],
    /// The centres of mass of their bodies.
    centers: [Vector; 2],
    normal: Vector,
    /// The relative velocity, if it is that before the step.
    velocity: Option<Vector>,
}

impl Found {
    /// Returns the deepest contact of a pair that has just started to touch, or `None` for soft bodies.
    pub fn start(
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

    /// Returns the contact with the largest impulse.
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

    fn at(
        pair: &ContactPair,
        manifold: &ContactManifold,
        contact: &Contact,
        colliders: &ColliderSet,
        bodies: &RigidBodySet,
    ) -> Option<Self> {
        let place = |collider: &Collider, part: Option<&Pose>| {
            part.map_or(*collider.position(), |part| collider.position() * *part)
        };
        let handles = [pair.collider1, pair.collider2];
        let one = place(colliders.get(handles[0])?, manifold.subshape_pos1());
        let other = place(colliders.get(handles[1])?, manifold.subshape_pos2());
        let points = [one * contact.local_p1, other * contact.local_p2];
        let centers = handles.map(|handle| center_found(handle, colliders, bodies));
        let found = Self {
            colliders: handles,
            points,
            centers,
            normal: one.rotation * manifold.local_n1,
            velocity: None,
        };
        points.iter().all(|it| it.is_finite()).then_some(found)
    }

    /// Returns the contact as it is after the step. `first` is the collider that the event lists first: the normal points
    /// away from it, and the velocity is its own relative to the other.
    pub fn hit_after_step(
        &self,
        first: ColliderHandle,
        colliders: &ColliderSet,
        bodies: &RigidBodySet,
        origin: Origin,
    ) -> Hit {
        let moved = |i: usize| {
            let by = center_of(self.colliders[i], colliders, bodies) - self.centers[i];
            self.points[i] + by
        };
        let is_dynamic = |i: usize| {
            let body = body_of(self.colliders[i], colliders, bodies);
            body.is_some_and(RigidBody::is_dynamic)
        };
        let point = match [0, 1].map(is_dynamic) {
            [true, false] => moved(0),
            [false, true] => moved(1),
            _ => (moved(0) + moved(1)) * 0.5,
        };
        let velocity = self.velocity.unwrap_or_else(|| {
            let [one, other] = self.colliders.map(|collider| {
                let body = body_of(collider, colliders, bodies);
                body.map_or(Vector::ZERO, |body| velocity_at(body, point))
            });
            one - other
        });
        let side = if first == self.colliders[0] {
            1.0
        } else {
            -1.0
        };
        Hit {
            point,
            normal: self.normal * side,
            velocity: velocity * side,
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

fn center_of(collider: ColliderHandle, colliders: &ColliderSet, bodies: &RigidBodySet) -> Vector {
    body_of(collider, colliders, bodies).map_or(Vector::ZERO, RigidBody::center_of_mass)
}

/// Returns a body's centre of mass when the contact was found. When Rapier reports a force it has moved the body, but
/// not yet its collider.
fn center_found(
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

fn velocity_at(body: &RigidBody, point: Vector) -> Vector {
    finite_velocity(body).velocity_at_point(point, body.center_of_mass())
}

/// Returns the velocity of a point of a body before the step. Of a body that is kinematic by position, Rapier does not
/// know it yet.
fn velocity_before(body: &RigidBody, point: Vector, dt: Real) -> Vector {
    if !body.is_kinematic() || body.next_position() == body.position() {
        return velocity_at(body, point);
    }
    let next = body.next_position() * (body.position().inverse() * point);
    (next - point) / dt
}
