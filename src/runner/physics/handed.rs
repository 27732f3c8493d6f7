//! What is handed over of a simulation.

use crate::runner::Starved;
use crate::runner::mailbox::{Pace, State};
use crate::simulation::Simulation;

impl State {
    /// Of a simulation's last frame.
    pub fn of(simulation: &Simulation) -> Self {
        let mut state = Self::default();
        state.fill(simulation, Starved::Hold);
        state
    }

    /// That of a simulation's last frame in place of an earlier one.
    pub(super) fn fill(&mut self, simulation: &Simulation, starved: Starved) {
        let clock = simulation.clock();
        self.frame = simulation.frame();
        self.time = clock.time().saturating_sub(clock.overstep());
        let (frame_dt, rate) = (self.frame.dt, clock.settings().rate());
        // Of the step that has led to it: the rate may have been changed since.
        let is_other_rate = frame_dt > 0.0 && frame_dt.to_bits() != rate.dt().to_bits();
        self.dt = if is_other_rate {
            frame_dt.into()
        } else {
            rate.dt_f64()
        };
        self.poses.copy_shown(simulation.poses(), self.frame.number);
        if matches!(starved, Starved::Extrapolate { .. }) {
            let bodies = &simulation.physics().bodies;
            simulation.poses().onward(bodies, &mut self.onward);
        }
    }
}

impl Pace {
    /// After a frame.
    pub fn of(simulation: &Simulation) -> Self {
        let clock = simulation.clock();
        let stands = clock.until_next_step().is_none() || clock.settings().is_paused();
        Self {
            real: clock.real_time(),
            time: clock.time(),
            speed: if stands {
                0.0
            } else {
                clock.settings().speed()
            },
        }
    }
}
