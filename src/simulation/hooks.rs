//! The game's part in the loop.

use std::convert::Infallible;
use std::sync::Arc;

use crate::physics::Physics;
use crate::time::{FrameTime, Step};
use rapier::pipeline::PhysicsHooks;

use super::pull::Frame;
use super::simulation::Simulation;

/// A game's code for each step, for [`Simulation::advance_with`].
///
/// A closure for [`Simulation::advance`] is shorter if you only need [`before_step`](Self::before_step) and it cannot
/// fail. Implement this trait for a struct that borrows the game, or for the game itself.
pub trait Hooks {
    /// The error of a hook that fails. Use [`Infallible`] if none can fail.
    type Error;

    /// Runs before each frame, with the frame's duration. No frame is open, so everything is allowed: pause, change the
    /// speed, roll back. Settings of the clock take effect in this frame. A `Recorder` (with the feature `serde`)
    /// records last.
    ///
    /// With a `Runner`, this hook runs before each step, and before a frame without a step that a call makes necessary.
    /// With an `Overlap`, frames are those of your game. They wait for the step in progress before this hook runs, so
    /// change the speed between two frames instead.
    ///
    /// # Errors
    /// An error drops the due steps: see [`Simulation::advance_with`].
    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: FrameTime,
    ) -> Result<(), Self::Error> {
        let _ = (simulation, frame_time);
        Ok(())
    }

    /// Runs before each step. Add forces, apply input, spawn and despawn here.
    ///
    /// If it assigns [another state](Physics#the-state-as-a-value), this step is dropped.
    ///
    /// # Errors
    /// An error ends the frame before this step: see [`Simulation::advance_with`].
    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let _ = (physics, step);
        Ok(())
    }

    /// Runs after each step. Read its [events](Physics::events) and react to them here.
    ///
    /// # Errors
    /// An error ends the frame after this step: see [`Simulation::advance_with`].
    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let _ = (physics, step);
        Ok(())
    }

    /// Returns Rapier's hooks for the next step: none by default. It is called after
    /// [`before_step`](Self::before_step).
    ///
    /// Rapier calls these hooks within the step, with an `Overlap` on another thread. For hooks that borrow the game,
    /// use [`Simulation::run_step_with`].
    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        None
    }
}

pub(crate) fn or_none<'a>(
    hooks: Option<&'a (dyn PhysicsHooks + Send + Sync)>,
) -> &'a (dyn PhysicsHooks + 'a) {
    match hooks {
        Some(hooks) => hooks,
        None => &(),
    }
}

pub(super) struct BeforeStep<F>(pub F);

impl<F: FnMut(&mut Physics, Step)> Hooks for BeforeStep<F> {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        (self.0)(physics, step);
        Ok(())
    }
}

/// # Advancing
///
/// These methods run [`begin_frame`](Self::begin_frame), [`next_step`](Self::next_step), [`run_step`](Self::run_step)
/// and [`end_frame`](Self::end_frame) in one call.
impl Simulation {
    /// Runs the steps that are due after a frame of duration `frame_time`, if any, and computes the poses for this
    /// frame.
    ///
    /// `before_step` is called before each step. Change the world there, so that the run is the same at every frame
    /// rate. For a hook after the step, errors, or Rapier's hooks, use [`advance_with`](Self::advance_with).
    ///
    /// # Panics
    /// If Rapier panicked in an earlier step, like [`begin_frame`](Self::begin_frame), or panics in this call, like
    /// [`run_step`](Self::run_step).
    ///
    /// A panic in `before_step` unwinds through this call and leaves the frame open. The next call aborts the remaining
    /// steps of that frame and continues it.
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
    /// counted in [`Dropped::aborted`](crate::time::Dropped::aborted). If there were any, the frame displays the latest
    /// state. Forces for the step that did not run are discarded. Steps to be [resimulated](Self::roll_back) stay due.
    /// [`frame`](Self::frame) returns the report.
    ///
    /// # Panics
    /// Like [`advance`](Self::advance). A panic in [`before_frame`](Hooks::before_frame) unwinds before the frame
    /// begins, so the frame time is not added. If `before_frame` replaces the state, a new frame begins.
    pub fn advance_with<H: Hooks>(
        &mut self,
        frame_time: impl Into<FrameTime>,
        hooks: &mut H,
    ) -> Result<Frame, H::Error> {
        let frame_time = frame_time.into();
        span!(
            "frame",
            number = self.frame.number.saturating_add(1),
            frame_time = frame_time.duration().as_secs_f64()
        );
        let result = self.begin_frame_with(hooks, frame_time);
        let result = result.and_then(|()| self.run_steps(hooks));
        let frame = self.end_frame();
        result.map(|()| frame)
    }

    /// Calls the hook while no frame is open, and begins the frame, even if the hook fails.
    pub(crate) fn begin_frame_with<H: Hooks>(
        &mut self,
        hooks: &mut H,
        frame_time: FrameTime,
    ) -> Result<(), H::Error> {
        let interrupted = self.interrupt_frame();
        let result = hooks.before_frame(self, frame_time);
        self.continue_interrupted(interrupted.as_ref());
        self.begin_frame(frame_time);
        result
    }

    pub(crate) fn run_steps<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        while let Some(step) = self.next_step() {
            self.run_step_with_hooks(hooks, step)?;
        }
        Ok(())
    }

    pub(crate) fn run_step_with_hooks<H: Hooks>(
        &mut self,
        hooks: &mut H,
        step: Step,
    ) -> Result<(), H::Error> {
        span!(
            "step",
            tick = step.tick,
            is_resimulated = step.is_resimulated
        );
        {
            span!("before_step");
            hooks.before_step(&mut self.physics, step)?;
        }
        let physics_hooks = hooks.physics_hooks();
        // Skips `after_step` if the hook replaced the physics.
        if self.run_step_with(or_none(physics_hooks.as_deref())) {
            span!("after_step");
            hooks.after_step(&mut self.physics, step)?;
        }
        Ok(())
    }
}
