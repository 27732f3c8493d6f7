//! How bodies are shown, and how much of them is kept.

use crate::key::BodyKey;
use crate::pose::correction::Correction;
use crate::pose::motion::Smoothing;

use super::{Place, Poses};

impl Poses {
    pub fn smoothing(&self) -> Smoothing {
        self.smoothing
    }

    pub fn set_smoothing(&mut self, smoothing: Smoothing) {
        self.smoothing = smoothing;
        self.doubt_all();
    }

    /// `None` if the body has none of its own.
    pub fn body_smoothing(&self, key: BodyKey) -> Option<Smoothing> {
        self.bodies.get(key)?.smoothing
    }

    /// `None`: as the others.
    pub fn set_body_smoothing(&mut self, key: BodyKey, smoothing: Option<Smoothing>) {
        let body = &mut self.bodies[key];
        body.smoothing = smoothing;
        if let Place::Moving(place) = body.place {
            self.moving.marks[place].has_trajectory = true;
        }
    }

    pub fn correction(&self) -> Option<Correction> {
        self.correction
    }

    pub fn set_correction(&mut self, correction: Option<Correction>) {
        self.correction = correction;
    }

    pub fn set_body_correction(&mut self, key: BodyKey, is_on: bool) {
        self.bodies[key].is_corrected = is_on;
        if let (false, Place::Moving(place)) = (is_on, self.bodies[key].place) {
            self.moving.set_error(place, None);
        }
    }

    pub(super) fn smoothing_of(&self, key: BodyKey) -> Smoothing {
        self.bodies[key].smoothing.unwrap_or(self.smoothing)
    }

    /// Keeps so many states of each body; `tick` steps have been made.
    pub fn set_history(&mut self, states: usize, tick: u64) {
        self.history.set_len(states, self.bodies.keys(), tick);
        if !self.is_outdated(tick) {
            self.keep_pairs();
        }
    }

    /// Whether every step is to be captured, not just the last of a frame.
    pub fn keeps_history(&self) -> bool {
        self.history.is_kept()
    }

    /// How many states are kept of each body.
    pub fn history_len(&self) -> usize {
        self.history.states()
    }

    /// Steps have another number from now on: what was kept by the old ones is forgotten.
    pub fn set_tick(&mut self, tick: u64) {
        let states = self.history.states();
        self.history.forget_ticks();
        for trajectory in &mut self.moving.trajectories {
            trajectory.set_tick(self.tick, tick);
        }
        self.tick = tick;
        self.set_history(states, tick);
    }
}
