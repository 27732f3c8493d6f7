//! Runs the frames of the game and their steps, in order.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

use crate::ecs::StateNumber;
use crate::lock::own;
use crate::physics::{Physics, StepRecord};
use crate::simulation::{Hooks, or_no_hooks};
use crate::time::{Clock, FrameTime, Step};
use rapier::pipeline::PhysicsHooks;

use super::super::mailbox::{ClockReading, Update};
use super::{Overlap, StepThread, UnderWay};

impl Overlap {
    /// Runs the pending frames. If a step is under way that a frame does not need, because no step is due after it and
    /// the picture is still earlier, this frame only advances the displayed time, and runs after the step. If it does
    /// need the step, the game waits.
    pub(super) fn run_pending<H: Hooks + ?Sized>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.publish_if_replaced();
        loop {
            let StepThread::Busy(under_way) = &mut self.step_thread else {
                // No step is under way, so the next frame runs.
                let Some(frame_time) = self.pending.pop_front() else {
                    return Ok(());
                };
                self.run_frame(frame_time, hooks)?;
                continue;
            };
            let slack = self.view.slack();
            // The first pending frames wait for the step already, and its clock has counted them.
            let next_frame = self.pending.get(under_way.waiting_frames);
            let mut next_clock = under_way.clock.clone();
            if let Some(frame_time) = next_frame {
                next_clock.begin_frame(*frame_time);
            }
            if is_needed(under_way.step, &under_way.clock, slack)
                || (next_frame.is_some() && is_needed(under_way.step, &next_clock, slack))
            {
                self.finish_step(hooks)?;
            } else if next_frame.is_some() {
                under_way.waiting_frames += 1;
                self.view.receive(None, ClockReading::of_clock(&next_clock));
                under_way.clock = next_clock;
            } else {
                return Ok(());
            }
        }
    }

    /// Waits for the step under way, and runs all pending frames, with all of their steps, so that the simulation has
    /// its state. After an error, the frames that have not run stay pending, and after a panic of Rapier until the game
    /// has replaced the state.
    pub(super) fn finish<H: Hooks + ?Sized>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        let mut result = self.finish_step(hooks);
        while result.is_ok()
            && !self.simulation.physics.is_poisoned
            && let Some(frame_time) = self.pending.pop_front()
        {
            result = self.run_frame(frame_time, hooks);
            result = result.and_then(|()| self.finish_step(hooks));
        }
        // A hook that has failed or panicked, now or in an earlier call, has left its frame open.
        self.end_frame();
        result
    }

    /// Runs a frame, or its steps but the last, which it sends to the thread. [`finish_step`](Self::finish_step) then
    /// ends the frame.
    fn run_frame<H: Hooks + ?Sized>(
        &mut self,
        frame_time: FrameTime,
        hooks: &mut H,
    ) -> Result<(), H::Error> {
        frame_span!(self.simulation, frame_time.duration());
        // Later frames are pending if this one had to wait for a step, or if a hook of an earlier frame failed.
        let late = (self.now()).saturating_sub(self.simulation.clock().real_time());
        let result = (self.simulation).begin_frame_with(hooks, frame_time.late_by(late));
        // The view gets the time of the new frame.
        self.receive(None);
        // The hook before the frame may have replaced the state, even if it failed.
        self.publish_if_replaced();
        result?;
        while let Some(step) = self.simulation.next_step() {
            // Only the last new step of the frame runs on the thread.
            if step.is_resimulated || !step.is_last {
                self.simulation.run_step_with_hooks(hooks, step)?;
                // While later steps run, frames display this one.
                self.publish();
                continue;
            }
            // A rollback may have ended. Its steps have replaced events, and have brought back bodies whose removal the
            // view would display before the next state arrives.
            self.receive(None);
            (self.view).give_way_to(&mut self.simulation.physics);
            step_span!(step);
            let physics_hooks = self.simulation.call_before_step(hooks, step)?;
            // If the hook has replaced the state, even with one in an equal step, this step is dropped.
            if self.simulation.knows_physics() {
                self.send_step(step, physics_hooks);
                return Ok(());
            }
        }
        self.end_frame();
        Ok(())
    }

    /// Sends the physics to the thread, which runs this step with the hooks of Rapier.
    fn send_step(&mut self, step: Step, hooks: Option<Arc<dyn PhysicsHooks + Send + Sync>>) {
        // A copy of the clock runs on while the simulation has no physics.
        let mut clock = self.simulation.clock().clone();
        clock.next_step();
        let under_way = StepThread::Busy(UnderWay {
            step,
            clock,
            waiting_frames: 0,
        });
        let mut physics = std::mem::replace(&mut self.step_thread, under_way).into_spare();
        // This swaps the two: the simulation gets the empty state, and `physics` is the state to send.
        self.simulation.lend_physics(&mut physics);
        if let Some(jobs) = &self.jobs {
            // Sending cannot fail, because the thread waits for a job.
            let _ = jobs.send((physics, hooks));
        }
    }

    /// Waits for the step under way, calls the hook after it, and ends the frame. Does nothing if no step is under way.
    /// A panic of the step continues here.
    fn finish_step<H: Hooks + ?Sized>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        let StepThread::Busy(UnderWay { step, .. }) = self.step_thread else {
            return Ok(());
        };
        let done = own(&mut self.done)
            .recv()
            .expect("the thread ends only after this");
        let mut physics = done.physics;
        // This swaps the two: the simulation gets its state back, and `physics` is the empty one again.
        (self.simulation).return_physics(&mut physics, done.record);
        self.step_thread = StepThread::Idle(physics);
        if let Some(payload) = done.panic {
            resume_unwind(payload);
        }
        let result = {
            step_span!(step);
            self.simulation.call_after_step(hooks, step)
        };
        self.end_frame();
        result
    }

    /// Ends the frame and publishes its state, unless the thread has the physics.
    pub(super) fn end_frame(&mut self) {
        if matches!(self.step_thread, StepThread::Idle(_)) {
            self.simulation.close_frame();
            self.publish();
        }
    }

    /// Returns the number of the last published state.
    pub(in crate::threads) fn newest_state(&self) -> StateNumber {
        self.publisher.last_number
    }

    /// Returns the physics, unless the thread has it.
    pub(in crate::threads) fn present(&self) -> Option<&Physics> {
        let is_idle = matches!(self.step_thread, StepThread::Idle(_));
        is_idle.then_some(&self.simulation.physics)
    }

    /// Gives the view a state, if there is a new one, and the simulated time.
    fn receive(&mut self, update: Option<Update>) {
        (self.view).receive(update, ClockReading::of(&self.simulation));
    }

    /// Publishes the state if the game has replaced it or the simulation, so that frames display it at once.
    fn publish_if_replaced(&mut self) {
        if matches!(self.step_thread, StepThread::Idle(_))
            && self.publisher.detect_replaced(&mut self.simulation)
        {
            self.publish();
        }
    }

    /// Gives the view the present state, unless it displays the same, and the simulated time.
    pub(super) fn publish(&mut self) {
        self.publisher.detect_replaced(&mut self.simulation);
        let update = self.publisher.publish(&mut self.simulation);
        self.receive(update);
    }
}

/// Returns whether a frame at this clock needs the end of the step: because the next step is due, for its picture,
/// which is `slack` of a step later than in one thread, or because the clock is stopped.
fn is_needed(step: Step, clock: &Clock, slack: f32) -> bool {
    let length = step.end_time.saturating_sub(step.start_time);
    let displayed = (step.end_time).saturating_add(length.mul_f64(slack.into()));
    clock.due() > 0 || clock.time() >= displayed || clock.settings().stands_still()
}

/// The state whose current step the thread runs, and the hooks of Rapier.
pub type Job = (Box<Physics>, Option<Arc<dyn PhysicsHooks + Send + Sync>>);

pub struct Done {
    pub physics: Box<Physics>,
    /// The result of the step, or `None` if it did not run to its end.
    pub record: Option<StepRecord>,
    pub panic: Option<Payload>,
}

pub type Payload = Box<dyn Any + Send>;

/// Runs steps on the thread, and sends the states back, until nobody sends or receives any more. A panic is sent back
/// too.
pub fn run_steps(jobs: Receiver<Job>, done: &Sender<Done>) {
    for (mut physics, hooks) in jobs {
        let mut record = None;
        let run_step = || {
            // Hooks may panic when they are dropped, so they are dropped in here, where panics are caught.
            let hooks = hooks;
            // The thread runs no resimulated steps.
            span!("step", tick = physics.tick(), is_resimulated = false);
            record = physics.run_step(or_no_hooks(hooks.as_deref()));
        };
        let result = catch_unwind(AssertUnwindSafe(run_step));
        let finished = Done {
            physics,
            record,
            panic: result.err(),
        };
        if done.send(finished).is_err() {
            return;
        }
    }
}
