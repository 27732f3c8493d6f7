//! The simulation together with one of the game's values.

use std::any::Any;

use crate::physics::Resources;

use super::simulation::Simulation;

/// # Resources
impl Simulation {
    /// Calls `f` with the simulation and a [resource](crate::Physics::resources). Use it once per frame, and in hooks
    /// [`Physics::resource_scope`](crate::Physics::resource_scope).
    ///
    /// # Panics
    /// In `f`, everything that copies the state panics: a clone, [`next_step`](Self::next_step) while [states are
    /// kept](Self::keep), going back in time.
    #[must_use = "`None` means that there is no such resource"]
    pub fn resource_scope<T: Any + Clone + Send + Sync, R>(
        &mut self,
        f: impl FnOnce(&mut Self, &mut T) -> R,
    ) -> Option<R> {
        // `scope` borrows the resources before `f` and again after it, to put the value back.
        fn resources(simulation: &mut Simulation) -> &mut Resources {
            simulation.physics.resources_mut()
        }
        Resources::scope(self, resources, f)
    }
}
