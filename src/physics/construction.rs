//! New states.

use std::sync::Arc;

use crate::events::{EventLog, SharedEvents};
use crate::forces::Forces;
use crate::pose::{Origin, Pairs};
use crate::step::{Targets, World};
use crate::time::{ExactTime, Rate};
use rapier::pipeline::PhysicsWorld;

use super::{Edits, Physics, Resources, Running};

/// # Construction
impl Physics {
    /// Creates an empty world under Rapier's default gravity.
    #[must_use]
    pub fn new() -> Self {
        Self::from_rapier(PhysicsWorld::new())
    }

    /// Creates a state from an existing Rapier world. Its bodies have no key until you call
    /// [`track_all`](Self::track_all).
    #[must_use]
    pub fn from_rapier(world: PhysicsWorld) -> Self {
        Self {
            tick: 0,
            time: ExactTime::default(),
            rate: Rate::default(),
            world: World::new(world),
            targets: Targets::default(),
            forces: Forces::default(),
            event_log: EventLog::default(),
            events: SharedEvents::default(),
            pairs: Pairs::default(),
            origin: Origin::default(),
            smoothing: Arc::default(),
            edits: Edits::default(),
            resources: Resources::default(),
            is_poisoned: false,
            running: Running::default(),
        }
    }
}
