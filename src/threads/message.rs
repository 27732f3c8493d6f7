//! Messages from a runner to its worker.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

use crate::key::BodyKey;
use crate::simulation::{Hooks, Simulation};

use super::failure::Failure;

/// The type of a function for [`Runner::call`](super::Runner::call).
pub type Call<H> = Box<dyn FnOnce(&mut Simulation, &mut H) + Send>;

/// A question, which gets the simulation after the step in which it is answered.
pub(super) type Query = Box<dyn FnOnce(&Simulation) + Send>;

pub(super) type Removals = Arc<Mutex<Vec<BodyKey>>>;

pub(super) enum Message<H: Hooks> {
    Call(Call<H>),
    Query(Query),
    RemoveAll(Removals),
    Recover,
}

/// Answers a question. A question that panics has changed nothing, so the game continues.
pub(super) fn answer<E>(
    query: Query,
    simulation: &Simulation,
    failures: &mut VecDeque<Failure<E>>,
) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| query(simulation))) {
        let tick = simulation.physics.tick();
        failures.push_back(Failure::Ask { tick, payload });
    }
}
