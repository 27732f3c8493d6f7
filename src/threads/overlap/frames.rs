//! The frames of an overlap: which steps begin and end in each, and what they publish.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use crate::simulation::Hooks;
use crate::time::{Clock, Step};
use rapier::pipeline::PhysicsHooks;

use super::super::mailbox::{ClockReading, Update};
use super::{Overlap, UnderWay};

impl Overlap {
    /// Works through the pending frames, up to a step that has time yet.
    pub(super) fn run<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.notice_other();
        loop {
            if let Some(under_way) = &mut self.under_way {
                let slack = self.view.slack();
                let next = self.pending.iter_mut().find(|frame| !frame.waits);
                let mut clock = under_way.clock.clone();
                if let Some(frame) = &next {
                    clock.begin_frame(frame.time);
                }
                if is_needed(under_way.step, &under_way.clock, slack)
                    || (next.is_some() && is_needed(under_way.step, &clock, slack))
                {
                    self.finish_step(hooks)?;
                } else if let Some(frame) = next {
                    frame.waits = true;
                    self.view.receive(None, ClockReading::of(&clock));
                    under_way.clock = clock;
                } else {
                    return Ok(());
                }
            } else if let Some(frame) = self.pending.pop_front() {
                self.run_frame(frame.time, hooks)?;
            } else {
                return Ok(());
            }
        }
    }

    /// If the game had the simulation while a step was under way: finishes that step, and the frames that wait for it.
    pub(super) fn run_after_access<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        let Some(before) = self.under_way.as_mut().and_then(|it| it.before.take()) else {
            return Ok(());
        };
        if self.simulation.screen().is_some() {
            // Another simulation, which brings its own: the step and these frames are none of it.
            self.under_way = None;
            self.pending.retain(|frame| !frame.waits);
            return Ok(());
        }
        self.simulation.notice_physics();
        if self.is_unmade() {
            self.under_way = None;
        }
        let simulation = &mut self.simulation;
        let after = simulation.clock().settings().clone();
        *simulation.clock_settings_mut() = before.clone();
        // Like these settings, forces that were added meanwhile come after the frames from before. Those of a state that was
        // restored are part of it.
        let is_present = !simulation.is_redoing() && self.under_way.is_some();
        let forces = &mut simulation.physics.forces;
        let pushes = is_present.then(|| forces.take_since_frame());
        let origin = simulation.physics.origin;
        let result = self.finish_waiting(hooks);
        let simulation = &mut self.simulation;
        simulation.clock_settings_mut().adopt(&before, &after);
        if let Some(pushes) = pushes {
            let by = -simulation.physics.origin.from(&origin);
            simulation.physics.forces.put_back(pushes, by);
        }
        result
    }

    fn finish_waiting<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.finish_step(hooks)?;
        let waiting = self.pending.iter().filter(|frame| frame.waits).count();
        for _ in 0..waiting {
            if let Some(frame) = self.pending.pop_front() {
                self.run_frame(frame.time, hooks)?;
                self.finish_step(hooks)?;
            }
        }
        Ok(())
    }

    /// Whether the step that was under way is none of this simulation any more.
    fn is_unmade(&self) -> bool {
        let Some(under_way) = &self.under_way else {
            return true;
        };
        let is_elsewhere = self.simulation.physics.tick() != under_way.step.tick + 1;
        self.publisher.is_other(&self.simulation)
            || (is_elsewhere && self.simulation.steps_to_resimulate() == 0)
    }

    fn run_frame<H: Hooks>(&mut self, frame_time: Duration, hooks: &mut H) -> Result<(), H::Error> {
        let simulation = &mut self.simulation;
        let interrupted = simulation.interrupt_frame();
        let result = hooks.before_frame(simulation, frame_time);
        simulation.continue_interrupted(interrupted);
        simulation.open_frame(frame_time);
        self.receive(None);
        result?;
        while let Some(step) = self.simulation.next_step() {
            if step.is_resimulated || !step.is_last {
                self.simulation.make_one(hooks, step)?;
                continue;
            }
            if self.simulation.frame().steps > 0 {
                // While this step is made, frames display the one before it.
                self.simulation.physics.notice_edits();
                self.publish();
            }
            hooks.before_step(&mut self.simulation.physics, step)?;
            // Not if the hook has replaced the value.
            if self.simulation.physics.current_step() == Some(step) {
                self.send(step, hooks.physics_hooks());
                return Ok(());
            }
        }
        self.notice_other();
        self.end_frame();
        Ok(())
    }

    fn send(&mut self, step: Step, hooks: Option<Arc<dyn PhysicsHooks + Send + Sync>>) {
        let spare = self.spare.take().unwrap_or_default();
        let (physics, plan) = self.simulation.lend_physics(step, spare);
        for frame in &mut self.pending {
            frame.waits = false;
        }
        self.under_way = Some(UnderWay {
            step,
            clock: self.simulation.clock().clone(),
            before: None,
        });
        if let Some(to) = &self.to {
            // The thread waits for just this.
            let _ = to.send((physics, plan, hooks));
        }
    }

    /// Waits until the value is back.
    pub(super) fn join(&mut self) {
        if let Some(UnderWay { step, .. }) = &self.under_way
            && self.spare.is_none()
        {
            let step = *step;
            let (physics, result) = self.from.recv().expect("the thread ends after this");
            let rejected = result.as_ref().ok().copied();
            self.spare = Some(self.simulation.return_physics(physics, step, rejected));
            if let Err(payload) = result {
                self.under_way = None;
                resume_unwind(payload);
            }
        }
    }

    /// The step that was under way is over: the game reacts to it, and frames display it.
    fn finish_step<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.join();
        let Some(UnderWay { step, .. }) = self.under_way.take() else {
            return Ok(());
        };
        let simulation = &mut self.simulation;
        // The hook after it is called once: by the last run of it.
        let is_again = simulation.steps_to_resimulate() > 0 || simulation.has_resimulated();
        let mut result = simulation.resimulate_due(hooks);
        if !is_again && simulation.physics.tick() == step.tick + 1 {
            simulation.physics.react_to_step();
            result = hooks.after_step(&mut simulation.physics, step);
            simulation.settle();
        }
        self.notice_other();
        self.publish();
        result
    }

    /// Frames display from now on what there is now.
    pub(super) fn end_frame(&mut self) {
        if self.spare.is_some() {
            self.simulation.end_frame_unshown();
            self.publish();
        }
    }

    /// Reads the simulation's clock, and takes what was published, if anything was.
    fn receive(&mut self, update: Option<Update>) {
        (self.view).receive(update, ClockReading::of(self.simulation.clock()));
    }

    /// A simulation that is another one goes on from now.
    fn notice_other(&mut self) {
        if self.spare.is_some() && self.publisher.notice_other(&mut self.simulation) {
            self.under_way = None;
            self.publish();
        }
    }

    pub(super) fn publish(&mut self) {
        let update = self.publisher.publish(&mut self.simulation);
        self.receive(update);
    }
}

/// Whether a frame that ends at this time has to wait for the step: because it displays the step, or makes the next one.
fn is_needed(step: Step, clock: &Clock, slack: f32) -> bool {
    let length = step.end_time.saturating_sub(step.time);
    let displayed = (step.end_time).saturating_add(length.mul_f64(slack.into()));
    clock.due() > 0 || clock.time() >= displayed || clock.settings().stands_still()
}
