//! A picture of the present: a preview of the next step, with real contacts.

use std::time::Duration;

use evenstep::{Physics, Simulation, Step};

/// Returns a copy that displays the present. Pass your game's hook. Call it in each frame, and draw the copy's poses.
pub fn ahead(simulation: &Simulation, hook: impl FnMut(&mut Physics, Step)) -> Simulation {
    let mut ahead = simulation.clone();
    ahead.pause();
    ahead.step_once();
    ahead.advance(Duration::ZERO, hook);
    ahead
}
