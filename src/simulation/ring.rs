//! The states before each of the last steps.

use std::collections::VecDeque;

use crate::step::{Event, Events};
use crate::time::Clock;

use super::state::State;

/// By tick without a gap, oldest first, as many as the limits allow.
#[derive(Debug, Default)]
pub(super) struct Ring {
    ticks: u64,
    bytes: usize,
    saved: VecDeque<Saved>,
    /// Of all states together.
    held: usize,
}

/// The state before a step.
pub(super) struct Saved {
    /// With that step as its next one.
    pub clock: Clock,
    pub state: State,
    /// Events of the step that starts from this state, once it is made.
    pub events: Vec<Event>,
    bytes: usize,
}

impl std::fmt::Debug for Saved {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "tick {}, {} bytes", self.clock.tick(), self.bytes)
    }
}

/// A copy holds no states: copies are what it is made of.
impl Clone for Ring {
    fn clone(&self) -> Self {
        Self {
            ticks: self.ticks,
            bytes: self.bytes,
            ..Self::default()
        }
    }
}

impl Ring {
    pub fn set_limits(&mut self, ticks: u64, bytes: usize) {
        (self.ticks, self.bytes) = (ticks, bytes);
        self.cut(ticks);
    }

    pub fn is_on(&self) -> bool {
        self.ticks > 0
    }

    pub fn clear(&mut self) {
        self.saved.clear();
        self.held = 0;
    }

    /// The ticks of the states.
    pub fn ticks(&self) -> std::ops::Range<u64> {
        let first = self.saved.front().map_or(0, |saved| saved.clock.tick());
        first..first + self.saved.len() as u64
    }

    /// About how many bytes the states take.
    pub fn held(&self) -> usize {
        self.held
    }

    /// Adds the state before the clock's next step; what was saved of that tick and of later ones is another run's.
    pub fn push(&mut self, clock: Clock, state: State) {
        self.add(clock, state);
        self.cut(self.ticks);
    }

    /// Adds the state before the clock's next step, beside those that the limits allow: the present that a rewind
    /// leaves pushes out none of the others, however large it is.
    pub fn add(&mut self, clock: Clock, state: State) {
        self.take_from(clock.tick());
        if self.ticks().end != clock.tick() {
            self.clear();
        }
        let bytes = state.bytes();
        self.held = self.held.saturating_add(bytes);
        self.saved.push_back(Saved {
            clock,
            state,
            events: Vec::new(),
            bytes,
        });
    }

    /// The events of the step after the newest state.
    pub fn end_step(&mut self, tick: u64, events: Events<'_>) {
        let newest = self.saved.back_mut();
        if let Some(saved) = newest.filter(|saved| saved.clock.tick() == tick) {
            saved.events = events.in_tick(tick).0.to_vec();
        }
    }

    pub fn get(&self, tick: u64) -> Option<&Saved> {
        let place = tick.checked_sub(self.ticks().start)?;
        self.saved.get(usize::try_from(place).ok()?)
    }

    /// Takes the states of this tick and of all later ones.
    pub fn take_from(&mut self, tick: u64) -> VecDeque<Saved> {
        let kept = tick.saturating_sub(self.ticks().start);
        let kept =
            usize::try_from(kept).map_or(self.saved.len(), |kept| kept.min(self.saved.len()));
        let taken = self.saved.split_off(kept);
        for saved in &taken {
            self.held = self.held.saturating_sub(saved.bytes);
        }
        taken
    }

    fn cut(&mut self, ticks: u64) {
        while (self.saved.len() as u64 > ticks || self.held > self.bytes)
            && let Some(saved) = self.saved.pop_front()
        {
            self.held = self.held.saturating_sub(saved.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_limits_it_is_off_and_costs_no_copies() {
        let mut ring = Ring::default();
        assert!(!ring.is_on());
        ring.set_limits(1, 0);
        assert!(ring.is_on());
        ring.set_limits(0, usize::MAX);
        assert!(!ring.is_on());
    }
}
