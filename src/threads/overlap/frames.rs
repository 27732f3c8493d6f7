//! The frames of an overlap: which steps begin and end in each, and what they publish.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use crate::simulation::{Hooks, Simulation};
use crate::time::Step;
use rapier::pipeline::PhysicsHooks;

use super::super::mailbox::{ClockReading, Update};
use super::{Overlap, UnderWay};

impl Overlap {
    /// Makes what the frames so far have made due, but for the step that has time yet.
    pub(super) fn go_on<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.notice_other();
        loop {
            if let Some(under_way) = &self.under_way {
                if under_way.due > self.shown_time() && self.change.is_none() {
                    return Ok(());
                }
                self.finish_step(hooks)?;
            } else if self.here().is_in_frame() {
                self.begin_step(hooks)?;
            } else if let Some(frame_time) = self.waiting.pop_front() {
                self.begin_frame(frame_time, hooks)?;
            } else {
                return Ok(());
            }
        }
    }

    /// If the game had the simulation while a step was under way: that one is over, and the frames that waited for it
    /// are those from before.
    pub(super) fn go_on_after_access<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.change_settings();
        let Some(before) = self.before.take() else {
            return Ok(());
        };
        self.here().notice_physics();
        if self.is_unmade() {
            self.under_way = None;
            self.waiting.clear();
            return Ok(());
        }
        let simulation = self.here();
        let settings = simulation.clock_settings_mut();
        let after = std::mem::replace(settings, before.clone());
        // Like these settings, forces that were added meanwhile come after the frames from before. Those of a state that was gone
        // back to are its own.
        let is_present = !simulation.is_redoing();
        let forces = &mut simulation.physics.forces;
        let pushes = is_present.then(|| forces.take_since_frame());
        let origin = simulation.origin();
        self.change = Some((before, after));
        let result = self.go_on(hooks);
        self.change_settings();
        if let (Some(simulation), Some(pushes)) = (&mut self.simulation, pushes) {
            let by = -simulation.origin().from(&origin);
            simulation.physics.forces.put_back(pushes, by);
        }
        result
    }

    /// Whether the step that was under way is none of this simulation any more.
    fn is_unmade(&self) -> bool {
        let (Some(simulation), Some(under_way)) = (&self.simulation, &self.under_way) else {
            return true;
        };
        let is_elsewhere = simulation.physics.tick() != under_way.step.tick + 1;
        self.publisher.is_other(simulation)
            || (is_elsewhere && simulation.steps_to_resimulate() == 0)
    }

    /// Sets what the game has set meanwhile.
    pub(super) fn change_settings(&mut self) {
        if let Some((before, after)) = self.change.take() {
            let settings = self.here().clock_settings_mut();
            settings.adopt(&before, &after);
        }
    }

    fn begin_frame<H: Hooks>(
        &mut self,
        frame_time: Duration,
        hooks: &mut H,
    ) -> Result<(), H::Error> {
        if let Some(simulation) = &self.simulation {
            self.publisher.begin_frame(simulation);
        }
        let simulation = self.here();
        let result = hooks.before_frame(simulation, frame_time);
        simulation.begin_frame(frame_time);
        self.receive(None);
        result
    }

    /// Lets the other thread make the next step of the frame that is open; if none is due, ends the frame.
    fn begin_step<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        while let Some(step) = self.here().next_step() {
            let simulation = self.here();
            if step.is_resimulated {
                simulation.make_one(hooks, step)?;
                continue;
            }
            if step.is_last && simulation.frame().steps > 0 {
                // While it is made, frames show the step before it.
                simulation.physics.notice_edits();
                self.publish();
            }
            let simulation = self.here();
            hooks.before_step(&mut simulation.physics, step)?;
            // Not if the hook has replaced the value.
            if simulation.physics.current_step() == Some(step) {
                self.send(step, hooks.physics_hooks());
                return Ok(());
            }
        }
        self.notice_other();
        self.end_frame();
        Ok(())
    }

    fn send(&mut self, step: Step, hooks: Option<Arc<dyn PhysicsHooks + Send + Sync>>) {
        // The hook may have set another speed.
        self.receive(None);
        let slack = self.view.slack();
        let clock = self.here().clock();
        let length = step.end_time.saturating_sub(step.time);
        let end = (step.end_time).saturating_add(length.mul_f64(slack.into()));
        let wait = end.saturating_sub(clock.time()).as_secs_f64() / clock.settings().speed();
        // The next one is due at once, or nobody knows when.
        let is_next_due = !step.is_last || clock.settings().is_paused();
        let wait = if is_next_due { 0.0 } else { wait };
        let wait = Duration::try_from_secs_f64(wait).unwrap_or_default();
        let due = self.view.real_time().saturating_add(wait);
        if let (Some(simulation), Some(to)) = (self.simulation.take(), &self.to) {
            self.under_way = Some(UnderWay { step, due });
            // The thread waits for just this.
            let _ = to.send((simulation, hooks));
        }
    }

    pub(super) fn join(&mut self) {
        if self.simulation.is_none() {
            let (simulation, result) = self.from.recv().expect("the thread ends after this");
            self.simulation = Some(simulation);
            if let Err(payload) = result {
                self.under_way = None;
                resume_unwind(payload);
            }
        }
    }

    /// The simulation, after a [`join`](Self::join).
    fn here(&mut self) -> &mut Simulation {
        self.simulation.as_mut().expect("it was joined")
    }

    /// The step that was under way is over: the game reacts to it, and frames show it.
    fn finish_step<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.join();
        let Some(UnderWay { step, .. }) = self.under_way.take() else {
            return Ok(());
        };
        let simulation = self.here();
        simulation.resume_frame();
        // The hook after it is called once: by the last run of it.
        let is_again = simulation.steps_to_resimulate() > 0 || simulation.has_resimulated();
        while simulation.steps_to_resimulate() > 0
            && let Some(step) = simulation.next_step()
        {
            simulation.make_one(hooks, step)?;
        }
        // Not if it was unmade.
        if !is_again && simulation.physics.tick() == step.tick + 1 {
            hooks.after_step(&mut simulation.physics, step)?;
        }
        self.notice_other();
        Ok(())
    }

    /// Frames show from now on what there is now.
    pub(super) fn end_frame(&mut self) {
        if let Some(simulation) = &mut self.simulation {
            simulation.end_frame_unshown();
            self.publish();
        }
    }

    /// Reads the simulation's clock, and takes what was published, if anything was.
    fn receive(&mut self, update: Option<Update>) {
        if let Some(simulation) = &self.simulation {
            self.longest_frame = simulation.clock().settings().max_frame_time();
            self.view.receive(update, ClockReading::of(simulation));
        }
    }

    /// A simulation that is another one goes on from now.
    fn notice_other(&mut self) {
        if let Some(simulation) = &mut self.simulation
            && self.publisher.notice_other(simulation)
        {
            self.under_way = None;
            self.publish();
        }
    }

    pub(super) fn publish(&mut self) {
        if let Some(simulation) = &mut self.simulation {
            let update = self.publisher.publish(simulation);
            self.receive(update);
        }
    }
}
