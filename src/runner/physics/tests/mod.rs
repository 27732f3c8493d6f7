//! Both threads in one, with a clock of our own: what depends on time is tested here.

// What frames show, and when.
mod shown;
// Commands, questions, pauses.
mod orders;
// Errors and panics.
mod failures;
// What is handed over is whole.
mod copies;

use super::*;
use crate::pose::{Moment, Poses, Screen};
use crate::runner::mailbox::SOON;
use crate::runner::orders::{OrderSender, orders};
use crate::runner::{Starved, View};
use crate::{BodyKey, Event, Rate, Smoothing, Step};
use proptest::prelude::*;
use rapier::prelude::*;
use std::collections::BTreeMap;

const MS: fn(u64) -> Duration = Duration::from_millis;

/// Both threads, with a clock of our own.
struct Both<H: Hooks> {
    physics: Physics<H>,
    view: View<H::Error>,
    mailbox: Arc<Mailbox<H::Error>>,
    orders: OrderSender<Order<H>>,
}

impl<H: Hooks> Both<H> {
    fn new(simulation: Simulation, hooks: H) -> Self {
        Self::with(simulation, hooks, Starved::Hold)
    }

    fn with(simulation: Simulation, hooks: H, starved: Starved) -> Self {
        let mailbox = Arc::new(Mailbox::default());
        let settings = RunnerSettings {
            starved,
            ..RunnerSettings::default()
        };
        let (sender, orders) = orders(settings.commands);
        let to_read = Arc::clone(&mailbox);
        Self {
            physics: Physics::new(simulation, hooks, settings, mailbox, orders),
            view: View::new(settings, 0),
            mailbox: to_read,
            orders: sender,
        }
    }

    /// All that is due.
    fn physics(&mut self, now: Duration) -> Option<Duration> {
        loop {
            let next = self.physics.run_until(now);
            if next.is_none_or(|next| next > now) {
                return next;
            }
        }
    }

    fn frame(&mut self, now: Duration) -> &View<H::Error> {
        self.view.update(&self.mailbox, now);
        &self.view
    }

    fn order(&mut self, order: Order<H>) {
        self.orders.send(order).unwrap();
        assert!(self.physics.orders.fetch());
    }

    fn command(&mut self, command: Command<H>) {
        self.order(Order::Command(command));
    }

    fn call(&mut self, call: impl FnOnce(&mut Simulation, &mut H) + Send + 'static) {
        self.command(Command::Call(Box::new(call)));
    }

    fn key(&mut self) -> BodyKey {
        self.view.take_key(&self.mailbox).unwrap()
    }

    fn tick(&self) -> u64 {
        self.physics.simulation.tick()
    }
}

struct Idle;

impl Hooks for Idle {
    type Error = &'static str;
}

/// A metre in each of 100 steps a second.
pub fn flyer() -> (Simulation, BodyKey) {
    let mut simulation = Simulation::new(Rate::hz(100).unwrap());
    simulation.physics_mut().gravity = Vector::ZERO;
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
    let key = simulation.insert(body, ColliderBuilder::ball(0.1));
    (simulation, key)
}

fn x(both: &mut Both<Idle>, key: BodyKey, now: Duration) -> f32 {
    both.frame(now).pose(key).unwrap().translation.x
}
