//! evenstep in hecs: the crate's own `Entities` joins the two.

use std::time::Duration;

use ::hecs::World;
use evenstep::entities::Entities;
use evenstep::{Simulation, Step};

/// The simulation is replaced with its table, which knows its keys.
#[derive(Default)]
pub struct Stage {
    pub world: World,
    pub simulation: Simulation,
    pub entities: Entities,
}

/// The game's systems; `G` is whatever else they need.
pub type Systems<G> = fn(&mut Stage, &mut G, Step);

impl Stage {
    pub fn frame<G>(&mut self, game: &mut G, time: Duration, [before, after]: [Systems<G>; 2]) {
        self.simulation.begin_frame(time);
        while let Some(step) = self.simulation.next_step() {
            before(self, game, step);
            self.sync();
            if self.simulation.make_step() {
                after(self, game, step);
                self.sync();
            }
        }
        self.simulation.end_frame();
        self.sync();
    }

    /// In each step too, so that bodies of despawned entities go at the same tick at every frame rate.
    fn sync(&mut self) {
        self.entities.sync(&mut self.world, &mut self.simulation);
    }
}
