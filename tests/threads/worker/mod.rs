//! A runner without a thread, with a simulated clock: everything that depends on time.

// What frames display, and when.
mod shown;
// Visual errors in every host.
mod hosts;
// Calls, questions, other simulations.
mod orders;
// Pauses and speeds.
mod time;
// A thread that is late.
mod late;
// Errors and panics.
mod failures;
// Going back in time, while bodies come and go.
mod ways_back;
// Displayed states are complete.
mod copies;
// A game that asks for no frame.
mod unread;
// Commands between steps, and bodies that come and go in them.
mod commands;

use evenstep::ecs::EntityMap;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Failure, Runner, RunnerSettings, SendError, View, Worker};
use evenstep::time::{ClockSettings, Dropped, FrameTime};
use evenstep::{BodyKey, Correction, Hooks, Physics, Rate, Simulation, Smoothing, Step};
use scenes::{MS, ball, flyer_in_space, mixed};
use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::time::Duration;

/// Runs a worker and the frames of its runner on one thread, at times that the test passes.
struct Driver<H: Hooks>
where
    H::Error: Send,
{
    runner: Runner<H>,
    worker: Worker<H>,
    /// When the worker is to run again if the runner sends nothing before.
    next: Option<Duration>,
}

impl<H> Driver<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    fn new(simulation: Simulation, hooks: H) -> Self {
        Self::with(simulation, hooks, RunnerSettings::default())
    }

    fn with(simulation: Simulation, hooks: H, settings: RunnerSettings) -> Self {
        let now = simulation.clock().real_time();
        let (runner, mut worker) = Runner::without_thread(simulation, hooks, settings);
        let next = worker.run_until(now);
        Self {
            runner,
            worker,
            next,
        }
    }

    fn stop(self, now: Duration) -> (Simulation, H) {
        self.worker.stop(self.runner, now)
    }

    /// Runs the worker as a thread that is late: messages first, then all steps that are due.
    fn run(&mut self, now: Duration) -> Option<Duration> {
        loop {
            self.next = self.worker.run_until(now);
            if self.next.is_none_or(|next| next > now) {
                return self.next;
            }
        }
    }

    /// Runs the worker as a thread that is never late: each step when it is due. A message that was sent before is
    /// handled at the first of these times.
    fn in_time(&mut self, now: Duration) -> Option<Duration> {
        while let Some(next) = self.next.filter(|next| *next <= now) {
            self.next = self.worker.run_until(next);
        }
        self.run(now)
    }

    fn frame(&mut self, now: Duration) -> &View<H::Error> {
        self.runner.frame_at(now)
    }

    fn view(&self) -> &View<H::Error> {
        self.runner.view()
    }

    fn simulation(&self) -> &Simulation {
        self.worker.simulation()
    }

    fn physics(&self) -> &Physics {
        &self.simulation().physics
    }

    fn hooks(&self) -> &H {
        self.worker.hooks()
    }

    fn tick(&self) -> u64 {
        self.physics().tick()
    }

    fn call(&self, call: impl FnOnce(&mut Simulation, &mut H) + Send + 'static) {
        self.runner.call(call).unwrap();
    }

    /// Edits the simulation now.
    fn edit<T: Send + 'static>(
        &mut self,
        now: Duration,
        edit: impl FnOnce(&mut Simulation) -> T + Send + 'static,
    ) -> T {
        let (result, receiver) = channel();
        self.call(move |simulation, _| result.send(edit(simulation)).unwrap());
        self.run(now);
        receiver.try_recv().expect("the call has run")
    }

    fn set(&self, set: impl FnOnce(&mut ClockSettings) + Send + 'static) {
        self.call(|simulation, _| set(simulation.clock_settings_mut()));
    }

    fn pause(&self) {
        self.call(|simulation, _| simulation.pause());
    }

    fn resume(&self) {
        self.call(|simulation, _| simulation.resume());
    }

    fn step_once(&self) {
        self.call(|simulation, _| simulation.step_once());
    }

    fn set_speed(&self, speed: f64) {
        self.set(move |settings| settings.set_speed(speed).unwrap());
    }

    fn teleport(&self, key: BodyKey, to: Pose) {
        self.call(move |simulation, _| simulation.physics.teleport(key, to).unwrap());
    }

    fn remove(&self, key: BodyKey) {
        self.call(move |simulation, _| {
            simulation.physics.remove(key).unwrap();
        });
    }

    /// Removes a body as its entity does, which is no call.
    fn remove_with_entity(&mut self, key: BodyKey) {
        let mut entities = EntityMap::default();
        entities.insert(key, ());
        entities.remove_body(&mut self.runner, key, ());
    }

    fn failures(&mut self) -> Vec<Failure<H::Error>> {
        self.runner.failures()
    }
}

struct Idle;

impl Hooks for Idle {
    type Error = &'static str;
}

fn x(driver: &mut Driver<Idle>, key: BodyKey, now: Duration) -> f32 {
    driver.frame(now).pose(key).unwrap().translation.x
}

#[test]
fn a_worker_on_another_thread_gives_the_same_results() {
    let (simulation, key) = flyer_in_space();
    let mut driver = Driver::new(simulation.clone(), Idle);
    driver.run(MS(100));
    let (mut runner, mut worker) =
        Runner::without_thread(simulation, Idle, RunnerSettings::default());
    let run = move || {
        while worker
            .run_until(MS(100))
            .is_some_and(|next| next <= MS(100))
        {}
        worker
    };
    let worker = std::thread::spawn(run).join().unwrap();
    let pose = runner.frame_at(MS(102)).pose(key);
    assert_eq!(pose, driver.frame(MS(102)).pose(key));
    let (simulation, _) = worker.stop(runner, MS(102));
    assert_eq!(simulation.physics.tick(), driver.tick());
}

#[test]
#[should_panic(expected = "the runner has another worker")]
fn a_worker_does_not_stop_with_the_runner_of_another_one() {
    let [one, other] = [(); 2].map(|()| Driver::new(flyer_in_space().0, Idle));
    drop(one.worker.stop(other.runner, MS(10)));
}
