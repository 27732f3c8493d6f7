//! The simulation on a real thread. What depends on time is tested with a clock of its own, in the library.

mod failures;
mod games;
mod time;

use crate::scenes::testing::{cuboid, translation, vector};
use crate::scenes::{hash, in_time, space, with_floor};
use evenstep::rapier::prelude::*;
use evenstep::threads::{Failure, Runner, RunnerSettings, SendError};
use evenstep::{
    BodyKey, Event, ForceGenerator, Hooks, Owners, Physics, Rate, Simulation, Step, Wrench,
};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// Longer than any of these should take, on the slowest of machines.
const PATIENCE: Duration = Duration::from_secs(60);

/// Does what is asked of it, and reports every step.
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
            physics.apply_impulse(key, push).expect("it is there");
        }
        assert_ne!(self.panics_at, Some(step.tick), "as it was asked to");
        Ok(())
    }

    fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
        // Nobody may listen any more.
        let _ = self.steps.send(step.tick);
        Ok(())
    }
}

/// Waits until that step is made.
fn until(made: &Receiver<u64>, tick: u64) {
    while made.recv_timeout(PATIENCE).expect("steps are made") < tick {}
}

/// Frames until one is as it should be.
fn frames<H>(runner: &mut Runner<H>, mut is_good: impl FnMut(&mut Runner<H>) -> bool)
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    // A bound for a run that hangs; a frame takes no time here.
    let start = runner.now();
    while !is_good(runner) {
        assert!(runner.now() - start < PATIENCE, "never");
        std::thread::yield_now();
    }
}
