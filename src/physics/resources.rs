//! The game's part of the state.

use std::any::Any;

use crate::resources::Resources;

use super::Physics;

/// # Resources
impl Physics {
    /// Returns your game's values. While steps are resimulated, these are the values of the current step.
    #[must_use]
    pub fn resources(&self) -> &Resources {
        &self.resources
    }

    /// Returns a mutable reference to your game's values. Insert, change and remove them here.
    pub fn resources_mut(&mut self) -> &mut Resources {
        &mut self.resources
    }

    /// Calls `f` with the physics and the resource of type `T`, which is taken out until `f` returns or unwinds.
    /// Returns the result of `f`, or `None` if there is no such resource.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{BodyKey, Physics, Simulation, Step};
    /// # use std::time::Duration;
    /// #[derive(Clone, Default)]
    /// struct Game {
    ///     balls: Vec<BodyKey>,
    /// }
    ///
    /// impl Game {
    ///     fn before_step(&mut self, physics: &mut Physics, step: Step) {
    ///         if step.tick % 10 == 0 {
    ///             let body = RigidBodyBuilder::dynamic();
    ///             self.balls.push(physics.insert(body, ColliderBuilder::ball(0.5)));
    ///         }
    ///     }
    /// }
    ///
    /// let mut simulation = Simulation::default();
    /// simulation.physics.resources_mut().insert(Game::default());
    /// for _ in 0..60 {
    ///     simulation.advance(Duration::from_millis(16), |physics, step| {
    ///         physics
    ///             .resource_scope(|physics, game: &mut Game| game.before_step(physics, step))
    ///             .unwrap();
    ///     });
    /// }
    /// assert_eq!(simulation.physics.resources().get::<Game>().unwrap().balls.len(), 6);
    /// ```
    ///
    /// # Panics
    /// In `f`, cloning the physics panics, because the value is not in it. If `f` assigns to the physics, or inserts or
    /// removes a value of that type, that change holds, and the value that was taken out is dropped.
    #[must_use = "`None` means that there is no such resource"]
    pub fn resource_scope<T: Any + Clone + Send + Sync, R>(
        &mut self,
        f: impl FnOnce(&mut Self, &mut T) -> R,
    ) -> Option<R> {
        Resources::scope(self, Self::resources_mut, f)
    }
}
