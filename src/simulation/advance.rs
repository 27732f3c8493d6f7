//! A frame in one call, with the game's hooks.

use std::sync::Arc;

use crate::physics::Physics;
use crate::time::{FrameTime, Step};
use rapier::pipeline::PhysicsHooks;

use super::hooks::{BeforeStep, Hooks, or_no_hooks};
use super::report::Frame;
use super::simulation::Simulation;

/// # Advancing
impl Simulation {
    /// Runs the steps that are due after a frame of duration `frame_time`, if any, and computes the poses for this
    /// frame.
    ///
    /// Change the world in `before_step`, the hook of each step, so that the run is the same at every frame rate.
    ///
    /// # Panics
    /// If Rapier panics, or [panicked](Self#after-a-panic-of-rapier) earlier. After a panic in `before_step`, the next
    /// call continues the frame without its due steps. While [states are kept](Self::keep), also within
    /// [`resource_scope`](Self::resource_scope).
    #[doc(alias("update", "fixed_update", "step"))]
    pub fn advance(
        &mut self,
        frame_time: impl Into<FrameTime>,
        before_step: impl FnMut(&mut Physics, Step),
    ) -> Frame {
        let Ok(frame) = self.advance_with(frame_time, &mut BeforeStep(before_step));
        frame
    }

    /// Advances like [`advance`](Self::advance), with hooks before and after each step, which can fail.
    ///
    /// # Errors
    /// Returns the first error of a hook, which ends the frame. Steps that have run are kept. Due steps are dropped and
    /// [counted](crate::time::Dropped::aborted), and if there were any, the frame displays the latest state. Steps to
    /// be [resimulated](Self::roll_back) stay due. [`frame`](Self::frame) returns the report.
    ///
    /// # Panics
    /// Like [`advance`](Self::advance). After a panic in [`before_frame`](Hooks::before_frame), the frame time is not
    /// added.
    pub fn advance_with<H: Hooks + ?Sized>(
        &mut self,
        frame_time: impl Into<FrameTime>,
        hooks: &mut H,
    ) -> Result<Frame, H::Error> {
        let frame_time = frame_time.into();
        frame_span!(self, frame_time.duration());
        let result = self.begin_frame_with(hooks, frame_time);
        let result = result.and_then(|()| self.run_steps(hooks));
        let frame = self.end_frame();
        result.map(|()| frame)
    }

    /// Calls the hook while no frame is open, so that it may rewind. Begins the frame even if the hook fails, because
    /// the caller ends one.
    pub(crate) fn begin_frame_with<H: Hooks + ?Sized>(
        &mut self,
        hooks: &mut H,
        frame_time: FrameTime,
    ) -> Result<(), H::Error> {
        // If the game has assigned a state, the hook finds its time on the clock. If a panic has left a frame open, it
        // is closed. `begin_frame` does both again, because the hook may assign a state or open a frame.
        self.take_over();
        if self.open_report.is_some() {
            self.interrupt_frame();
        }
        let result = hooks.before_frame(self, frame_time);
        self.begin_frame(frame_time);
        result
    }

    pub(crate) fn run_steps<H: Hooks + ?Sized>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        while let Some(step) = self.next_step() {
            self.run_step_with_hooks(hooks, step)?;
        }
        Ok(())
    }

    /// Runs a step that `next_step` has returned, with the hooks before and after it.
    pub(crate) fn run_step_with_hooks<H: Hooks + ?Sized>(
        &mut self,
        hooks: &mut H,
        step: Step,
    ) -> Result<(), H::Error> {
        step_span!(step);
        let physics_hooks = self.call_before_step(hooks, step)?;
        // If the hook has assigned another state, no step runs.
        if self.run_step_with(or_no_hooks(physics_hooks.as_deref())) {
            self.call_after_step(hooks, step)?;
        }
        Ok(())
    }

    /// Calls the hook before a step that `next_step` has returned. Returns Rapier's hooks for the step.
    pub(crate) fn call_before_step<H: Hooks + ?Sized>(
        &mut self,
        hooks: &mut H,
        step: Step,
    ) -> Result<Option<Arc<dyn PhysicsHooks + Send + Sync>>, H::Error> {
        {
            span!("before_step");
            // If the hook fails or panics, this stays set. If `next_step` then returns the step again, it discards the
            // forces of the hook.
            self.physics.running.is_in_hook = true;
            hooks.before_step(&mut self.physics, step)?;
        }
        let physics_hooks = hooks.physics_hooks();
        self.physics.running.is_in_hook = false;
        Ok(physics_hooks)
    }

    /// Calls the hook after a step that has run.
    pub(crate) fn call_after_step<H: Hooks + ?Sized>(
        &mut self,
        hooks: &mut H,
        step: Step,
    ) -> Result<(), H::Error> {
        span!("after_step");
        hooks.after_step(&mut self.physics, step)
    }
}
