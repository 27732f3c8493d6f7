//! The step of Rapier's world, and what it needs from one step to the next.

// Rapier's sets and their keys.
mod world;
// Contacts that Rapier would recycle.
mod contacts;
// Links of multibodies, and bodies with joints.
mod multibodies;
// The threads that step a world.
#[cfg(feature = "parallel")]
mod pool;
// Targets of kinematic bodies.
mod targets;

pub(crate) use contacts::ContactParts;
pub(crate) use targets::Targets;
pub(crate) use world::{Insertion, World, refresh_leaf};
