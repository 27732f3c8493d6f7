//! The step that a state is at, and the events of the last one.

use std::time::Duration;

use crate::events::Events;
use crate::time::Step;

use super::{Physics, Stage, StepAtHand};

/// # Events and steps
impl Physics {
    /// Returns the events of the last step, even of an earlier frame, or none if it was loaded or Rapier panicked in
    /// it.
    #[must_use]
    pub fn events(&self) -> Events {
        Events::new(&self.events)
    }

    /// Returns the tick of the next step: the number of steps so far, unless [`set_tick`](crate::Simulation::set_tick)
    /// has renumbered them.
    #[doc(alias = "frame_number")]
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.tick
    }

    /// Returns the simulated time of all steps so far, rounded down to a nanosecond.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.time.duration()
    }

    /// Returns the current step, which has not run yet, or `None` between two steps.
    #[must_use]
    pub fn current_step(&self) -> Option<Step> {
        match self.running.stage {
            Stage::Before(StepAtHand { step, .. }) => Some(step),
            _ => None,
        }
    }

    /// Returns whether the origin was shifted in the current step or after the last one. Frames of the present tick then
    /// displayed poses in earlier coordinates.
    pub(crate) fn is_shifted_since_step(&self) -> bool {
        let shifts = &self.running.origin_shifts;
        shifts.any_between_steps
            || (shifts.poses_before_shift.is_some() && self.current_step().is_some())
    }

    /// Pauses the simulation after the current step: the frame, or on a thread a later one, displays exactly this
    /// step's state. Use it for a hit-stop, a breakpoint, or a rule that ends the game.
    ///
    /// Call it in the hook before or after a step. Between two frames it has no effect. Steps that are still due,
    /// except single ones, run in the first frame after [`resume`](crate::Simulation::resume), and no limit drops them.
    /// On a clone or a new state that the hook has assigned, a call pauses before its first step.
    ///
    /// The state does not contain a pause: neither a resimulated step nor a clone of the `Physics` pauses.
    #[doc(alias("pause", "hit_stop"))]
    pub fn pause_after_step(&mut self) {
        self.running.pauses = match self.running.step_at_hand() {
            Some(at_hand) => !at_hand.step.is_resimulated,
            // A state that a hook has just assigned belongs to no run of a simulation yet, and pauses before its first
            // step. On any other state, the call has no effect between two steps.
            None => self.running.run_number.is_none(),
        };
    }
}
