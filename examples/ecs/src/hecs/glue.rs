//! evenstep in hecs, connected with evenstep's `Entities`.

use std::time::Duration;

use ::hecs::World;
use evenstep::ecs::hecs::Entities;
use evenstep::{Simulation, Step};

/// The simulation, and its table of entities. They are replaced together, because the table contains the simulation's
/// keys.
#[derive(Default)]
pub struct Stage {
    pub world: World,
    pub simulation: Simulation,
    pub entities: Entities,
}

/// Your game's systems. `G` is the other data that they need.
pub type Systems<G> = fn(&mut Stage, &mut G, Step);

impl Stage {
    pub fn frame<G>(&mut self, game: &mut G, time: Duration, [before, after]: [Systems<G>; 2]) {
        self.simulation.begin_frame(time);
        while let Some(step) = self.simulation.next_step() {
            before(self, game, step);
            self.remove_dropped();
            if self.simulation.run_step() {
                after(self, game, step);
                self.remove_dropped();
            }
        }
        self.simulation.end_frame();
        self.entities.sync(&mut self.world, &mut self.simulation);
    }

    /// Call it in each step, so that bodies are removed at the same tick at every frame rate.
    fn remove_dropped(&mut self) {
        let physics = &mut self.simulation.physics;
        self.entities.remove_dropped(&mut self.world, physics);
    }
}
