//! What the physics' thread does, without the thread and the clock.

#[cfg(test)]
pub(super) mod tests;

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::key::BodyKey;
use crate::simulation::{Hooks, Simulation};

use super::failure::Failure;
use super::mailbox::{ClockReading, Mail, Mailbox, discard};
use super::orders::Orders;
use super::publisher::Publisher;
use super::runner_settings::RunnerSettings;

/// A function for [`Runner::call`](super::Runner::call).
pub type Call<H> = Box<dyn FnOnce(&mut Simulation, &mut H) + Send>;

/// A question to the physics, which gets the simulation after the step in which it is answered.
type Query = Box<dyn FnOnce(&Simulation) + Send>;

/// The most steps that are made one after the other before the clock is read again.
const MOST_STEPS_AT_ONCE: u32 = 5;

pub(super) struct Worker<H: Hooks> {
    simulation: Simulation,
    hooks: H,
    settings: RunnerSettings,
    pub orders: Orders<Order<H>>,
    /// Queries whose commands are part of the step at hand.
    asked: Vec<Query>,
    mailbox: Arc<Mailbox<H::Error>>,
    outgoing: Mail<H::Error>,
    /// When it was called last.
    now: Duration,
    publisher: Publisher,
    /// The step that has panicked.
    broken: Option<u64>,
    /// Bodies of entities that went, and at which tick, since the newest state that is kept: that state has them.
    removed: Vec<(u64, BodyKey)>,
}

/// What comes from the other thread.
pub(super) enum Order<H: Hooks> {
    Call(Call<H>),
    Query(Query),
    /// [`Physics::remove`](crate::Physics::remove) of each.
    RemoveAll(Vec<BodyKey>),
    /// After a panic: go on from the state before.
    Recover,
}

impl<H: Hooks> Worker<H> {
    pub fn new(
        mut simulation: Simulation,
        hooks: H,
        settings: RunnerSettings,
        mailbox: Arc<Mailbox<H::Error>>,
        orders: Orders<Order<H>>,
    ) -> Self {
        drop(simulation.take_screen());
        let mut physics = Self {
            publisher: Publisher::new(&simulation),
            simulation,
            hooks,
            settings,
            orders,
            asked: Vec::new(),
            mailbox,
            outgoing: Mail::default(),
            now: Duration::ZERO,
            broken: None,
            removed: Vec::new(),
        };
        physics.publish();
        // Nobody else is at the box yet.
        physics.hand_over();
        physics
    }

    /// The end, with the time that has passed by then: what goes on from there does not stand still for that long.
    pub fn end(mut self, now: Duration) -> (Simulation, H) {
        self.now = now;
        self.pass_time();
        self.into_parts()
    }

    /// What is left of it.
    pub fn into_parts(mut self) -> (Simulation, H) {
        discard(std::iter::from_fn(|| self.orders.pop()));
        discard(self.asked);
        discard(self.outgoing.failures);
        (self.simulation, self.hooks)
    }

    /// Makes the steps that are due by `now`, in the real time of the simulation's clock. Gives when to call it
    /// again, if no order comes before that; `None`: only then.
    pub fn run_until(&mut self, now: Duration) -> Option<Duration> {
        self.now = now;
        // What is the game's may panic wherever it is dropped.
        let steps = AssertUnwindSafe(|| self.make_due_steps());
        if let Err(payload) = catch_unwind(steps) {
            self.fail(self.simulation.physics.tick(), payload);
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
        let real_time = self.simulation.clock().real_time();
        Some(real_time.saturating_add(self.until_next_step()?))
    }

    fn make_due_steps(&mut self) {
        for _ in 0..MOST_STEPS_AT_ONCE {
            self.carry_out_orders();
            if self.deadline().is_none_or(|next| next > self.now) {
                break;
            }
            self.make_due_step();
        }
    }

    fn make_due_step(&mut self) {
        let Some(due) = self.deadline() else {
            return;
        };
        // So far behind that it is not made up for: the steps are due later from now on.
        let lag = self.now.saturating_sub(due);
        if lag > self.settings.max_lag {
            self.drop_lag(lag);
        }
        if let Some(until) = self.until_next_step() {
            self.make_step(until);
        }
    }

    fn drop_lag(&mut self, lag: Duration) {
        self.simulation.skip_real_time(lag);
        self.outgoing.dropped = self.outgoing.dropped.saturating_add(lag);
    }

    /// What waits is done at once, between two steps: at the settings of the clock until now time has passed, at those
    /// that are set goes on.
    fn carry_out_orders(&mut self) {
        if self.orders.is_empty() {
            return;
        }
        self.pass_time();
        let speed = ClockReading::of(self.simulation.clock()).speed;
        self.run_orders();
        if ClockReading::of(self.simulation.clock()).speed.to_bits() != speed.to_bits() {
            // The steps that are still due until now are due at the earlier speed: they are not made.
            let real_time = self.simulation.clock().real_time();
            self.drop_lag(self.now.saturating_sub(real_time));
        }
        if self.broken.is_none() && !self.is_step_near() {
            // What was done is to be seen, and no step will show it.
            if self.make_frame(Duration::ZERO) {
                self.publish();
                self.answer_between_steps();
            }
        }
        self.outgoing.reading = self.reading();
    }

    /// Lets the time pass until now, or until right before the next step.
    fn pass_time(&mut self) {
        let passed = (self.now).saturating_sub(self.simulation.clock().real_time());
        let passed = match self.until_next_step() {
            Some(until) => passed.min(until.saturating_sub(Duration::from_nanos(1))),
            None => passed,
        };
        if !passed.is_zero() && self.broken.is_none() {
            self.make_frame(passed);
        }
    }

    /// Whether the next step comes as soon as at speed 1, or sooner.
    fn is_step_near(&self) -> bool {
        let period = self.simulation.clock().settings().rate().period();
        let until = self.until_next_step();
        until.is_some_and(|until| until <= period)
    }

    fn run_orders(&mut self) {
        while let Some(order) = self.orders.pop() {
            match order {
                Order::Call(call) => self.run(call),
                Order::Query(query) => self.asked.push(query),
                Order::RemoveAll(keys) => self.remove_all(keys),
                Order::Recover => self.recover(),
            }
        }
    }

    fn run(&mut self, call: Call<H>) {
        if self.broken.is_some() {
            return discard([call]);
        }
        let (simulation, hooks) = (&mut self.simulation, &mut self.hooks);
        let result = catch_unwind(AssertUnwindSafe(|| call(simulation, hooks)));
        if let Err(payload) = result {
            self.fail(self.simulation.physics.tick(), payload);
        }
        self.notice_other();
    }

    fn make_step(&mut self, until: Duration) {
        let run = self.simulation.id();
        if !self.make_frame(until) {
            return;
        }
        // Those of another simulation, which a hook has put in place of this one, are of another time.
        let events = self.simulation.events();
        if let Some(first) = events
            .as_slice()
            .first()
            .filter(|_| self.simulation.id() == run)
        {
            let events = (first.tick(), events.as_slice().to_vec());
            self.outgoing.events.push_back(events);
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
            number = self.simulation.frame().number.saturating_add(1),
            frame_time = frame_time.as_secs_f64()
        );
        let tick = self.simulation.clock().tick();
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
        self.notice_other();
        self.simulation.end_frame_unshown();
        true
    }

    /// In the step of that tick, or in the hook after it.
    fn fail(&mut self, tick: u64, payload: Box<dyn Any + Send>) {
        self.broken = Some(tick);
        self.outgoing.reading = self.reading();
        self.outgoing
            .failures
            .push_back(Failure::Panic { tick, payload });
        // Nobody would answer them.
        discard(self.asked.drain(..));
    }

    fn recover(&mut self) {
        if let Some(tick) = self.broken {
            // A hook's panic leaves the frame open, Rapier's the world broken.
            self.simulation.end_frame_unshown();
            // Of a step that a command has panicked before, there is only the state of the one before that.
            let newest = self.simulation.newest_kept(tick);
            if newest.is_some_and(|newest| self.simulation.rewind(newest).is_ok()) {
                self.broken = None;
                for (_, key) in std::mem::take(&mut self.removed) {
                    self.simulation.physics.remove(key);
                }
            }
        }
    }

    fn remove_all(&mut self, keys: Vec<BodyKey>) {
        let tick = self.simulation.physics.tick();
        let newest = self.simulation.newest_kept(self.broken.unwrap_or(tick));
        (self.removed).retain(|(at, _)| newest.is_some_and(|newest| newest <= *at));
        for key in keys {
            self.simulation.physics.remove(key);
            self.removed.push((tick, key));
        }
    }

    /// Another simulation or state, which a call or a hook has put in place of this one, goes on from now.
    fn notice_other(&mut self) {
        if self.publisher.notice_other(&mut self.simulation) {
            self.simulation.set_real_time(self.now);
        }
    }

    /// Queries see what was done since the last step: on a copy, as the world itself learns of it in the next one.
    fn answer_between_steps(&mut self) {
        if !self.asked.is_empty() {
            self.simulation.with_fresh_queries(|copy| {
                for query in self.asked.drain(..) {
                    answer(query, copy, &mut self.outgoing.failures);
                }
            });
        }
    }

    /// Hands the state over, if it is not the one that was.
    fn publish(&mut self) {
        self.outgoing.reading = self.reading();
        let update = self.publisher.publish(&mut self.simulation);
        self.outgoing.states.extend(update);
    }

    fn reading(&self) -> ClockReading {
        let mut reading = ClockReading::of(self.simulation.clock());
        if self.broken.is_some() {
            // As in a pause: no state is on its way.
            reading.speed = 0.0;
        }
        reading
    }

    /// Gives when to come again, if the mailbox is being read in this moment.
    fn hand_over(&mut self) -> Option<Duration> {
        (self.mailbox).put(&mut self.outgoing, &self.settings, self.now)
    }
}

/// Begins a frame of that time, whatever limits the game has set. They stay set: a saved state has them.
fn begin_frame<H: Hooks>(
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
        let tick = simulation.physics.tick();
        failures.push_back(Failure::Question { tick, payload });
    }
}
