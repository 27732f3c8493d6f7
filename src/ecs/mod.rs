//! Connections between bodies and the entities of your ECS.
//!
//! [`EntityMap`] records which entity has which body, for any ECS. With the feature `hecs`, the module `hecs` has
//! components and a world for rollbacks.

// Which entity has which body.
mod entity_map;
// Types that have the bodies, types that display them, and bodies that were sent to a thread.
pub(crate) mod host;
// Components and synchronisation for hecs.
#[cfg(feature = "hecs")]
pub mod hecs;

pub use entity_map::{EntityMap, Unmatched};
pub use host::{Bodies, Host};
pub(crate) use host::{Inserter, Picture, Spawned, StateNumber};
