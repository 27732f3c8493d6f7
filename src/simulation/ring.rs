//! The states before each of the last steps.

use std::collections::VecDeque;

use crate::step::{Event, Events};
use crate::time::Clock;

use super::state::State;

/// By tick without a gap, oldest first, as many as the limits allow. The oldest has its state.
#[derive(Debug, Default)]
pub(super) struct Ring {
    ticks: u64,
    bytes: usize,
    interval: u64,
    /// Whether the next state is kept at any tick: no step leads to it.
    is_next_kept: bool,
    saved: VecDeque<Saved>,
    /// Of all states together.
    held: usize,
}

/// What was before a step.
pub(super) struct Saved {
    /// With that step as its next one.
    pub clock: Clock,
    /// At the ticks of the interval.
    pub state: Option<State>,
    /// Events of the step, once it is made.
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
            interval: self.interval,
            ..Self::default()
        }
    }
}

impl Ring {
    pub fn set_limits(&mut self, ticks: u64, bytes: usize) {
        (self.ticks, self.bytes) = (ticks, bytes);
        self.cut();
    }

    pub fn set_interval(&mut self, ticks: u64) {
        self.interval = ticks;
    }

    /// Another state takes the place of that before the next step: what was before leads elsewhere.
    pub fn keep_next(&mut self) {
        self.is_next_kept = true;
    }

    pub fn is_on(&self) -> bool {
        self.ticks > 0
    }

    /// Whether the state before the step of that tick is to be kept.
    pub fn is_due(&self, tick: u64) -> bool {
        self.is_on() && self.last_due(tick) == tick
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

    /// The last tick up to this one that the interval names, which is 1 at least and at most the limit.
    pub fn last_due(&self, tick: u64) -> u64 {
        tick - tick % self.interval.clamp(1, self.ticks.max(1))
    }

    /// Adds what is before the clock's next step; what was saved of that tick and of later ones is another run's.
    pub fn push(&mut self, clock: Clock, state: &State) {
        let tick = clock.tick();
        // The step may be taken once more, of a state that is kept.
        let is_known = self.get(tick).is_some();
        self.go_back(tick);
        let is_first = std::mem::take(&mut self.is_next_kept) || self.saved.is_empty();
        let is_kept = is_known || is_first || self.is_due(tick);
        let state = is_kept.then(|| state.clone());
        self.append(clock, state);
        self.cut();
    }

    /// The same with its state, beside those that the limits allow: the present that a rewind leaves pushes out none of
    /// the others, however large it is.
    pub fn add(&mut self, clock: Clock, state: State) {
        self.go_back(clock.tick());
        self.append(clock, Some(state));
    }

    /// To before a tick, without a gap.
    fn go_back(&mut self, tick: u64) {
        self.take_from(tick);
        if self.ticks().end != tick {
            self.clear();
        }
    }

    fn append(&mut self, clock: Clock, state: Option<State>) {
        let bytes = state.as_ref().map_or(0, State::bytes);
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

    /// The state before the step of that tick, if that is kept.
    pub fn get(&self, tick: u64) -> Option<(&Clock, &State)> {
        let place = tick.checked_sub(self.ticks().start)?;
        let saved = self.saved.get(usize::try_from(place).ok()?)?;
        Some((&saved.clock, saved.state.as_ref()?))
    }

    /// The last tick up to this one whose state is kept.
    pub fn nearest(&self, tick: u64) -> Option<u64> {
        let mut states = self.saved.iter().filter(|saved| saved.state.is_some());
        let nearest = states.rfind(|saved| saved.clock.tick() <= tick);
        nearest.map(|saved| saved.clock.tick())
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

    /// Discards the oldest states that the limits do not allow, each with the steps up to the next one.
    fn cut(&mut self) {
        while !self.saved.is_empty() {
            let mut later = self.saved.iter().skip(1);
            let next = later.position(|saved| saved.state.is_some());
            let next = next.map_or(self.saved.len(), |next| next + 1);
            let left = (self.saved.len() - next) as u64;
            if left < self.ticks && self.held <= self.bytes {
                break;
            }
            for saved in self.saved.drain(..next) {
                self.held = self.held.saturating_sub(saved.bytes);
            }
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
