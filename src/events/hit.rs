//! Where two colliders hit each other, and how hard.

use crate::pose::Origin;
use rapier::dynamics::{RigidBody, RigidBodySet};
use rapier::geometry::{Collider, ColliderSet, Contact, ContactManifold, ContactPair};
use rapier::math::{Pose, Real, Vector};
use rapier::pipeline::PhysicsWorld;

/// Describes a contact of two colliders: where they touch, and how fast they move relative to each other.
///
/// Use it for sparks, decals, sounds and damage. The world space is that of the picture that displays the event and, in
/// [`Physics::events`](crate::Physics::events), of the end of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Hit {
    /// The point of contact at the end of the step, in metres in world space: the middle of the points on the two
    /// colliders.
    pub point: Vector,
    /// The direction from the first collider to the second, of unit length, at the end of the step.
    pub normal: Vector,
    /// The velocity of the first collider relative to the second at that point, in m/s in world axes. For a
    /// [`Collision`](super::Collision) it is that before they hit each other, so it does not depend on the restitution.
    /// For a [`ContactForce`](super::ContactForce) it is that after the step.
    pub velocity: Vector,
    origin: Origin,
}

impl Hit {
    /// Returns the speed at which the colliders approached each other along the normal, in m/s, or 0 if they moved
    /// apart. A sound's volume follows it.
    #[must_use]
    pub fn speed(&self) -> Real {
        self.velocity.dot(self.normal).max(0.0)
    }

    /// Returns the speed at which the colliders slid along each other, in m/s.
    #[must_use]
    pub fn sliding_speed(&self) -> Real {
        (self.velocity - self.normal * self.velocity.dot(self.normal)).length()
    }

    /// Returns the deepest contact of a pair that has just started to touch, or `None` for sensors and soft bodies.
    pub(super) fn of_start(
        pair: &ContactPair,
        colliders: &ColliderSet,
        bodies: &RigidBodySet,
    ) -> Option<Self> {
        let (manifold, contact) = pair.find_deepest_contact()?;
        let mut hit = Self::at(pair, manifold, contact, colliders)?;
        hit.velocity = velocity(pair, hit.point, colliders, bodies, RigidBody::is_dynamic);
        Some(hit)
    }

    /// Moves the contact to where the step has moved the colliders. Rapier knows the velocity of a body that is kinematic
    /// by position only now.
    pub(super) fn end_step(&mut self, pair: &ContactPair, world: &PhysicsWorld, origin: Origin) {
        let hit = pair.find_deepest_contact();
        let hit = hit.and_then(|(manifold, it)| Self::at(pair, manifold, it, &world.colliders));
        if let Some(Self { point, normal, .. }) = hit {
            (self.point, self.normal) = (point, normal);
        }
        let (colliders, bodies) = (&world.colliders, &world.bodies);
        let moves = |body: &RigidBody| !body.is_dynamic();
        self.velocity += velocity(pair, self.point, colliders, bodies, moves);
        self.origin = origin;
    }

    /// Returns the contact with the largest impulse after a step.
    pub(super) fn strongest(
        pair: &ContactPair,
        colliders: &ColliderSet,
        bodies: &RigidBodySet,
    ) -> Option<Self> {
        let contacts = pair.manifolds().iter();
        let contacts = contacts.flat_map(|it| it.points.iter().map(move |point| (it, point)));
        let impulse = |(_, contact): &(_, &Contact)| contact.data.impulse;
        let strongest = contacts.max_by(|a, b| impulse(a).total_cmp(&impulse(b)));
        let (manifold, contact) = strongest?;
        let mut hit = Self::at(pair, manifold, contact, colliders)?;
        hit.velocity = velocity(pair, hit.point, colliders, bodies, |_| true);
        Some(hit)
    }

    fn at(
        pair: &ContactPair,
        manifold: &ContactManifold,
        contact: &Contact,
        colliders: &ColliderSet,
    ) -> Option<Self> {
        let place = |collider: &Collider, part: Option<Pose>| {
            part.map_or(*collider.position(), |part| collider.position() * part)
        };
        let one = place(
            colliders.get(pair.collider1)?,
            manifold.subshape_pos1().copied(),
        );
        let other = place(
            colliders.get(pair.collider2)?,
            manifold.subshape_pos2().copied(),
        );
        let point = (one * contact.local_p1 + other * contact.local_p2) * 0.5;
        let hit = Self {
            point,
            normal: one.rotation * manifold.local_n1,
            velocity: Vector::ZERO,
            origin: Origin::default(),
        };
        point.is_finite().then_some(hit)
    }

    pub(super) fn set_origin(&mut self, origin: Origin) {
        self.origin = origin;
    }

    /// Returns the other order of the two colliders.
    pub(super) fn flipped(self) -> Self {
        Self {
            normal: -self.normal,
            velocity: -self.velocity,
            ..self
        }
    }

    /// Returns whether the origin of a picture differs from that of the step.
    pub(super) fn is_elsewhere(&self, origin: &Origin) -> bool {
        self.origin != *origin
    }

    /// Moves the contact into the coordinates of a picture.
    pub(super) fn translate(&mut self, origin: Origin) {
        self.point -= origin.from(&self.origin);
        self.origin = origin;
    }
}

/// Returns the relative velocity of these bodies at a point. A collider without such a body stands.
fn velocity(
    pair: &ContactPair,
    point: Vector,
    colliders: &ColliderSet,
    bodies: &RigidBodySet,
    counts: impl Fn(&RigidBody) -> bool,
) -> Vector {
    let [one, other] = [pair.collider1, pair.collider2].map(|handle| {
        let body = colliders.get(handle).and_then(Collider::parent);
        let body = body.and_then(|body| bodies.get(body));
        let body = body.filter(|body| counts(body) && body.is_enabled());
        body.map_or(Vector::ZERO, |body| body.velocity_at_point(point))
    });
    one - other
}
