//! The thread of a runner, by the wall clock. No other file of the crate reads a wall clock.

use std::time::{Duration, Instant};

use crate::simulation::Hooks;

use super::worker::Worker;

#[derive(Clone, Copy, Debug)]
pub(super) struct WallClock {
    start: Instant,
    /// The simulation's real time at the start.
    at_start: Duration,
}

impl WallClock {
    /// Starts a clock that shows `at_start` now.
    #[expect(
        clippy::disallowed_methods,
        reason = "a separate thread acts as a host's loop"
    )]
    pub fn new(at_start: Duration) -> Self {
        let start = Instant::now();
        Self { start, at_start }
    }

    pub fn now(&self) -> Duration {
        self.at_start.saturating_add(self.start.elapsed())
    }
}

/// Runs the worker's steps when they are due, and handles messages when they arrive, until nobody can send any more.
pub(super) fn run<H: Hooks>(worker: &mut Worker<H>, clock: WallClock) {
    loop {
        // Waits until an absolute time, so that delays do not add up.
        let start = clock.now();
        let next = worker.run_until(start);
        worker.measure(start, clock.now());
        let max_wait = next.map(|next| next.saturating_sub(clock.now()));
        if !worker.wait(max_wait) {
            return;
        }
    }
}
