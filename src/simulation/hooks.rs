//! The game's part in the loop.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::physics::Physics;
use crate::time::Step;
use rapier::pipeline::PhysicsHooks;

use super::root::Simulation;

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
