//! The simulation on a real thread. `worker` covers everything that depends on time, with a simulated clock.

mod failures;
mod games;
mod time;

use evenstep::ecs::EntityMap;
use evenstep::events::Event;
use evenstep::rapier::prelude::*;
use evenstep::threads::{Failure, Runner, RunnerSettings, SendError};
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use scenes::testing::{cuboid, translation, vector};
use scenes::{PATIENCE, hash, in_time, space, with_floor};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

/// Carries out requests, and reports every step.
struct Game {
    steps: Sender<u64>,
    panics_at: Option<u64>,
    pushed: Option<BodyKey>,
}

impl Game {
    fn new() -> (Self, Receiver<u64>) {
        let (steps, made) = channel();
        let game = Self {
            steps,
            panics_at: None,
            pushed: None,
        };
        (game, made)
    }
}

impl Hooks for Game {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if let Some(key) = self.pushed {
            let push = vector((step.tick % 3) as f32, 0.0, 0.1);
            physics.apply_impulse(key, push).expect("the body exists");
        }
        assert_ne!(self.panics_at, Some(step.tick), "the requested panic");
        Ok(())
    }

    fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        // The receiver may be gone.
        let _ = self.steps.send(step.tick);
        Ok(())
    }
}

/// Waits until the step of this tick has run.
fn until(made: &Receiver<u64>, tick: u64) {
    while made.recv_timeout(PATIENCE).expect("steps are reported") < tick {}
}

/// Runs frames until one fulfils the condition.
fn frames<H>(runner: &mut Runner<H>, mut is_good: impl FnMut(&mut Runner<H>) -> bool)
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    // A timeout for a run that hangs. A frame takes no time here.
    let start = runner.now();
    while !is_good(runner) {
        assert!(
            runner.now() - start < PATIENCE,
            "the condition is never met"
        );
        std::thread::yield_now();
    }
}
