//! The components of an entity that has a body.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use crate::ecs::Spawned;
use crate::key::BodyKey;
use crate::lock::lock;
use rapier::math::Pose;

/// Marks an entity that owns a body, as a component. Only [`Entities`](super::Entities) creates it.
///
/// If it is dropped, in any way and on any thread, the next
/// [`Entities::remove_dropped`](super::Entities::remove_dropped) or [`Entities::sync`](super::Entities::sync) removes
/// the body. You may move it to another entity of its world: see [the module](super#case-by-case).
pub struct Body(pub(super) Link<BodyKey>);

impl Body {
    /// Returns the key of the body.
    #[must_use]
    pub fn key(&self) -> BodyKey {
        self.0.value
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        self.0.report(|dropped| &mut dropped.bodies);
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Body").field(&self.key()).finish()
    }
}

/// Holds the pose at which to draw the entity in this frame, in world space, as a component.
///
/// [`Entities::sync`](super::Entities::sync) writes it when the pose changes, and never reads it. To move the body, use
/// [`Physics::teleport`](crate::Physics::teleport). You may also add this component to entities without a body, where
/// `sync` does not change it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RenderPose(pub Pose);

/// Component: this body is recorded as the entity's.
///
/// Only this module can name it, so it stays on its entity when a game moves the other two. An entity that has only one
/// of [`Body`] and `Noted` has to be checked, and hecs finds such entities by their archetype.
pub(super) struct Noted(pub Link<BodyKey>);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.report(|dropped| &mut dropped.noted);
    }
}

/// Component: a body for the entity was sent to a thread.
pub(super) struct Coming(pub Link<Spawned>);

impl Drop for Coming {
    fn drop(&mut self) {
        self.0.report(|dropped| &mut dropped.coming);
    }
}

/// A body of one [`Entities`](super::Entities), because keys of two simulations may be equal.
#[derive(Clone)]
pub(super) struct Link<T> {
    value: T,
    /// `None` once the body was released.
    owner: Option<Weak<Owner>>,
}

impl<T: Clone> Link<T> {
    pub fn new(value: T, owner: &Arc<Owner>) -> Self {
        Self {
            value,
            owner: Some(Arc::downgrade(owner)),
        }
    }

    pub fn of(&self, owner: &Arc<Owner>) -> Option<T> {
        self.is_of(owner).then(|| self.value.clone())
    }

    fn is_of(&self, owner: &Arc<Owner>) -> bool {
        let own = self.owner.as_ref();
        own.is_some_and(|own| std::ptr::eq(own.as_ptr(), Arc::as_ptr(owner)))
    }

    /// Returns the same body with the copy of its owner. The body of any other owner is released.
    pub fn copy(&self, copy: OwnerCopy<'_>) -> Self {
        Self {
            value: self.value.clone(),
            owner: (self.is_of(copy.from)).then(|| Arc::downgrade(copy.to)),
        }
    }

    pub fn release(&mut self) {
        self.owner = None;
    }

    fn report(&self, list: fn(&mut DroppedLinks) -> &mut Vec<T>) {
        if let Some(owner) = self.owner.as_ref().and_then(Weak::upgrade) {
            list(&mut owner.dropped()).push(self.value.clone());
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct OwnerCopy<'a> {
    pub from: &'a Arc<Owner>,
    pub to: &'a Arc<Owner>,
}

/// The state that an [`Entities`](super::Entities) shares with its components.
#[derive(Default)]
pub(super) struct Owner(Mutex<DroppedLinks>);

#[derive(Clone, Default)]
pub(super) struct DroppedLinks {
    pub bodies: Vec<BodyKey>,
    pub noted: Vec<BodyKey>,
    /// Bodies that are not inserted yet, of entities that were despawned.
    pub coming: Vec<Spawned>,
}

impl Owner {
    /// Takes the reports, sorted by key, because several threads may have dropped components in any order.
    pub fn take_dropped(&self) -> DroppedLinks {
        let mut dropped = std::mem::take(&mut *self.dropped());
        dropped
            .bodies
            .extend(dropped.coming.iter().filter_map(Spawned::key));
        dropped.coming.retain(|spawned| spawned.key().is_none());
        self.dropped().coming.append(&mut dropped.coming);
        dropped.bodies.sort_unstable();
        dropped.noted.sort_unstable();
        dropped
    }

    pub fn copy(&self) -> Self {
        Self(Mutex::new(self.dropped().clone()))
    }

    pub fn forget_dropped(&self, mut holds: impl FnMut(BodyKey) -> bool) {
        self.dropped().bodies.retain(|key| !holds(*key));
    }

    fn dropped(&self) -> MutexGuard<'_, DroppedLinks> {
        lock(&self.0)
    }
}
