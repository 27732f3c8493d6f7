//! What is handed over of a simulation.

use crate::simulation::Simulation;
use crate::threads::Starved;
use crate::threads::mailbox::{ClockReading, Snapshot};

impl Snapshot {
    /// Of a simulation's last state, in place of an earlier one. `is_stopped`: in which time stood still.
    pub fn fill(&mut self, simulation: &Simulation, starved: Starved, is_stopped: bool) {
        let clock = simulation.clock();
        self.run = simulation.id();
        self.frame = simulation.frame().number;
        self.tick = simulation.tick();
        self.time = clock.simulated();
        let (frame_dt, rate) = (simulation.frame().dt, clock.settings().rate());
        // Of the step that has led to it: the rate may have been changed since.
        let is_other_rate = frame_dt > 0.0 && frame_dt.to_bits() != rate.dt().to_bits();
        self.dt = if is_other_rate {
            frame_dt.into()
        } else {
            rate.dt_f64()
        };
        self.is_stopped = is_stopped;
        self.movers.copy_shown(simulation.movers());
        self.correction = simulation.correction();
        if matches!(starved, Starved::Extrapolate { .. }) {
            self.extrapolations = simulation.extrapolations();
        }
    }
}

impl ClockReading {
    /// From a simulation's last frame on.
    pub fn of(simulation: &Simulation) -> Self {
        let clock = simulation.clock();
        let settings = clock.settings();
        let speed = if settings.stands_still() {
            0.0
        } else {
            settings.speed()
        };
        Self {
            real: clock.real_time(),
            time: clock.time(),
            speed,
        }
    }
}
