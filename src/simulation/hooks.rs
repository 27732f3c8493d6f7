//! The game's part in the loop.

use std::convert::Infallible;
use std::sync::Arc;

use crate::physics::Physics;
use crate::time::{FrameTime, Step};
use rapier::pipeline::PhysicsHooks;

use super::simulation::Simulation;

/// A game's code for each step, for [`Simulation::advance_with`].
///
/// `&mut H` and `Box<H>` are hooks too, even of a `dyn Hooks`, and so is a closure in [`BeforeStep`].
#[diagnostic::on_unimplemented(
    note = "implement `Hooks` for a type of your game, or wrap a closure for each step in `BeforeStep`"
)]
pub trait Hooks {
    /// The error of a hook that fails. Use [`Infallible`] if none can fail.
    type Error;

    /// Runs before each frame, to pause, change the speed, or roll back. Settings of the clock take effect in this
    /// frame.
    ///
    /// With a `Runner`, this hook runs before each step, and before frames without a step, which calls, questions and
    /// removals cause. It runs at the end of a frame's time there, which counts at the speed that it sets, even after a
    /// long pause. So end a pause or slow motion of a `Runner` in a `call`. With an `Overlap`, change the speed between
    /// frames.
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

    /// Runs after each step, to react to its [events](Physics::events).
    ///
    /// # Errors
    /// An error ends the frame after this step: see [`Simulation::advance_with`].
    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let _ = (physics, step);
        Ok(())
    }

    /// Returns Rapier's hooks for the next step: none by default. Called after [`before_step`](Self::before_step).
    /// Rapier calls them within the step, with an `Overlap` mostly on another thread. For hooks that borrow the game,
    /// use [`Simulation::run_step_with`].
    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        None
    }
}

/// Returns these hooks of Rapier, or hooks that do nothing.
pub(crate) fn or_no_hooks<'a>(
    hooks: Option<&'a (dyn PhysicsHooks + Send + Sync)>,
) -> &'a (dyn PhysicsHooks + 'a) {
    match hooks {
        Some(hooks) => hooks,
        None => &(),
    }
}

/// A closure before each step as [`Hooks`] that cannot fail, for a [`Runner`](crate::threads::Runner) or an
/// [`Overlap`](crate::threads::Overlap).
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::threads::Overlap;
/// # use evenstep::{BeforeStep, Physics, Simulation, Step};
/// # use std::time::Duration;
/// let mut overlap = Overlap::new(Simulation::default())?;
/// let mut steps = 0;
/// let mut hooks = BeforeStep(|_: &mut Physics, _: Step| steps += 1);
/// overlap.frame(Duration::from_millis(40), &mut hooks)?;
/// assert_eq!(steps, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BeforeStep<F>(
    /// The closure.
    pub F,
);

impl<F: FnMut(&mut Physics, Step)> Hooks for BeforeStep<F> {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        (self.0)(physics, step);
        Ok(())
    }
}

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<H: Hooks + ?Sized> Hooks for $pointer {
            type Error = H::Error;

            fn before_frame(
                &mut self,
                simulation: &mut Simulation,
                frame_time: FrameTime,
            ) -> Result<(), Self::Error> {
                (**self).before_frame(simulation, frame_time)
            }

            fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
                (**self).before_step(physics, step)
            }

            fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
                (**self).after_step(physics, step)
            }

            fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
                (**self).physics_hooks()
            }
        }
    )*};
}

forward!(&mut H, Box<H>);
