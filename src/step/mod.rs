//! Inputs of a step, the stepped world, and the resulting events. This module knows nothing of displayed poses.

// Input by time and by tick, and a button's edges.
mod button;
mod input;
mod tick_input;
mod tick_sender;
// Rapier's sets and their keys.
mod world;
// The threads that step a world.
#[cfg(feature = "parallel")]
mod pool;
// Forces on bodies.
mod forces;
mod generators;
// Targets of kinematic bodies.
mod targets;
// Events, and how they change when steps are resimulated.
mod event_changes;
mod events;

pub use button::Button;
pub(crate) use event_changes::ChangedEvents;
pub use event_changes::EventChanges;
pub use events::{Collision, ContactForce, Event, Events, Quarantined, SoftBodyTear};
pub(crate) use events::{EventLog, SharedEvents, clear_events, replace_events};
pub use forces::BodyError;
pub(crate) use forces::{Forces, Push};
pub use generators::{CustomForce, ForceGenerator, Wrench};
pub use input::{Delivery, InputCounts, InputQueue, Sample};
#[cfg(all(feature = "parallel", feature = "checksum"))]
pub(crate) use pool::on_one_thread;
pub(crate) use targets::Targets;
pub use tick_input::{TickCounts, TickError, TickQueue};
pub use tick_sender::TickSender;
pub(crate) use world::{Birth, World, refresh_leaf};
