//! The loop as one call, for a simulation that lives beside the game.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::physics::Physics;
use crate::time::Step;
use rapier::pipeline::PhysicsHooks;

use super::{Frame, Simulation};

/// A game's part in every step, for [`Simulation::advance_with`].
///
/// Where only [`before_step`](Self::before_step) is needed and cannot fail, a closure given to
/// [`Simulation::advance`] is enough. Implement this for a struct that borrows the game, or for
/// the game itself.
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
///         assert_eq!(physics.tick(), step.tick + 1); // it counts as made
///         self.hits += physics.events().collisions().count();
///         Ok(())
///     }
/// }
///
/// let Ok(frame) = Simulation::default().advance_with(Duration::from_millis(40), &mut Game { hits: 0 });
/// assert_eq!(frame.steps, 2);
/// ```
pub trait Hooks {
    /// What makes a hook fail; [`Infallible`] if none does.
    type Error;

    /// Called before each frame, with the time that it took. No frame is open, so everything is allowed here: pause, change
    /// the speed, roll back, look into the past. Settings of the clock take effect in this frame. A `Recorder` (with the
    /// feature `serde`) records here, after all that.
    ///
    /// With a `Runner` each step is a frame of the simulation: it is called before each of them, and before a frame without
    /// a step that lets time pass up to a call, or shows what one has changed. With an `Overlap` the frames are the game's.
    /// Frames wait for the step under way, and it is called when they begin: there, set the speed between two frames.
    ///
    /// # Errors
    /// An error drops the steps that are due: see [`Simulation::advance_with`].
    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        frame_time: Duration,
    ) -> Result<(), Self::Error> {
        let _ = (simulation, frame_time);
        Ok(())
    }

    /// Called before each step: forces, input, spawn and despawn.
    ///
    /// If it assigns [another state](Physics#the-state-as-a-value), this step is dropped.
    ///
    /// # Errors
    /// An error ends the frame before this step: see [`Simulation::advance_with`].
    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let _ = (physics, step);
        Ok(())
    }

    /// Called after each step: its [events](Physics::events), and reactions to them.
    ///
    /// # Errors
    /// An error ends the frame after this step: see [`Simulation::advance_with`].
    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let _ = (physics, step);
        Ok(())
    }

    /// Returns Rapier's own hooks for the next step. Called after [`before_step`](Self::before_step).
    ///
    /// Rapier calls them within the step, on the thread that makes it: with an `Overlap` that is another thread, which is
    /// why they are in an `Arc`. For hooks that borrow the game there is [`Simulation::make_step_with`].
    ///
    /// ```
    /// use evenstep::rapier::prelude::*;
    /// use evenstep::Hooks;
    /// use std::sync::Arc;
    ///
    /// /// Nothing collides that has the same user data.
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

/// Rapier's hooks for a step; by default hooks that do nothing.
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
/// The loop of [`begin_frame`](Self::begin_frame), [`next_step`](Self::next_step),
/// [`make_step`](Self::make_step) and [`end_frame`](Self::end_frame) in one call.
impl Simulation {
    /// Advances by the time that a frame took: makes the steps that are due, none or several,
    /// and computes the poses for this frame.
    ///
    /// `before_step` is called before each step, with the [`Physics`] and the step: add forces,
    /// take input, spawn and despawn there, so that the run is the same at every frame rate. It may
    /// borrow the game's own world. For a hook after the step, for errors and for Rapier's own
    /// hooks see [`advance_with`](Self::advance_with).
    ///
    /// # Panics
    /// As [`begin_frame`](Self::begin_frame), if Rapier panicked in an earlier step; as [`make_step`](Self::make_step), if it
    /// panics in this call.
    ///
    /// A panic in `before_step` unwinds through this call and leaves the frame open. The next call aborts the rest of that
    /// frame and continues it.
    pub fn advance(
        &mut self,
        frame_time: Duration,
        before_step: impl FnMut(&mut Physics, Step),
    ) -> Frame {
        let Ok(frame) = self.advance_with(frame_time, &mut BeforeStep(before_step));
        frame
    }

    /// [`advance`](Self::advance) with hooks before and after each step, which can fail.
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
    /// The first error of a hook. It ends the frame: steps that were made stay made, those that
    /// were still due are dropped and counted in [`Dropped::aborted`](crate::Dropped::aborted), forces for
    /// the step that was not made are discarded. Steps that are to be [resimulated](Self::roll_back) stay due. If steps were
    /// dropped the frame shows the latest state, otherwise what it would have shown without the error.
    /// [`frame`](Self::frame) reports what was done. The next frame continues as usual.
    ///
    /// # Panics
    /// As [`advance`](Self::advance). A panic in [`before_frame`](Hooks::before_frame) unwinds before the frame begins: its
    /// time is not added. If `before_frame` replaces the state, as by going back in time, a new frame begins, even if a panic
    /// had left one open.
    pub fn advance_with<H: Hooks>(
        &mut self,
        frame_time: Duration,
        hooks: &mut H,
    ) -> Result<Frame, H::Error> {
        span!(
            "frame",
            number = self.frame.number.saturating_add(1),
            frame_time = frame_time.as_secs_f64()
        );
        let interrupted = self.interrupt_frame();
        let result = hooks.before_frame(self, frame_time);
        self.continue_interrupted(interrupted);
        self.open_frame(frame_time);
        let result = result.and_then(|()| self.make_steps(hooks));
        let frame = self.close_frame();
        result.map(|()| frame)
    }

    /// Makes all steps that are due.
    pub(crate) fn make_steps<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        while let Some(step) = self.next_step() {
            self.make_one(hooks, step)?;
        }
        Ok(())
    }

    /// Makes the step that was taken.
    pub(crate) fn make_one<H: Hooks>(&mut self, hooks: &mut H, step: Step) -> Result<(), H::Error> {
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
        // Not if the hook has replaced the value.
        if self.make_step_with(or_none(physics_hooks.as_deref())) {
            span!("after_step");
            hooks.after_step(&mut self.physics, step)?;
        }
        Ok(())
    }
}
