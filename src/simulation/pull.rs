//! The loop, driven by the game: the beginning and the end of frames, and the steps in between.

use std::time::Duration;

use crate::step::{clear_events, replace_events};
use crate::time::{ExactTime, Step};
use rapier::pipeline::PhysicsHooks;

use super::frame::Frame;
use super::root::Simulation;
use crate::physics::{Physics, Stage, StepPlan};

/// # Frames and steps
///
/// Your game drives the loop with these calls. Between two of them, the simulation is an ordinary value that may be
/// moved, stored, replaced or dropped. So it can live inside the world of any ECS, and your systems run for each step.
///
/// ```
/// use evenstep::Simulation;
/// use std::time::Duration;
///
/// struct World { simulation: Simulation } // an ECS, with the simulation among its resources
///
/// fn systems(world: &mut World) { /* input, forces, spawn, despawn */ }
///
/// let mut world = World { simulation: Simulation::default() };
/// // In the game's loop, once per frame:
/// world.simulation.begin_frame(Duration::from_millis(40));
/// while let Some(_step) = world.simulation.next_step() {
///     systems(&mut world);
///     world.simulation.make_step();
/// }
/// let frame = world.simulation.end_frame();
/// assert_eq!((frame.steps, world.simulation.physics.tick()), (2, 2));
/// ```
///
/// # Misuse
/// | what happens | what follows |
/// | --- | --- |
/// | `begin_frame` while a frame is open, because a system panicked or `end_frame` was forgotten | The open frame continues as the new one, with its counts, its events and the bodies that moved. Steps that were still due are dropped and counted in [`Dropped::aborted`](crate::Dropped::aborted). |
/// | `end_frame` while steps are due | They are dropped and counted in [`Dropped::aborted`](crate::Dropped::aborted), and the frame displays the latest state. |
/// | `end_frame` while steps are to be resimulated | They stay due: see [`roll_back`](Self::roll_back). |
/// | `next_step` twice before `make_step` | It returns the same step again. |
/// | `next_step` when no step is due, or outside of a frame | It returns `None`. |
/// | `make_step` without `next_step` | It does nothing and returns `false`. |
/// | `end_frame` outside of a frame | It does nothing and returns the last frame's counts again. |
/// | the simulation is replaced within a frame | The new simulation has no open frame, so the three lines above apply. Its bodies are in [`moved`](Self::moved) from the next frame on. |
/// | its [`physics`](Self::physics) is replaced within a frame | The current step is dropped and counted in [`Dropped::aborted`](crate::Dropped::aborted), `make_step` returns `false`, and the other steps of the frame continue with the [new value](crate::Physics#the-state-as-a-value). [`Frame::steps`] and [`events`](Self::events) start again from there. |
/// | [`advance`](Self::advance) between `next_step` and `make_step` | `advance` begins a frame while one is open. The outer frame then has no step left. |
/// | Rapier panics in `make_step` | Its world is in an unknown state. `next_step` returns `None` and `end_frame` does nothing, until the simulation is [rewound](Self::rewind) or a sound value is assigned to `physics`. |
///
/// In a debug build, evenstep prints one message to standard error if 60 frames in a row were begun but not ended, or
/// if 60 steps in a row were returned by `next_step` but not run.
///
/// If a step that `next_step` returned does not run, forces that were added for it are discarded, because the game will
/// add them again for that tick. Everything else that the game did is kept.
impl Simulation {
    /// Begins a frame of duration `frame_time` and plans the steps that are due.
    ///
    /// # Panics
    /// If Rapier panicked in an earlier step: its world is then in an unknown state. [Rewind](Self::rewind) the
    /// simulation, assign a [snapshot](crate::Physics#the-state-as-a-value), or drop it.
    pub fn begin_frame(&mut self, frame_time: Duration) {
        self.forgotten.begin_frame(self.is_in_frame);
        self.open_frame(frame_time);
    }

    /// Begins a frame, as [`begin_frame`](Self::begin_frame) does, for a loop of the library, which forgets no call.
    pub(crate) fn open_frame(&mut self, frame_time: Duration) {
        self.notice_physics();
        self.check_world();
        self.release_redo();
        if self.clock.settings().new_tick().is_some() {
            self.drop_redo();
        }
        if self.is_in_frame {
            self.abort_steps();
        } else {
            self.frame = Frame {
                number: self.frame.number,
                dt: self.frame.dt,
                ..Frame::default()
            };
            match &mut self.redo {
                Some(redo) => redo.begin_frame(),
                None => clear_events(&mut self.events),
            }
        }
        self.is_in_frame = true;
        let tick = self.clock.tick();
        let between = std::mem::take(&mut self.between);
        self.frame.resimulated = self.frame.resimulated.saturating_add(between.resimulated);
        self.frame.rejected_forces += between.rejected_forces;
        let leaves_a_fraction = self.clock.settings().leaves_a_fraction();
        self.frame.dropped += self.clock.begin_frame(frame_time);
        self.frame.tick = self.clock.tick();
        if self.frame.tick != tick {
            let time = self.clock.exact_time();
            self.physics.renumber(self.frame.tick, time);
            self.past.clear();
        }
        self.stamp_physics();
        self.frame.alpha = if leaves_a_fraction {
            self.clock.alpha()
        } else {
            1.0
        };
        if !self.clock.settings().stands_still() {
            self.shown_for = self.shown_for.saturating_add(frame_time);
        }
    }

    pub(crate) fn check_world(&self) {
        assert!(
            self.physics.stage != Stage::Poisoned,
            "Rapier panicked in the step of tick {}: rewind this simulation, assign a sound state to its `physics`, or drop it",
            self.physics.tick()
        );
    }

    /// Returns the next step that is due in this frame. Run your game's code for the step, and then call
    /// [`make_step`](Self::make_step).
    ///
    /// After a [rollback](Self::roll_back) the steps that are to be resimulated come first, even outside of a frame.
    /// Returns `None` if no step is due, or if Rapier panicked in an earlier step.
    ///
    /// # Panics
    /// Within [`resource_scope`](Self::resource_scope), while [states are kept](Self::set_rewind_limits).
    pub fn next_step(&mut self) -> Option<Step> {
        self.notice_physics();
        if self.physics.stage == Stage::Poisoned {
            return None;
        }
        self.release_redo();
        if let Some(step) = self.physics.current_step() {
            self.forgotten.leave_step();
            return Some(step);
        }
        let Some(step) = self.peek() else {
            self.physics.stage = Stage::Idle;
            return None;
        };
        if self.past.is_on() {
            span!("keep_state");
            if self.past.keeps_snapshots() {
                self.physics.resources.check_whole();
            }
            self.physics.notice_edits();
            (self.past).begin_step(step, self.end_of_next_step(), &self.physics);
        }
        self.physics.begin_step(step);
        self.is_handed_out = self.redo.is_none();
        Some(step)
    }

    /// Returns the next step: one that is to be resimulated, or one that is due in this frame.
    pub(super) fn peek(&self) -> Option<Step> {
        match &self.redo {
            Some(redo) => redo.step(),
            None if !self.is_in_frame => None,
            None => self.clock.peek(),
        }
    }

    /// Returns the simulated time at the end of the next step.
    fn end_of_next_step(&self) -> ExactTime {
        match self.redo.as_ref().and_then(|redo| redo.next()) {
            Some(record) => record.end,
            None => self.clock.next_exact_time(),
        }
    }

    /// Runs the step that [`next_step`](Self::next_step) has returned. Returns whether there was one.
    ///
    /// # Panics
    /// If Rapier or a [custom force](crate::ForceGenerator::custom) panics. If a force panicked, you can still run the
    /// same step. If Rapier panicked, see [`begin_frame`](Self::begin_frame).
    pub fn make_step(&mut self) -> bool {
        self.make_step_with(&())
    }

    /// Runs the step like [`make_step`](Self::make_step), with Rapier's hooks, which are called inside the step. They
    /// can filter and modify contacts, for one-way platforms or conveyor belts.
    ///
    /// # Panics
    /// Like [`make_step`](Self::make_step). A panic in these hooks counts as a panic of Rapier.
    pub fn make_step_with(&mut self, hooks: &dyn PhysicsHooks) -> bool {
        self.notice_physics();
        let Some(step) = self.physics.current_step() else {
            return false;
        };
        let plan = self.plan_step(step);
        let rejected = self.physics.make_step(plan, hooks);
        if !step.is_resimulated {
            self.frame.rejected_forces += rejected;
        }
        self.record_step(step);
        self.count_step(step);
        true
    }

    /// Plans the current step.
    fn plan_step(&mut self, step: Step) -> StepPlan {
        let is_last = match self.steps_to_resimulate() {
            0 => step.is_last,
            left => left == 1,
        };
        let are_kept = self.past.needs_poses(step.tick + 1);
        if are_kept {
            self.physics.list_movers();
            self.past.keep_teleported(&self.physics.pairs);
        }
        // A view on another thread displays any step.
        let is_displayed = is_last || self.screen.is_none();
        StepPlan {
            step,
            end: self.end_of_next_step(),
            is_captured: is_displayed || are_kept,
        }
    }

    /// Records the results of a step that has run.
    fn record_step(&mut self, step: Step) {
        #[cfg(feature = "parallel")]
        {
            self.pool = self.physics.pool();
        }
        let events = self.physics.events();
        let ticks = step.tick..self.physics.tick();
        replace_events(&mut self.events, ticks, events.as_slice());
        self.past.end_step(step.tick, &events);
    }

    fn count_step(&mut self, step: Step) {
        self.is_handed_out = false;
        self.forgotten.make_step();
        if let Some(redo) = &mut self.redo {
            if let Some(changes) = redo.end_step(&self.events) {
                self.event_changes = changes;
            }
            let made = if self.is_in_frame {
                &mut self.frame.resimulated
            } else {
                &mut self.between.resimulated
            };
            *made = made.saturating_add(1);
            return;
        }
        self.clock.next_step();
        self.frame.tick = self.clock.tick();
        self.frame.steps += 1;
        self.frame.dt = step.dt;
    }

    /// Ends the frame and computes its displayed poses. Returns the report of the frame.
    ///
    /// While steps are still to be resimulated, the frame repeats the last picture, with its tick and alpha. Outside of
    /// a frame, and after Rapier panicked in a step, the call does nothing and returns the last counts again.
    pub fn end_frame(&mut self) -> Frame {
        if self.physics.current_step().is_some() {
            self.forgotten.leave_step();
        }
        self.close_frame()
    }

    /// Ends the frame, as [`end_frame`](Self::end_frame) does, for a loop of the library.
    pub(super) fn close_frame(&mut self) -> Frame {
        if self.end_frame_unshown() {
            span!("show_poses");
            self.show();
        }
        self.frame
    }

    /// Ends the frame, as [`end_frame`](Self::end_frame) does, for a simulation that a view displays. Returns whether a
    /// frame was open.
    pub(crate) fn end_frame_unshown(&mut self) -> bool {
        self.notice_physics();
        if !self.is_in_frame || self.physics.stage == Stage::Poisoned {
            return false;
        }
        self.abort_steps();
        self.conclude_frame();
        if self.redo.is_none() {
            if self.frame.steps == 0 && self.clock.settings().is_stopped() {
                self.frame.forgotten_forces = self.physics.forces.discard_since_frame();
            }
            self.settle();
        }
        true
    }

    /// Numbers the frame, and reports what it displays.
    fn conclude_frame(&mut self) {
        self.is_in_frame = false;
        self.frame.number = self.frame.number.saturating_add(1);
        self.frame.awake = self.physics.rapier().islands.num_active_bodies();
        if self.redo.is_some() {
            (self.frame.tick, self.frame.alpha) = self.picture;
        } else {
            self.picture = (self.frame.tick, self.frame.alpha);
        }
    }

    /// Leaves the last step and detects edits, which puts the value into its state at the end of a frame.
    pub(crate) fn settle(&mut self) {
        self.physics.leave_step();
        self.physics.notice_edits();
        self.physics.forces.end_frame();
        self.frame.poses = self.physics.settle();
    }

    /// Ends the frame with its last step, and lends the value to another thread, which runs that step. Until it
    /// returns, `spare` replaces it.
    pub(crate) fn lend_physics(&mut self, step: Step, spare: Physics) -> (Physics, StepPlan) {
        let plan = self.plan_step(step);
        self.count_step(step);
        self.conclude_frame();
        let physics = std::mem::replace(&mut self.physics, spare);
        self.known = self.physics.epoch.number();
        (physics, plan)
    }

    /// Takes the value back after that step, with the number of forces that it rejected, or `None` if Rapier panicked.
    /// Returns the spare value.
    pub(crate) fn return_physics(
        &mut self,
        physics: Physics,
        step: Step,
        rejected: Option<u64>,
    ) -> Physics {
        let spare = std::mem::replace(&mut self.physics, physics);
        self.known = self.physics.epoch.number();
        if let Some(rejected) = rejected {
            self.between.rejected_forces += rejected;
            self.record_step(step);
            self.settle();
        } else {
            self.abort_step();
            self.follow_tick();
            self.frame.dropped += self.clock.drop_taken_step();
        }
        spare
    }

    /// Aborts a frame that a panic left open, so that no frame is open in
    /// [`Hooks::before_frame`](super::Hooks::before_frame). Returns the epoch of its state.
    pub(crate) fn interrupt_frame(&mut self) -> Option<u64> {
        self.notice_physics();
        if !self.is_in_frame || self.physics.stage == Stage::Poisoned {
            return None;
        }
        self.abort_steps();
        self.is_in_frame = false;
        Some(self.known)
    }

    /// Continues the interrupted frame in the next one, unless another state has replaced its state.
    pub(crate) fn continue_interrupted(&mut self, epoch: Option<u64>) {
        self.is_in_frame |= epoch == Some(self.physics.epoch.number());
    }

    /// Returns whether steps were resimulated between the last frame and this one.
    pub(crate) fn has_resimulated(&self) -> bool {
        self.between.resimulated > 0
    }

    /// Aborts the current step, if there is one. The step may be begun again.
    pub(super) fn abort_step(&mut self) {
        self.notice_physics();
        if self.physics.abort_step() {
            self.past.abort_step(self.physics.tick());
            self.is_handed_out = false;
        }
    }

    fn abort_steps(&mut self) {
        self.release_redo();
        self.abort_step();
        self.physics.leave_step();
        let dropped = self.clock.abort_frame();
        if dropped.aborted > 0 {
            self.frame.dropped += dropped;
            self.frame.alpha = 1.0;
        }
        if dropped.aborted > 0 && self.redo.is_none() {
            self.physics.notice_edits();
            let tick = self.physics.tick();
            self.past.replace_poses(&self.physics.pairs, tick);
            // A view on another thread still displays the last step.
            if self.screen.is_some() {
                self.physics.resync();
            }
        }
    }
}
