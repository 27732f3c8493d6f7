//! An editor that plays a level and returns to it, unchanged. Edit while the simulation is paused. After the return,
//! `removed()` lists the bodies that were added during play.

use evenstep::{Physics, Simulation};

/// Starts the edited level, and returns a copy of it.
pub fn play(simulation: &mut Simulation) -> Physics {
    simulation.resume();
    simulation.physics.clone()
}

/// Goes back to the editor.
pub fn stop(simulation: &mut Simulation, level: Physics) {
    simulation.pause();
    simulation.physics = level;
}
