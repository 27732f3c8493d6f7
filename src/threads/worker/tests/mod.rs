//! Both threads in one, with a simulated clock: tests of everything that depends on time.

// What frames display, and when.
mod shown;
// Visual errors in every host.
mod hosts;
// Calls, questions, other simulations.
mod orders;
// Pauses and speeds.
mod time;
// Errors and panics.
mod failures;
// Going back in time, while bodies come and go.
mod ways_back;
// Handed-over states are complete.
mod copies;
// Entities of a hecs world.
#[cfg(feature = "hecs")]
mod with_hecs;
// Commands between steps, and bodies that come and go in them.
mod commands;
// Random games with commands while physics is late.
mod random;
// Random games whose events are displayed once.
mod events;
// Random games that exchange states with other loops.
#[cfg(all(feature = "enhanced-determinism", feature = "serde"))]
mod exchange;

use super::*;
use crate::forces::ForceGenerator;
use crate::physics::Physics;
use crate::pose::{Movers, SmoothingSettings};
use crate::screen::{Moment, Screen};
use crate::threads::mailbox::SOON;
use crate::threads::{Overlap, Runner, View};
use crate::time::{ClockSettings, FrameTime};
use crate::{Correction, Rate, Smoothing, Step};
use proptest::prelude::*;
use rapier::prelude::*;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::channel;

const MS: fn(u64) -> Duration = Duration::from_millis;

fn mixed(number: u64) -> u64 {
    let mixed = (number ^ number >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    (mixed ^ mixed >> 29).wrapping_mul(0xc4ce_b9fe_1a85_ec53) >> 20
}

struct Both<H: Hooks>
where
    H::Error: Send,
{
    physics: Worker<H>,
    runner: Runner<H>,
}

impl<H> Both<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn new(simulation: Simulation, hooks: H) -> Self {
        let settings = RunnerSettings::default();
        let (runner, physics) = Runner::without_thread(simulation, hooks, settings);
        Self { physics, runner }
    }

    fn stop(mut self, now: Duration) -> (Simulation, H) {
        let (mut simulation, hooks) = self.physics.end(now);
        simulation.put_screen(self.runner.view.take_screen());
        (simulation, hooks)
    }

    fn physics(&mut self, now: Duration) -> Option<Duration> {
        self.physics.fetch();
        loop {
            let next = self.physics.run_until(now);
            if next.is_none_or(|next| next > now) {
                return next;
            }
        }
    }

    /// Runs as a thread that is never late: each step when it is due, and orders sent at `now`.
    fn in_time(&mut self, now: Duration) {
        while let Some(next) = self.physics.deadline().filter(|next| *next <= now) {
            self.physics.run_until(next);
        }
        self.physics(now);
    }

    fn frame(&mut self, now: Duration) -> &View<H::Error> {
        self.runner.frame_at(now);
        &self.runner.view
    }

    fn call(&mut self, call: impl FnOnce(&mut Simulation, &mut H) + Send + 'static) {
        self.runner.call(call).unwrap();
    }

    fn set(&mut self, set: impl FnOnce(&mut ClockSettings) + Send + 'static) {
        self.call(|simulation, _| set(simulation.clock_settings_mut()));
    }

    fn pause(&mut self) {
        self.call(|simulation, _| simulation.pause());
    }

    fn resume(&mut self) {
        self.call(|simulation, _| simulation.resume());
    }

    fn step_once(&mut self) {
        self.call(|simulation, _| simulation.step_once());
    }

    fn set_speed(&mut self, speed: f64) {
        self.set(move |settings| settings.set_speed(speed).unwrap());
    }

    fn teleport(&mut self, key: BodyKey, to: Pose) {
        self.call(move |simulation, _| simulation.physics.teleport(key, to).unwrap());
    }

    fn remove(&mut self, key: BodyKey) {
        self.call(move |simulation, _| {
            simulation.physics.remove(key).unwrap();
        });
    }

    fn view(&self) -> &View<H::Error> {
        &self.runner.view
    }

    fn tick(&self) -> u64 {
        self.physics.simulation.physics.tick()
    }
}

struct Idle;

impl Hooks for Idle {
    type Error = &'static str;
}

/// Returns a body that moves a metre in each step at 100 Hz.
pub fn flyer() -> (Simulation, BodyKey) {
    let mut simulation = Simulation::new(Rate::hz(100));
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.1));
    (simulation, key)
}

fn x(both: &mut Both<Idle>, key: BodyKey, now: Duration) -> f32 {
    both.frame(now).pose(key).unwrap().translation.x
}
