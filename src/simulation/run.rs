//! What the loop knows about its state.

use crate::id::Id;
use crate::step::{ChangedEvents, SharedEvents};

use super::past::Past;
use super::redo::Redo;

/// Everything of the loop that is about the state that it runs. The loop begins another run when it takes over a state
/// that the game has assigned.
#[derive(Default)]
pub(super) struct Run {
    /// The epoch that the loop drew last, or `None` if it has yet to take the state over.
    epoch: Option<u64>,
    /// Distinguishes runs for views on other threads, which continue after a rollback or a rewind.
    timeline: Id,
    pub past: Past,
    /// The redo queue after a rollback, until the present is reached.
    pub redo: Option<Box<Redo>>,
    /// The events of the frame, sorted by tick, even if ticks were renumbered within it.
    pub events: SharedEvents,
    /// How the events changed when steps were last resimulated.
    pub event_changes: ChangedEvents,
    /// The number of steps that were resimulated since the last frame ended, to be counted in the next one.
    pub resimulated: u64,
}

impl Run {
    /// Returns a run of another state, with the same limits of the past.
    pub fn another(&self) -> Self {
        Self {
            past: self.past.clone(),
            ..Self::default()
        }
    }

    /// Returns the run of a copy of the simulation, whose state has this epoch.
    pub fn copy(&self, epoch: u64) -> Self {
        Self {
            epoch: self.epoch.map(|_| epoch),
            redo: self.redo.clone(),
            events: self.events.clone(),
            event_changes: self.event_changes.clone(),
            resimulated: self.resimulated,
            ..self.another()
        }
    }

    /// Returns whether this is a run of the state with this epoch.
    pub fn is_of(&self, epoch: u64) -> bool {
        self.epoch == Some(epoch)
    }

    /// Continues with the state that has this epoch.
    pub fn adopt(&mut self, epoch: u64) {
        self.epoch = Some(epoch);
    }

    pub fn timeline(&self) -> u64 {
        self.timeline.number()
    }

    /// Begins a timeline that is later than all others.
    pub fn begin_timeline(&mut self) {
        self.timeline = Id::default();
    }
}
