//! A peer that survives an outage: it continues from the state of another machine.

use std::time::Duration;

use evenstep::{Physics, Simulation, Step};

/// Continues from another machine's state. `hook` resimulates the steps since then.
pub fn continue_from(
    simulation: &mut Simulation,
    state: Physics,
    mut hook: impl FnMut(&mut Physics, Step),
) {
    if simulation.roll_back(state.tick()).is_ok() {
        // With an interval, the nearest kept state is of an earlier tick.
        while simulation.physics.tick() < state.tick()
            && let Some(step) = simulation.next_step()
        {
            hook(&mut simulation.physics, step);
            simulation.run_step();
        }
        simulation.correct(state).unwrap();
        simulation.advance(Duration::ZERO, hook);
    } else {
        simulation.physics = state; // the picture jumps
    }
}
