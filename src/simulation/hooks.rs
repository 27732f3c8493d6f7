//! The game's part in the loop.

use std::convert::Infallible;
use std::sync::Arc;

use crate::physics::Physics;
use crate::time::{FrameTime, Step};
use rapier::pipeline::PhysicsHooks;

use super::pull::Capture;
use super::pull::Frame;
use super::simulation::Simulation;

/// A game's code for each step, for [`Simulation::advance_with`].
///
/// If you only need [`before_step`](Self::before_step) and it cannot fail, pass a closure to [`Simulation::advance`]
/// instead. Implement this trait for a struct that borrows the game, or for the game itself.
///
/// ```
/// use evenstep::{Hooks, Physics, Simulation, Step};
/// use std::time::Duration;
///
/// struct Game { hits: usize }
///
/// impl Hooks for Game {
///     type Error = std::convert::Infallible;
///
///     fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
///         assert_eq!(physics.tick(), step.tick);
///         Ok(())
///     }
///
///     fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
///         assert_eq!(physics.tick(), step.tick + 1); // the step has run
///         self.hits += physics.events().collisions().count();
///         Ok(())
///     }
/// }
///
/// let Ok(frame) = Simulation::default().advance_with(Duration::from_millis(40), &mut Game { hits: 0 });
/// assert_eq!(frame.steps, 2);
/// ```
pub trait Hooks {
    /// The error of a hook that fails. Use [`Infallible`] if none can fail.
    type Error;

    /// Runs before each frame, with the frame's duration. No frame is open, so everything is allowed here: pause,
    /// change the speed, roll back, look into the past. Settings of the clock take effect in this frame. A `Recorder`
    /// (with the feature `serde`) records here, after all of that.
    ///
    /// With a `Runner`, each step is a frame of the simulation, so this hook runs before each step. It also runs before
    /// a frame without a step, in which time passes until a call, or which displays the changes of a call. With an
    /// `Overlap`, frames are those of your game. They wait for the step in progress before this hook runs, so change
    /// the speed between two frames instead.
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

    /// Returns Rapier's hooks for the next step. It is called after [`before_step`](Self::before_step).
    ///
    /// Rapier calls these hooks within the step, on the thread that runs it. With an `Overlap` that is another thread,
    /// so the hooks are in an `Arc`. For hooks that borrow the game, use [`Simulation::run_step_with`].
    ///
    /// ```
    /// use evenstep::rapier::prelude::*;
    /// use evenstep::Hooks;
    /// use std::sync::Arc;
    ///
    /// /// Colliders with the same user data do not collide.
    /// struct Teams;
    ///
    /// impl PhysicsHooks for Teams {
    ///     fn filter_contact_pair(&self, pair: &PairFilterContext) -> Option<SolverFlags> {
    ///         let teams = [pair.collider1, pair.collider2].map(|at| pair.colliders[at].user_data);
    ///         (teams[0] != teams[1]).then(SolverFlags::default)
    ///     }
    /// }
    ///
    /// struct Game {
    ///     teams: Arc<Teams>,
    /// }
    ///
    /// impl Hooks for Game {
    ///     type Error = std::convert::Infallible;
    ///
    ///     fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
    ///         Some(self.teams.clone())
    ///     }
    /// }
    /// ```
    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        None
    }
}

/// Returns Rapier's hooks for a step, or hooks that do nothing.
pub(crate) fn or_none<'a>(
    hooks: Option<&'a (dyn PhysicsHooks + Send + Sync)>,
) -> &'a (dyn PhysicsHooks + 'a) {
    match hooks {
        Some(hooks) => hooks,
        None => &(),
    }
}

/// A closure as [`Hooks`].
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
/// These methods run the loop of [`begin_frame`](Self::begin_frame), [`next_step`](Self::next_step),
/// [`run_step`](Self::run_step) and [`end_frame`](Self::end_frame) in one call.
impl Simulation {
    /// Advances by `frame_time`, the duration of the last frame: runs the steps that are due, if any, and computes the
    /// poses for this frame.
    ///
    /// `before_step` is called before each step, with the [`Physics`] and the step. Add forces, apply input, spawn and
    /// despawn there, so that the run is the same at every frame rate. The closure may borrow your world. For a hook
    /// after the step, for errors and for Rapier's hooks, use [`advance_with`](Self::advance_with).
    ///
    /// # Panics
    /// Like [`begin_frame`](Self::begin_frame), if Rapier panicked in an earlier step. Like
    /// [`run_step`](Self::run_step), if Rapier panics in this call.
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
    /// ```
    /// # use evenstep::{Hooks, Physics, Simulation, Step};
    /// # use std::time::Duration;
    /// struct Game;
    ///
    /// impl Hooks for Game {
    ///     type Error = &'static str;
    ///
    ///     fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), &'static str> {
    ///         if step.tick == 1 { Err("no more") } else { Ok(()) }
    ///     }
    /// }
    ///
    /// let mut simulation = Simulation::default();
    /// let error = simulation.advance_with(Duration::from_millis(60), &mut Game).unwrap_err();
    /// assert_eq!(error, "no more");
    /// let frame = simulation.frame();
    /// assert_eq!((frame.steps, frame.dropped.aborted, frame.tick), (1, 2, 1));
    /// ```
    ///
    /// # Errors
    /// Returns the first error of a hook, which ends the frame. Steps that have run are kept. Steps that were still due
    /// are dropped and counted in [`Dropped::aborted`](crate::time::Dropped::aborted). Forces for the step that did not
    /// run are discarded. Steps that are to be [resimulated](Self::roll_back) stay due. If steps were dropped, the
    /// frame displays the latest state. If not, it displays the same poses as without the error. [`frame`](Self::frame)
    /// reports what the frame did. The next frame continues as usual.
    ///
    /// # Panics
    /// Like [`advance`](Self::advance). A panic in [`before_frame`](Hooks::before_frame) unwinds before the frame
    /// begins, so the frame time is not added. If `before_frame` replaces the state, for example by going back in time,
    /// a new frame begins, even if a panic left the previous one open.
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
        let result = result.and_then(|()| self.run_steps(hooks, Capture::LastStep));
        let frame = self.end_frame();
        result.map(|()| frame)
    }

    /// Calls the hook before the frame while no frame is open, and begins the frame, even if the hook fails.
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

    /// Runs all due steps.
    pub(crate) fn run_steps<H: Hooks>(
        &mut self,
        hooks: &mut H,
        capture: Capture,
    ) -> Result<(), H::Error> {
        while let Some(step) = self.next_step() {
            self.run_step_with_hooks(hooks, step, capture)?;
        }
        Ok(())
    }

    /// Runs a step that `next_step` returned.
    pub(crate) fn run_step_with_hooks<H: Hooks>(
        &mut self,
        hooks: &mut H,
        step: Step,
        capture: Capture,
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
        if self.run_current_step(capture, or_none(physics_hooks.as_deref())) {
            span!("after_step");
            hooks.after_step(&mut self.physics, step)?;
        }
        Ok(())
    }
}
