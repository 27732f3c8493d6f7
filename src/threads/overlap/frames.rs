//! The frames of an overlap: the steps that begin and end in each, and the states that they publish.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use crate::simulation::Hooks;
use crate::time::{Clock, Step};
use rapier::pipeline::PhysicsHooks;

use super::super::mailbox::{ClockReading, Update};
use super::{Overlap, UnderWay};

impl Overlap {
    /// Runs the pending frames, up to a step that still has time.
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

    /// If the game accessed the simulation while a step was under way, finishes that step and the frames that wait for
    /// it.
    pub(super) fn run_after_access<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        let Some(before) = self.under_way.as_mut().and_then(|it| it.before.take()) else {
            return Ok(());
        };
        if self.simulation.screen().is_some() {
            // The simulation was replaced, and the new one has its own screen. The step and these frames do not belong
            // to it.
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
        // Forces that were added meanwhile belong after the earlier frames, like these settings. The forces of a
        // restored state are part of it.
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

    /// Returns whether the step under way no longer belongs to this simulation.
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
                // While this step is run, frames display the previous one.
                self.simulation.physics.notice_edits();
                self.publish();
            }
            hooks.before_step(&mut self.simulation.physics, step)?;
            // The step is not run if the hook has replaced the value.
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
            // The thread is waiting for just this job.
            let _ = to.send((physics, plan, hooks));
        }
    }

    /// Waits until the value is back.
    pub(super) fn join(&mut self) {
        if let Some(UnderWay { step, .. }) = &self.under_way
            && self.spare.is_none()
        {
            let step = *step;
            let (physics, result) = self.from.recv().expect("the thread ends only after this");
            let rejected = result.as_ref().ok().copied();
            self.spare = Some(self.simulation.return_physics(physics, step, rejected));
            if let Err(payload) = result {
                self.under_way = None;
                resume_unwind(payload);
            }
        }
    }

    /// Finishes the step that was under way: calls the game's hook, and lets frames display the step.
    fn finish_step<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.join();
        let Some(UnderWay { step, .. }) = self.under_way.take() else {
            return Ok(());
        };
        let simulation = &mut self.simulation;
        // The hook after a step is called once, for its last run.
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

    /// Ends a frame and lets frames display the present state.
    pub(super) fn end_frame(&mut self) {
        if self.spare.is_some() {
            self.simulation.end_frame_unshown();
            self.publish();
        }
    }

    /// Reads the simulation's clock, and takes the published state, if there is one.
    fn receive(&mut self, update: Option<Update>) {
        (self.view).receive(update, ClockReading::of(self.simulation.clock()));
    }

    /// Detects that the simulation was replaced. The new one continues from now.
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

/// Returns whether a frame that ends at this time has to wait for the step, because it displays the step or runs the
/// next one.
fn is_needed(step: Step, clock: &Clock, slack: f32) -> bool {
    let length = step.end_time.saturating_sub(step.time);
    let displayed = (step.end_time).saturating_add(length.mul_f64(slack.into()));
    clock.due() > 0 || clock.time() >= displayed || clock.settings().stands_still()
}
