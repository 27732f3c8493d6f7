//! The game's part in the loop.

use std::convert::Infallible;
use std::sync::Arc;

use crate::physics::Physics;
use crate::time::{FrameTime, Step};
use rapier::pipeline::PhysicsHooks;

use super::root::Simulation;

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
    /// so the hooks are in an `Arc`. For hooks that borrow the game, use [`Simulation::make_step_with`].
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
