//! The game's own part of the state.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::resources::Resources;

use super::Simulation;

/// # Resources
///
/// The game's own part of the state: see [`Resources`].
impl Simulation {
    /// The game's own values. While steps are resimulated, those of the current step.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.state.resources
    }

    /// To insert, change and remove the game's own values.
    pub fn resources_mut(&mut self) -> &mut Resources {
        &mut self.state.resources
    }

    /// Calls `f` with the simulation and the resource of type `T`, which is taken out until `f` returns, or unwinds.
    /// Returns what `f` returns; `None` if there is no such resource.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{BodyKey, Simulation, Step};
    /// # use std::time::Duration;
    /// #[derive(Clone, Default)]
    /// struct Game {
    ///     balls: Vec<BodyKey>,
    /// }
    ///
    /// impl Game {
    ///     fn before_step(&mut self, simulation: &mut Simulation, step: Step) {
    ///         if step.tick % 10 == 0 {
    ///             let body = RigidBodyBuilder::dynamic();
    ///             self.balls.push(simulation.insert(body, ColliderBuilder::ball(0.5)));
    ///         }
    ///     }
    /// }
    ///
    /// let mut simulation = Simulation::default();
    /// simulation.resources_mut().insert(Game::default());
    /// for _ in 0..60 {
    ///     simulation.advance(Duration::from_millis(16), |simulation, step| {
    ///         simulation
    ///             .resource_scope(|simulation, game: &mut Game| game.before_step(simulation, step))
    ///             .expect("it was inserted");
    ///     });
    /// }
    /// assert_eq!(simulation.resources().get::<Game>().unwrap().balls.len(), 6);
    /// ```
    ///
    /// # Panics
    /// In `f`, whatever copies or replaces the state panics, as the value is not in it: a clone of the simulation,
    /// [`next_step`](Self::next_step) while [states are kept](Self::set_rewind_limits), going back in time. So call this
    /// in each step, not around the loop. If `f` assigns to the simulation, or inserts or removes a value of that type, that
    /// holds, and the one that was taken out is dropped.
    #[must_use = "`None`: there is no such resource"]
    pub fn resource_scope<T: Any + Clone + Send + Sync, R>(
        &mut self,
        f: impl FnOnce(&mut Self, &mut T) -> R,
    ) -> Option<R> {
        let mut value = self.state.resources.lend::<T>()?;
        let result = catch_unwind(AssertUnwindSafe(|| f(self, &mut value)));
        self.state.resources.put_back(value);
        Some(result.unwrap_or_else(|payload| resume_unwind(payload)))
    }
}
