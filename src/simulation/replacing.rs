//! Replacing the physics with another value: one that the game assigned, or an earlier one.

use crate::id::Id;
use crate::physics::Physics;
use crate::pose::{ErrorChange, GeneralSmoothing, PoseLog, Screen};
use crate::step::{clear_events, replace_events};

use super::redo::{Left, Redo};
use super::root::{Between, Simulation};

/// # The value that the loop knows
impl Simulation {
    /// Returns whether this is the value that the loop knows, and not another one that the game has assigned.
    pub(crate) fn knows_physics(&self) -> bool {
        self.known == self.physics.epoch.number()
    }

    /// Detects what the game did to the value, and to the settings of the picture, since the last call of the loop.
    pub(crate) fn notice_physics(&mut self) {
        if !self.knows_physics() {
            self.take_over();
        }
        let edits = std::mem::take(&mut self.physics.past_edits);
        let tick = self.physics.first_known_tick();
        self.past.apply_edits(edits, tick);
        self.stamp_physics();
    }

    /// Continues with a value that the game has assigned.
    fn take_over(&mut self) {
        self.known = self.physics.epoch.number();
        self.id = Id::default();
        self.physics.leave_step();
        self.jump_from(PoseLog::default());
        // Pending forces of the new value wait for its next step, even during a pause.
        self.physics.forces.end_frame();
        self.past.clear();
        self.redo = None;
        self.between = Between::default();
        clear_events(&mut self.events);
        if std::mem::take(&mut self.is_handed_out) {
            self.frame.dropped += self.clock.abort_step();
        }
        self.follow_tick();
        if self.is_in_frame {
            (self.frame.steps, self.frame.tick) = (0, self.physics.tick());
        }
        #[cfg(feature = "parallel")]
        self.physics.set_pool_if_none(self.pool.clone());
    }

    /// Sets the clock to the tick and the time of the value.
    pub(super) fn follow_tick(&mut self) {
        (self.clock).go_to(self.physics.tick(), self.physics.exact_time());
    }

    /// Passes the settings of the loop to the value.
    pub(super) fn stamp_physics(&mut self) {
        self.physics.set_general_smoothing(GeneralSmoothing {
            smoothing: self.smoothing,
            correction: self.correction,
        });
        self.physics.expect_dt(self.clock.settings().rate().dt());
    }
}

/// # Back in time
impl Simulation {
    /// Returns the number of steps that are still to be resimulated after a [rollback](Self::roll_back), before
    /// [`next_step`](Self::next_step) returns a new one. A frame that ends before they have run repeats the last
    /// picture.
    #[must_use]
    pub fn steps_to_resimulate(&self) -> u64 {
        let redo = self.redo.as_ref().filter(|_| self.knows_physics());
        redo.map_or(0, |redo| redo.len() as u64)
    }

    /// Returns whether a rollback is unfinished. The poses to display are then unknown.
    pub(crate) fn is_redoing(&self) -> bool {
        self.redo.is_some()
    }

    /// Goes back to `tick`, of which the past has a snapshot: the steps from there on are due again.
    pub(super) fn make_due_again(&mut self, tick: u64) {
        self.physics.resources.check_whole();
        // The current step of a frame has not run, so it is not a recorded step.
        let Some((snapshot, later)) = self.past.take(tick, self.clock.tick()) else {
            return;
        };
        let left = self.swap_physics(snapshot);
        if self.redo.is_some() {
            // Steps before `tick` were already resimulated, and their events are kept.
            replace_events(&mut self.events, tick..u64::MAX, &[]);
        }
        let events = &mut self.events;
        let new = || Box::new(Redo::new(left, std::mem::take(events)));
        let redo = self.redo.get_or_insert_with(new);
        redo.go_back(tick, later);
        self.is_handed_out = false;
        // If only the current step is begun again, no recorded step is due.
        self.release_redo();
    }

    /// Ends the last resimulated step once all have run. Frames then display the corrected motion.
    pub(super) fn release_redo(&mut self) {
        if let Some(redo) = self.redo.take_if(|redo| redo.len() == 0) {
            self.physics.leave_step();
            let present = self.clock.tick();
            let first = redo.first_tick().unwrap_or(present);
            let of_frame = self.frame.ticks().start.max(first)..present;
            let events = std::mem::replace(&mut self.events, redo.events);
            replace_events(&mut self.events, of_frame, &events);
            // Forces that the game added in the last of these steps wait for the next one.
            self.physics.forces.end_frame();
            self.correct_picture(redo.left);
        }
    }

    /// Leaves the physics where it is, and drops the steps that are still to be resimulated, with the current step.
    pub(super) fn drop_redo(&mut self) {
        if let Some(redo) = self.redo.take() {
            self.abort_step();
            self.physics.leave_step();
            clear_events(&mut self.events);
            self.follow_tick();
            self.jump_from(redo.left.log);
        }
    }

    /// Replaces the state with another one. Returns the previous state.
    pub(super) fn swap_physics(&mut self, physics: Physics) -> Physics {
        let left = std::mem::replace(&mut self.physics, physics);
        self.known = self.physics.epoch.number();
        // The thread pool belongs to Rapier's pipeline, and a copy of the world has a new pipeline.
        #[cfg(feature = "parallel")]
        self.physics.set_pool_if_none(left.pool());
        self.stamp_physics();
        left
    }

    /// Displays this state from now on, without smoothing the change. `log` has the changes that frames have not
    /// displayed yet.
    pub(super) fn jump_from(&mut self, log: PoseLog) {
        self.physics.notice_edits();
        self.physics.resync_if_outdated();
        self.physics.continue_log(log, [ErrorChange::ClearAll]);
    }

    /// Displays a corrected state of the same tick from now on. For each body, the visual error is the old pose
    /// relative to the new one.
    pub(super) fn correct_picture(&mut self, left: Left) {
        self.physics.notice_edits();
        let is_outdated = self.physics.resync_if_outdated();
        // Earlier steps of a frame are not displayed, so between two steps only the last poses are from the same time.
        let alpha = if left.is_resynced || is_outdated {
            1.0
        } else {
            self.screen.as_ref().map_or(0.0, Screen::alpha)
        };
        let shift = self.physics.origin.from(&left.origin);
        let differences = (self.physics.pairs).differences(&left.pairs, alpha, shift);
        let errors: Vec<_> = differences
            .map(|(key, difference)| ErrorChange::Add(key, difference))
            .collect();
        self.physics.continue_log(left.log, errors);
    }
}
