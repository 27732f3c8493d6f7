//! The loop, driven by the game: frames begun and ended, and the steps between.

use std::time::Duration;

use crate::step::{clear_events, replace_events};
use crate::time::{ExactTime, Step};
use rapier::pipeline::PhysicsHooks;

use super::frame::Frame;
use super::root::Simulation;
use crate::physics::{Physics, Stage, StepPlan};

/// # Frames and steps
///
/// The loop, driven by the game: between two of these calls the simulation is an ordinary value that may be moved,
/// stored, replaced or dropped. So it can live inside the world of any ECS, and the game's own systems run
/// for each step.
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
/// // In the game's loop, once a frame:
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
/// | a frame is begun while one is open, because a system panicked or `end_frame` was forgotten | The open frame continues as the new one, with its counts, its events and the bodies that moved. Steps that were still due are dropped, see [`Dropped::aborted`](crate::Dropped::aborted). |
/// | `end_frame` while steps are due | They are dropped and counted in [`Dropped::aborted`](crate::Dropped::aborted), and the frame shows the latest state. |
/// | `end_frame` while steps are to be resimulated | These stay due: see [`roll_back`](Self::roll_back). |
/// | `next_step` twice before `make_step` | The same step again. |
/// | `next_step` when none is due, or outside of a frame | `None` |
/// | `make_step` when no step was taken | Nothing; it returns `false`. |
/// | `end_frame` outside of a frame | Nothing; it returns the last frame's counts again. |
/// | the simulation is replaced within a frame | The new one is outside of a frame: the three lines above. Its bodies are in [`moved`](Self::moved) from the next frame on. |
/// | its [`physics`](Self::physics) is replaced within a frame | The step at hand is dropped and counted in [`Dropped::aborted`](crate::Dropped::aborted), `make_step` returns `false`, and the other steps of the frame continue with the [new value](crate::Physics#the-state-as-a-value). [`Frame::steps`] and [`events`](Self::events) count from there on. |
/// | [`advance`](Self::advance) between `next_step` and `make_step` | A frame begun while one is open; the outer one then has no step left. |
/// | Rapier panics in `make_step` | Its world is in an unknown state. `next_step` returns `None` and `end_frame` does nothing, until the simulation is [rewound](Self::rewind) or a sound value is assigned to `physics`. |
///
/// A debug build says once on standard error that 60 frames in a row were begun and not ended, or that 60 steps in a row were
/// taken and not made.
///
/// When a step that was taken is not made, forces that were added since it was taken are discarded, because the
/// game will add them again for that tick. Everything else that the game did stays.
impl Simulation {
    /// Begins a frame by the time that it took: plans the steps that are due.
    ///
    /// # Panics
    /// If Rapier panicked in an earlier step: its world is then in an unknown state. [Rewind](Self::rewind) the simulation,
    /// assign a [snapshot](crate::Physics#the-state-as-a-value), or drop it.
    pub fn begin_frame(&mut self, frame_time: Duration) {
        self.forgotten.begin_frame(self.is_in_frame);
        self.open_frame(frame_time);
    }

    /// [`begin_frame`](Self::begin_frame) by a loop of the library, which forgets no call.
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

    /// Takes the next step that is due in this frame. The game does its part in the step, then calls
    /// [`make_step`](Self::make_step).
    ///
    /// After a [rollback](Self::roll_back) the steps that are to be resimulated come first, also outside of a frame. `None`
    /// if no step is due, or if Rapier panicked in an earlier one.
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

    /// The next step: one that is to be resimulated, or one that is due in this frame.
    pub(super) fn peek(&self) -> Option<Step> {
        match &self.redo {
            Some(redo) => redo.step(),
            None if !self.is_in_frame => None,
            None => self.clock.peek(),
        }
    }

    /// The simulated time at the end of the next step.
    fn end_of_next_step(&self) -> ExactTime {
        match self.redo.as_ref().and_then(|redo| redo.next()) {
            Some(record) => record.end,
            None => self.clock.next_exact_time(),
        }
    }

    /// Makes the step that [`next_step`](Self::next_step) has returned. Returns whether there was one.
    ///
    /// # Panics
    /// If Rapier or a [custom force](crate::ForceGenerator::custom) panics. After a panic of a force the step is still at
    /// hand. After one of Rapier's see [`begin_frame`](Self::begin_frame).
    pub fn make_step(&mut self) -> bool {
        self.make_step_with(&())
    }

    /// [`make_step`](Self::make_step) with Rapier's own hooks, called inside the step: to filter contacts,
    /// and to modify them (one-way platforms, conveyor belts).
    ///
    /// # Panics
    /// As [`make_step`](Self::make_step). A panic of these hooks is one of Rapier's.
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

    /// Plans the step at hand.
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

    /// Records what a step that was made has left in the value.
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

    /// Ends the frame: computes the poses that it shows. Returns what it did and dropped.
    ///
    /// While steps are still to be resimulated, the frame repeats the last picture, with its tick and alpha. Outside of a
    /// frame, and after Rapier panicked in a step, it does nothing and returns the last counts again.
    pub fn end_frame(&mut self) -> Frame {
        if self.physics.current_step().is_some() {
            self.forgotten.leave_step();
        }
        self.close_frame()
    }

    /// [`end_frame`](Self::end_frame) by a loop of the library.
    pub(super) fn close_frame(&mut self) -> Frame {
        if self.end_frame_unshown() {
            span!("show_poses");
            self.show();
        }
        self.frame
    }

    /// [`end_frame`](Self::end_frame) of a simulation that a view shows. Gives whether a frame was open.
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

    /// The value is as the frame leaves it.
    pub(crate) fn settle(&mut self) {
        self.physics.leave_step();
        self.physics.notice_edits();
        self.physics.forces.end_frame();
        self.frame.poses = self.physics.settle();
    }

    /// Ends the frame with its last step, and lends the value to another thread, which makes that step. Meanwhile `spare` is in
    /// its place.
    pub(crate) fn lend_physics(&mut self, step: Step, spare: Physics) -> (Physics, StepPlan) {
        let plan = self.plan_step(step);
        self.count_step(step);
        self.conclude_frame();
        let physics = std::mem::replace(&mut self.physics, spare);
        self.known = self.physics.epoch.number();
        (physics, plan)
    }

    /// Takes the value back after that step, with the number of forces that it rejected; `None` if Rapier panicked. Returns the
    /// spare one.
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

    /// Aborts the frame that a panic has left open, so that none is open in [`Hooks::before_frame`](super::Hooks::before_frame).
    /// Returns the epoch of its state.
    pub(crate) fn interrupt_frame(&mut self) -> Option<u64> {
        self.notice_physics();
        if !self.is_in_frame || self.physics.stage == Stage::Poisoned {
            return None;
        }
        self.abort_steps();
        self.is_in_frame = false;
        Some(self.known)
    }

    /// The next frame continues the interrupted one, unless another state has taken the place of that one's.
    pub(crate) fn continue_interrupted(&mut self, epoch: Option<u64>) {
        self.is_in_frame |= epoch == Some(self.physics.epoch.number());
    }

    /// Whether steps were resimulated between the last frame and this one.
    pub(crate) fn has_resimulated(&self) -> bool {
        self.between.resimulated > 0
    }

    /// If a step is at hand, it is not made, and may be taken anew.
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
