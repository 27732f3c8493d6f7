//! The components of an entity that has a body.

use std::fmt;
use std::sync::{Arc, Mutex, Weak};

use crate::ecs::Spawned;
use crate::key::BodyKey;
use crate::lock::lock;
use rapier::math::Pose;

/// The component of an entity that owns a body. Only [`Entities`](super::Entities) creates it.
///
/// If it is dropped, in any way and on any thread, the next
/// [`Entities::remove_dropped`](super::Entities::remove_dropped) or [`Entities::sync`](super::Entities::sync) removes
/// the body. [The module](super#case-by-case) lists all cases.
pub struct Body {
    key: BodyKey,
    /// The list of its [`Entities`](super::Entities), because keys of two simulations may be equal, or of nobody once
    /// the body was released.
    dropped: Weak<Dropped>,
}

/// The bodies whose [`Body`] was dropped, on any thread.
pub(super) type Dropped = Mutex<Vec<BodyKey>>;

impl Body {
    pub(super) fn new(key: BodyKey, dropped: &Arc<Dropped>) -> Self {
        let dropped = Arc::downgrade(dropped);
        Self { key, dropped }
    }

    /// Returns the key of the body.
    #[must_use]
    pub fn key(&self) -> BodyKey {
        self.key
    }

    /// Returns the key if the body is one of the `Entities` with this list.
    pub(super) fn key_of(&self, dropped: &Arc<Dropped>) -> Option<BodyKey> {
        std::ptr::eq(self.dropped.as_ptr(), Arc::as_ptr(dropped)).then_some(self.key)
    }

    /// Lets the body stay in the simulation when this component is dropped.
    pub(super) fn release(&mut self) {
        self.dropped = Weak::new();
    }

    /// Returns the component for a copy of its `Entities`, whose list of dropped bodies is `to`. A component of other
    /// `Entities` than those with the list `from` gets no list, so dropping its copy removes nothing.
    pub(super) fn copy(&self, [from, to]: [&Arc<Dropped>; 2]) -> Self {
        let mut copy = Self::new(self.key, to);
        if self.key_of(from).is_none() {
            copy.release();
        }
        copy
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if let Some(dropped) = self.dropped.upgrade() {
            lock(&dropped).push(self.key);
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Body").field(&self.key).finish()
    }
}

/// The component of an entity that waits for its [`Body`], which was sent to a thread.
#[derive(Clone)]
pub(super) struct Waiting(pub Spawned);

/// The component with the pose at which to draw the entity in this frame, in world space.
///
/// [`Entities::sync`](super::Entities::sync) writes it when the pose changes, and never reads it. To move the body, use
/// [`Physics::teleport`](crate::Physics::teleport). On entities without a body, it is yours.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RenderPose(pub Pose);
