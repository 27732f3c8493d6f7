//! What the physics' thread does, without the thread and the clock.

// What it hands over.
mod handed;
#[cfg(test)]
pub(super) mod tests;

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::simulation::{Hooks, Simulation};

use super::command::Command;
use super::mailbox::{Mail, Mailbox, Pace, State};
use super::orders::Orders;
use super::{Failure, Query, RunnerSettings};

/// The most steps that are made one after the other before the clock is read again.
const MOST_STEPS_AT_ONCE: u32 = 5;

/// The most keys that are reserved for bodies that are still to come.
const MOST_KEYS: usize = 1_024;

pub(super) struct Physics<H: Hooks> {
    simulation: Simulation,
    hooks: H,
    settings: RunnerSettings,
    pub orders: Orders<Order<H>>,
    /// Queries whose commands are part of the step at hand.
    asked: Vec<Query>,
    mailbox: Arc<Mailbox<H::Error>>,
    /// How many bodies there were at first and have been spawned since.
    spawned: u64,
    outgoing: Mail<H::Error>,
    /// When it was called last.
    now: Duration,
    /// How often another simulation was put in place of the one there was.
    replaced: u64,
    /// What was handed over, to be filled again once nobody else has it.
    sent: Vec<Arc<State>>,
    /// The step that has panicked.
    broken: Option<u64>,
}

/// What comes from the other thread.
pub(super) enum Order<H: Hooks> {
    Command(Command<H>),
    Query(Query),
    /// After a panic: go on from the state before.
    Recover,
}

impl<H: Hooks> Physics<H> {
    pub fn new(
        mut simulation: Simulation,
        hooks: H,
        settings: RunnerSettings,
        mailbox: Arc<Mailbox<H::Error>>,
        orders: Orders<Order<H>>,
    ) -> Self {
        let spawned: VecDeque<_> = simulation.bodies().map(|(key, _)| key).collect();
        let count = spawned.len() as u64;
        let outgoing = Mail {
            spawned,
            // One for each that can wait, so that there is always one to give out.
            keys: (0..settings.commands.min(MOST_KEYS))
                .map(|_| simulation.reserve_key())
                .collect(),
            ..Mail::default()
        };
        let mut physics = Self {
            simulation,
            hooks,
            settings,
            orders,
            asked: Vec::new(),
            mailbox,
            spawned: count,
            outgoing,
            now: Duration::ZERO,
            replaced: 0,
            sent: Vec::new(),
            broken: None,
        };
        physics.publish();
        // Nobody else is at the box yet.
        physics.hand_over();
        physics
    }

    /// What is left of it at the end.
    pub fn into_parts(mut self) -> (Simulation, H) {
        self.simulation.free_reserved_keys();
        (self.simulation, self.hooks)
    }

    /// Makes the steps that are due by `now`, in the real time of the simulation's clock. Gives when to call it
    /// again, if no order comes before that; `None`: only then.
    pub fn run_until(&mut self, now: Duration) -> Option<Duration> {
        self.now = now;
        for _ in 0..MOST_STEPS_AT_ONCE {
            if self.until_next_step().is_none() {
                self.stand_still();
            }
            if self.deadline().is_none_or(|next| next > now) {
                break;
            }
            self.make_due_step();
        }
        let again = self.hand_over();
        let next = self.deadline();
        next.into_iter().chain(again).min()
    }

    /// How much real time after the last frame the next step is due; `None` in a pause.
    fn until_next_step(&self) -> Option<Duration> {
        let until = self.simulation.clock().until_next_step();
        until.filter(|_| self.broken.is_none())
    }

    fn deadline(&self) -> Option<Duration> {
        Some(self.simulation.clock().real_time() + self.until_next_step()?)
    }

    fn make_due_step(&mut self) {
        let Some(due) = self.deadline() else {
            return;
        };
        // So far behind that it is not made up for: the steps are due later from now on.
        let lag = self.now.saturating_sub(due);
        if lag > self.settings.max_lag {
            self.simulation.skip_real_time(lag);
            self.outgoing.dropped += lag;
        }
        let due = self.deadline();
        self.run_orders();
        // Not if there was a pause among them, another speed, or another simulation.
        if let Some(until) = self.until_next_step().filter(|_| self.deadline() == due) {
            self.make_step(until);
        }
    }

    /// In a pause what waits is done at once, and shown.
    fn stand_still(&mut self) {
        if self.broken.is_none() {
            let passed = self.now.saturating_sub(self.simulation.clock().real_time());
            self.make_frame(passed);
        }
        // Only another thread changes anything in a pause.
        let waits = !self.orders.is_empty() || !self.asked.is_empty();
        let is_known = self.outgoing.pace.speed == 0.0 && !waits;
        self.run_orders();
        if self.broken.is_none() && !is_known {
            self.answer_in_a_pause();
            if self.until_next_step().is_some() || self.make_frame(Duration::ZERO) {
                self.publish();
            }
        }
    }

    fn run_orders(&mut self) {
        while let Some(order) = self.orders.pop() {
            match order {
                Order::Command(command) => self.run(command),
                Order::Query(query) => self.asked.push(query),
                Order::Recover => self.recover(),
            }
        }
    }

    fn run(&mut self, command: Command<H>) {
        if let Command::Spawn { key, .. } = command {
            self.outgoing.spawned.push_back(key);
            self.spawned += 1;
            let key = self.simulation.reserve_key();
            self.outgoing.keys.push(key);
        }
        if self.broken.is_some() {
            return;
        }
        let before = at(&self.simulation);
        let (simulation, hooks) = (&mut self.simulation, &mut self.hooks);
        match catch_unwind(AssertUnwindSafe(|| command.run(simulation, hooks))) {
            Ok(is_done) => self.outgoing.lost_spawns += u64::from(!is_done),
            Err(payload) => self.fail(self.simulation.tick(), payload),
        }
        if at(&self.simulation) != before {
            self.replaced += 1;
            self.sent.clear();
            self.simulation.set_real_time(self.now);
        }
    }

    fn make_step(&mut self, until: Duration) {
        let tick = self.simulation.tick();
        if !self.make_frame(until) {
            return;
        }
        let events = self.simulation.events();
        if !events.is_empty() {
            self.outgoing.events.push_back((tick, events.clone()));
        }
        self.publish();
        for query in self.asked.drain(..) {
            answer(query, &self.simulation, &mut self.outgoing.failures);
        }
    }

    /// A frame of the simulation, with the steps that are due. Gives `false` after a panic.
    fn make_frame(&mut self, frame_time: Duration) -> bool {
        span!(
            "frame",
            number = self.simulation.frame().number + 1,
            frame_time = frame_time.as_secs_f64()
        );
        let tick = self.simulation.tick();
        let (simulation, hooks) = (&mut self.simulation, &mut self.hooks);
        let make = || {
            begin_frame(simulation, hooks, frame_time)?;
            simulation.make_steps(hooks)
        };
        match catch_unwind(AssertUnwindSafe(make)) {
            Ok(Ok(())) => (),
            Ok(Err(error)) => self
                .outgoing
                .failures
                .push_back(Failure::Hook { tick, error }),
            Err(payload) => {
                self.fail(tick, payload);
                return false;
            }
        }
        self.simulation.end_frame();
        true
    }

    /// In the step of that tick, or in the hook after it.
    fn fail(&mut self, tick: u64, payload: Box<dyn Any + Send>) {
        self.broken = Some(tick);
        // It is a pause: no state is on its way.
        self.outgoing.pace.speed = 0.0;
        self.outgoing
            .failures
            .push_back(Failure::Panic { tick, payload });
        // Nobody would answer them.
        self.asked.clear();
    }

    fn recover(&mut self) {
        if let Some(tick) = self.broken {
            // A hook's panic leaves the frame open, Rapier's the world broken.
            self.simulation.end_frame();
            // Of a step that a command has panicked before, there is only the state of the one before that.
            let newest = self.simulation.rewindable().rfind(|kept| *kept <= tick);
            if newest.is_some_and(|newest| self.simulation.rewind(newest).is_ok()) {
                self.broken = None;
            }
        }
    }

    /// Queries see what was done in the pause: on a copy, as the world itself learns of it in the next step.
    fn answer_in_a_pause(&mut self) {
        if !self.asked.is_empty() {
            let copy = self.simulation.with_fresh_queries();
            for query in self.asked.drain(..) {
                answer(query, &copy, &mut self.outgoing.failures);
            }
        }
    }

    fn publish(&mut self) {
        self.outgoing.pace = Pace::of(&self.simulation);
        let mut state = self.free_state();
        let filled = Arc::get_mut(&mut state).expect("nobody else has it");
        filled.fill(&self.simulation, self.settings.starved);
        (filled.replaced, filled.spawned) = (self.replaced, self.spawned);
        self.sent.push(Arc::clone(&state));
        self.outgoing.states.push_back(state);
    }

    /// One that nobody has: there are never many more than wait and are shown.
    fn free_state(&mut self) -> Arc<State> {
        let free = self
            .sent
            .iter_mut()
            .position(|state| Arc::get_mut(state).is_some());
        free.map_or_else(Arc::default, |free| self.sent.swap_remove(free))
    }

    /// Gives when to come again, if the mailbox is being read in this moment.
    fn hand_over(&mut self) -> Option<Duration> {
        (self.mailbox).put(&mut self.outgoing, &self.settings, self.now)
    }
}

/// The number of a simulation's last frame, and its real time. Only its runner makes frames: what is at another one is
/// another simulation.
pub(super) fn at(simulation: &Simulation) -> (u64, Duration) {
    (simulation.frame().number, simulation.clock().real_time())
}

/// Begins a frame of that time, whatever limits the game has set. They stay set: a saved state has them.
pub(super) fn begin_frame<H: Hooks>(
    simulation: &mut Simulation,
    hooks: &mut H,
    frame_time: Duration,
) -> Result<(), H::Error> {
    simulation.clock_settings_mut().lift_limits(true);
    let before = AssertUnwindSafe(|| hooks.before_frame(simulation, frame_time));
    let result = catch_unwind(before).unwrap_or_else(|payload| {
        simulation.clock_settings_mut().lift_limits(false);
        resume_unwind(payload)
    });
    simulation.begin_frame(frame_time);
    result
}

/// A question that panics has changed nothing: the game goes on.
fn answer<E>(query: Query, simulation: &Simulation, failures: &mut VecDeque<Failure<E>>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| query(simulation))) {
        let tick = simulation.tick();
        failures.push_back(Failure::Question { tick, payload });
    }
}
