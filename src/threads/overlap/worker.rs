//! The thread of an overlap.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use crate::physics::{Physics, StepPlan};
use crate::simulation::or_none;
use rapier::pipeline::PhysicsHooks;

/// A step to run, with Rapier's own hooks.
pub type Job = (
    Box<Physics>,
    StepPlan,
    Option<Arc<dyn PhysicsHooks + Send + Sync>>,
);

/// The physics after a step.
pub struct Done {
    pub physics: Box<Physics>,
    /// The number of forces that the step rejected, or `None` if it did not run to its end.
    pub rejected: Option<u64>,
    pub panic: Option<Payload>,
}

pub type Payload = Box<dyn Any + Send>;

/// Runs jobs until nobody can send more.
pub fn make_steps(jobs: Receiver<Job>, done: &Sender<Done>) {
    for (mut physics, plan, hooks) in jobs {
        let mut rejected = None;
        let step = || {
            // Hooks may panic when they are dropped, too.
            let hooks = hooks;
            rejected = Some(physics.make_step(plan, or_none(hooks.as_deref())));
        };
        let result = catch_unwind(AssertUnwindSafe(step));
        let step = Done {
            physics,
            rejected,
            panic: result.err(),
        };
        if done.send(step).is_err() {
            return;
        }
    }
}
