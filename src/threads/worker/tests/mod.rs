//! Random games of a runner, with a simulated clock. `tests/threads/worker` has all other tests of a worker.

// Random games with commands while physics is late.
mod random;
// Random games whose events are displayed once.
mod events;
// Random games that exchange states with other loops.
#[cfg(all(feature = "enhanced-determinism", feature = "serde"))]
mod exchange;

use super::*;
use crate::physics::Physics;
use crate::threads::{Runner, View};
use crate::time::FrameTime;
use crate::{Correction, Rate, Step};
use proptest::prelude::*;
use rapier::prelude::*;
use std::collections::BTreeMap;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn mixed(number: u64) -> u64 {
    let mixed = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (mixed ^ mixed >> 29).wrapping_mul(0xc4ce_b9fe_1a85_ec53) >> 20
}

/// Both threads in one.
struct Both<H: Hooks>
where
    H::Error: Send,
{
    physics: Worker<H>,
    runner: Runner<H>,
    /// Calls to be sent when the worker next runs at the time of the game.
    calls: Vec<Call<H>>,
}

impl<H> Both<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn new(simulation: Simulation, hooks: H) -> Self {
        let settings = RunnerSettings::default();
        let (runner, physics) = Runner::without_thread(simulation, hooks, settings);
        Self {
            physics,
            runner,
            calls: Vec::new(),
        }
    }

    fn stop(self, now: Duration) -> (Simulation, H) {
        self.runner.end(self.physics.end(now))
    }

    fn physics(&mut self, now: Duration) -> Option<Duration> {
        for call in self.calls.drain(..) {
            self.runner.call(call).unwrap();
        }
        loop {
            let next = self.physics.run_until(now);
            if next.is_none_or(|next| next > now) {
                return next;
            }
        }
    }

    /// Runs as a thread that is never late: each step when it is due, and calls at `now`.
    fn in_time(&mut self, now: Duration) {
        while let Some(next) = self.physics.deadline().filter(|next| *next <= now) {
            self.physics.run_until(next);
        }
        self.physics(now);
    }

    fn frame(&mut self, now: Duration) -> &View<H::Error> {
        self.runner.frame_at(now)
    }

    fn call(&mut self, call: impl FnOnce(&mut Simulation, &mut H) + Send + 'static) {
        self.calls.push(Box::new(call));
    }

    fn view(&self) -> &View<H::Error> {
        self.runner.view()
    }
}
