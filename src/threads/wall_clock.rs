//! The thread of a runner, by the wall clock. No other file of the crate reads a wall clock.

use std::time::{Duration, Instant};

use crate::simulation::Hooks;

use super::worker::Worker;

#[derive(Clone, Copy, Debug)]
pub(super) struct WallClock {
    start: Instant,
    at_start: Duration,
}

impl WallClock {
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

pub(super) fn run<H: Hooks>(worker: &mut Worker<H>, clock: WallClock) {
    loop {
        // Waits until an absolute time, so that delays do not add up.
        let start = clock.now();
        let next = worker.run_until(start);
        worker.measure(start, clock.now());
        let most = next.map(|next| next.saturating_sub(clock.now()));
        if !worker.wait(most) {
            return;
        }
    }
}
