//! The colliders of a new body.

use rapier::geometry::{Collider, ColliderBuilder};

/// The colliders of a new body, for [`Physics::insert`](super::Physics::insert): one, or several in an array or a
/// `Vec`.
pub trait Colliders {
    /// Returns the colliders, in the order in which they are attached.
    fn into_colliders(self) -> impl Iterator<Item = Collider>;
}

impl Colliders for Collider {
    fn into_colliders(self) -> impl Iterator<Item = Collider> {
        std::iter::once(self)
    }
}

impl Colliders for ColliderBuilder {
    fn into_colliders(self) -> impl Iterator<Item = Collider> {
        std::iter::once(self.into())
    }
}

impl<C: Into<Collider>, const N: usize> Colliders for [C; N] {
    fn into_colliders(self) -> impl Iterator<Item = Collider> {
        self.into_iter().map(Into::into)
    }
}

impl<C: Into<Collider>> Colliders for Vec<C> {
    fn into_colliders(self) -> impl Iterator<Item = Collider> {
        self.into_iter().map(Into::into)
    }
}
