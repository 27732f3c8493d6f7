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
    Physics,
    StepPlan,
    Option<Arc<dyn PhysicsHooks + Send + Sync>>,
);

/// A step that was run, if nothing panicked, and the number of forces that it rejected.
pub type Done = (Physics, Result<u64, Payload>);

pub type Payload = Box<dyn Any + Send>;

/// Runs jobs until nobody can send more.
pub fn make_steps(jobs: Receiver<Job>, done: &Sender<Done>) {
    for (mut physics, plan, hooks) in jobs {
        let step = || {
            // Hooks may panic when they are dropped, too.
            let hooks = hooks;
            physics.make_step(plan, or_none(hooks.as_deref()))
        };
        let result = catch_unwind(AssertUnwindSafe(step));
        if done.send((physics, result)).is_err() {
            return;
        }
    }
}
