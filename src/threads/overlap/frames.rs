//! Runs the frames of the game and their steps, in order.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use crate::lock::own;
use crate::physics::{Physics, StepRecord};
use crate::simulation::{Hooks, or_no_hooks};
use crate::time::{Clock, FrameTime, Step};
use rapier::pipeline::PhysicsHooks;

use super::super::mailbox::{ClockReading, Update};
use super::{Lent, Overlap, UnderWay};

impl Overlap {
    /// Runs frames until the last one is displayed. Frames before the end of the step under way wait for it, and the
    /// game does not, unless a frame needs that step.
    pub(super) fn run<H: Hooks + ?Sized>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.publish_other();
        loop {
            let Lent::Away(under_way) = &mut self.lent else {
                let Some(frame_time) = self.pending.pop_front() else {
                    return Ok(());
                };
                self.run_frame(frame_time, hooks)?;
                continue;
            };
            let slack = self.view.slack();
            let next = self.pending.get(under_way.waiting);
            let mut clock = under_way.clock.clone();
            if let Some(frame_time) = next {
                clock.begin_frame(*frame_time);
            }
            if is_needed(under_way.step, &under_way.clock, slack)
                || (next.is_some() && is_needed(under_way.step, &clock, slack))
            {
                self.finish_step(hooks)?;
            } else if next.is_some() {
                under_way.waiting += 1;
                self.view.receive(None, ClockReading::of(&clock));
                under_way.clock = clock;
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn finish<H: Hooks + ?Sized>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        let waiting = match &self.lent {
            Lent::Here(_) => 0,
            Lent::Away(under_way) => under_way.waiting,
        };
        let mut result = self.finish_step(hooks);
        for _ in 0..waiting {
            if result.is_ok()
                && let Some(frame_time) = self.pending.pop_front()
            {
                result = self.run_frame(frame_time, hooks);
                result = result.and_then(|()| self.finish_step(hooks));
            }
        }
        // A hook may have failed or panicked.
        self.end_frame();
        result
    }

    fn run_frame<H: Hooks + ?Sized>(
        &mut self,
        frame_time: FrameTime,
        hooks: &mut H,
    ) -> Result<(), H::Error> {
        // Later frames wait if a hook of an earlier one has failed.
        let late = (self.now()).saturating_sub(self.simulation.clock().real_time());
        let result = (self.simulation).begin_frame_with(hooks, frame_time.late_by(late));
        self.receive(None);
        self.publish_other();
        result?;
        while let Some(step) = self.simulation.next_step() {
            if step.is_resimulated || !step.is_last {
                self.simulation.run_step_with_hooks(hooks, step)?;
                // While later steps run, frames display this one.
                self.publish();
                continue;
            }
            (self.view).replace_events(&mut self.simulation.physics.running.changes.events);
            hooks.before_step(&mut self.simulation.physics, step)?;
            // The step is not run if the hook has replaced the state.
            if self.simulation.physics.current_step() == Some(step) {
                self.send(step, hooks.physics_hooks());
                return Ok(());
            }
        }
        self.end_frame();
        Ok(())
    }

    fn send(&mut self, step: Step, hooks: Option<Arc<dyn PhysicsHooks + Send + Sync>>) {
        let mut clock = self.simulation.clock().clone();
        clock.count_step();
        let under_way = Lent::Away(UnderWay {
            step,
            clock,
            waiting: 0,
        });
        let mut physics = std::mem::replace(&mut self.lent, under_way).into_spare();
        self.simulation.lend_physics(&mut physics);
        if let Some(to) = &self.to {
            // The thread is waiting for just this job.
            let _ = to.send((physics, hooks));
        }
    }

    fn finish_step<H: Hooks + ?Sized>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        let Lent::Away(UnderWay { step, .. }) = self.lent else {
            return Ok(());
        };
        let done = own(&mut self.from)
            .recv()
            .expect("the thread ends only after this");
        let mut physics = done.physics;
        (self.simulation).return_physics(&mut physics, done.record);
        self.lent = Lent::Here(physics);
        if let Some(payload) = done.panic {
            resume_unwind(payload);
        }
        let result = hooks.after_step(&mut self.simulation.physics, step);
        self.end_frame();
        result
    }

    pub(super) fn end_frame(&mut self) {
        if matches!(self.lent, Lent::Here(_)) {
            self.simulation.close_frame();
            self.publish();
        }
    }

    fn receive(&mut self, update: Option<Update>) {
        (self.view).receive(update, ClockReading::of(self.simulation.clock()));
    }

    fn publish_other(&mut self) {
        if matches!(self.lent, Lent::Here(_))
            && self.publisher.detect_replaced(&mut self.simulation)
        {
            self.publish();
        }
    }

    pub(super) fn publish(&mut self) {
        self.publisher.detect_replaced(&mut self.simulation);
        let update = self.publisher.publish(&mut self.simulation);
        self.receive(update);
    }
}

/// Returns whether the end of this step is needed: for the next step, for a picture that is `slack` of a step later
/// than in one thread, or because the clock is stopped.
fn is_needed(step: Step, clock: &Clock, slack: f32) -> bool {
    let length = step.end_time.saturating_sub(step.start_time);
    let displayed = (step.end_time).saturating_add(length.mul_f64(slack.into()));
    clock.due() > 0 || clock.time() >= displayed || clock.settings().stands_still()
}

pub type Job = (Box<Physics>, Option<Arc<dyn PhysicsHooks + Send + Sync>>);

pub struct Done {
    pub physics: Box<Physics>,
    /// The result of the step, or `None` if it did not run to its end.
    pub record: Option<StepRecord>,
    pub panic: Option<Payload>,
}

pub type Payload = Box<dyn Any + Send>;

pub fn run_steps(jobs: Receiver<Job>, done: &Sender<Done>) {
    for (mut physics, hooks) in jobs {
        let mut record = None;
        let step = || {
            // Hooks may panic when they are dropped, too.
            let hooks = hooks;
            record = physics.run_step(or_no_hooks(hooks.as_deref()));
        };
        let result = catch_unwind(AssertUnwindSafe(step));
        let step = Done {
            physics,
            record,
            panic: result.err(),
        };
        if done.send(step).is_err() {
            return;
        }
    }
}
