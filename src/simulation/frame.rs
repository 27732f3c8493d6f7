//! The frame: time goes in, steps run one at a time, and the bodies are displayed. `docs/architecture.md` follows one
//! frame through this file.

use rapier::pipeline::PhysicsHooks;

use crate::physics::{Physics, StepRecord};
use crate::time::{FrameTime, Step};

use super::report::Frame;
use super::simulation::Simulation;

/// # Your own loop
///
/// If the simulation lives inside the world of an ECS or an engine, your game drives the loop. Between two calls, you
/// may move, store or replace the simulation. [Calls out of order](Frame#calls-out-of-order) are harmless.
///
/// ```
/// # use evenstep::Simulation;
/// # use std::time::Duration;
/// # let mut simulation = Simulation::default();
/// simulation.begin_frame(Duration::from_millis(40));
/// while let Some(_step) = simulation.next_step() {
///     // Your game's systems.
///     simulation.run_step();
/// }
/// let frame = simulation.end_frame();
/// assert_eq!((frame.steps, simulation.physics.tick()), (2, 2));
/// ```
impl Simulation {
    /// Begins a frame of duration `frame_time` and plans the steps that are due.
    ///
    /// # Panics
    /// If Rapier [panicked](Self#after-a-panic-of-rapier) in an earlier step.
    pub fn begin_frame(&mut self, frame_time: impl Into<FrameTime>) {
        let frame_time = frame_time.into();
        self.finish_last_step();
        self.check_world();
        if self.open_report.is_some() {
            self.interrupt_frame();
        } else if self.physics.current_step().is_some() {
            // The game has received a resimulated step outside of a frame. The step begins again in this one.
            self.abort_step();
        }
        self.frames_begun += 1;
        self.missing_calls.begin_frame = 0;
        // `set_tick` ends a rollback, because its steps have other numbers.
        if self.steps.clock.requests().tick.is_some() {
            self.abandon_rollback();
        }
        let tick_before = self.steps.clock.tick();
        // A frame that a panic left open continues.
        let mut report = self.run.interrupted.take().unwrap_or(Frame {
            number: self.frame.number,
            ..Frame::default()
        });
        // Steps that were resimulated between frames count in this one.
        let resimulated = std::mem::take(&mut self.run.resimulated);
        report.resimulated = report.resimulated.saturating_add(resimulated);
        report.dropped += self.steps.clock.begin_frame(frame_time);
        report.tick = self.steps.clock.tick();
        // The game has requested another tick with `set_tick`.
        if report.tick != tick_before {
            self.renumber();
        }
        // The report of an interrupted frame may have the ticks of its steps.
        if report.steps == 0 {
            report.new_ticks = [report.tick; 2];
        }
        self.open_report = Some(report);
        // Visual errors do not decay while time is stopped.
        if !self.steps.clock.used().stands_still {
            self.since_picture = self.since_picture.saturating_add(frame_time.duration());
        }
    }

    /// Returns the next step that is due in this frame, or `None`. Run your game's code for it, then call
    /// [`run_step`](Self::run_step).
    ///
    /// After a [rollback](Self::roll_back) the steps to be resimulated come first, even outside of a frame.
    ///
    /// # Panics
    /// Within [`resource_scope`](Self::resource_scope), while [states are kept](Self::keep).
    pub fn next_step(&mut self) -> Option<Step> {
        self.finish_last_step();
        if let Some(step) = self.physics.current_step() {
            // The game has not run the last step, and gets it again.
            self.missing_calls.run_step = self.missing_calls.run_step.saturating_add(1);
            debug_assert!(
                self.missing_calls.run_step < PATIENCE,
                "`next_step` has returned the step of tick {} {PATIENCE} times: call `run_step` in the loop",
                step.tick
            );
            if std::mem::take(&mut self.physics.running.is_in_hook) {
                // The hook has panicked, and adds its forces again.
                self.physics.running.step_pushes.clear();
            }
            return Some(step);
        }
        let (step, end) = self.steps.next(&self.physics, self.open_report.is_some())?;
        if self.run.past.is_on() {
            self.keep_state(step);
        }
        self.physics.begin_step(step, end);
        // If the game now assigns another state, the clock drops this step.
        self.steps.hand_out();
        self.missing_calls.run_step = 0;
        Some(step)
    }

    /// Runs the step that [`next_step`](Self::next_step) has returned. Returns whether there was one.
    ///
    /// # Panics
    /// If Rapier panics.
    pub fn run_step(&mut self) -> bool {
        self.run_step_with(&())
    }

    /// Runs the step like [`run_step`](Self::run_step), with Rapier's hooks, which filter and modify contacts.
    ///
    /// # Panics
    /// If Rapier or one of these hooks panics.
    pub fn run_step_with(&mut self, hooks: &dyn PhysicsHooks) -> bool {
        // Changed settings wait for the end of the step, so `take_over` is not called.
        self.take_over_state();
        self.pass_edits_to_past();
        // There is no step if `next_step` has returned none, or if the game has assigned another state since.
        let Some(record) = self.physics.run_step(hooks) else {
            return false;
        };
        self.record_step(record);
        true
    }

    /// Ends the frame, computes its displayed poses and returns its report.
    pub fn end_frame(&mut self) -> Frame {
        if self.close_frame() {
            self.show();
        } else if !self.physics.is_poisoned {
            // After a panic of Rapier no frame is open either, but then the loop has left out no call.
            self.missing_calls.begin_frame = self.missing_calls.begin_frame.saturating_add(1);
            debug_assert!(
                self.missing_calls.begin_frame < PATIENCE,
                "no frame was open in {PATIENCE} calls of `end_frame`: call `begin_frame` at the beginning of each"
            );
        }
        self.frame()
    }
}

/// How often in a row the game's loop has left out a call. Once is harmless, as after a panic in a system. A loop that
/// always does it hangs, freezes or stutters, so a build with debug assertions panics with the cure.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MissingCalls {
    begin_frame: u32,
    run_step: u32,
    end_frame: u32,
}

const PATIENCE: u32 = 100;

/// # Inside a frame
impl Simulation {
    /// Ends what the last call left open: takes over an assigned state, ends a rollback whose steps have all run, and
    /// ends the game's reaction to the last step.
    pub(super) fn finish_last_step(&mut self) {
        self.take_over();
        if self.steps.rollback.is_some() {
            self.end_rollback_if_complete();
        }
        // If the game has asked to pause after that step, the time of due steps is postponed. Only due single steps,
        // which come from no elapsed time, are dropped.
        if self.physics.end_reaction() {
            let dropped = self.steps.clock.pause_and_postpone();
            if let Some(open) = &mut self.open_report {
                open.dropped += dropped;
            }
        }
    }

    /// Panics if Rapier has panicked in a step.
    pub(crate) fn check_world(&self) {
        assert!(
            !self.physics.is_poisoned,
            "Rapier panicked in the step of tick {}: rewind this simulation, assign a sound state to its `physics`, or drop it",
            self.physics.tick()
        );
    }

    /// Tells the past that a step begins. It keeps a snapshot if one is due, and the poses that lead here.
    fn keep_state(&mut self, step: Step) {
        span!("keep_state");
        if self.run.past.keeps_snapshots() {
            // The snapshot would lack the resource that a `resource_scope` has taken out.
            self.physics.resources.assert_no_scope();
        }
        // The kept poses of bodies are those before the game's edits, which must be known for that.
        self.physics.detect_edits();
        (self.run.past).begin_step(step.tick, &self.physics, self.steps.requested());
    }

    /// Passes the game's edits since the last step to the past, right before the current step replaces the poses.
    fn pass_edits_to_past(&mut self) {
        // `take_over_state` leaves a shift of the origin in this step to this call, because it counts once the step
        // runs.
        self.pass_shifts_to_past();
        if self.run.past.is_on() && self.physics.current_step().is_some() {
            // The past lacks the poses of bodies that were at rest when the step began.
            self.physics.detect_edits();
            self.run.past.keep_edited_poses(&self.physics.pairs);
        }
    }

    /// Records a step that has run: in the past, in the rollback or else the clock, and in the report. The clock has
    /// counted a resimulated step in its first run.
    fn record_step(&mut self, record: StepRecord) {
        #[cfg(feature = "parallel")]
        {
            // A state that replaces this one continues with its thread pool.
            self.pool = self.physics.pool();
        }
        if self.run.past.is_on() {
            self.run.past.end_step(&record, self.steps.requested());
        }
        if let Some(rollback) = &mut self.steps.rollback {
            rollback.end_step(record);
            if rollback.remaining() == 0 {
                // The rollback ends only with the next call, but the hook after its last step may read these already.
                self.run.event_changes = rollback.event_changes();
            }
            let resimulated = match &mut self.open_report {
                Some(open) => &mut open.resimulated,
                None => &mut self.run.resimulated,
            };
            *resimulated = resimulated.saturating_add(1);
            return;
        }
        let tick = record.step.tick;
        // Without a past, no rollback reaches further back than the present.
        let oldest = self.run.past.oldest().unwrap_or(self.physics.tick());
        let log = &mut self.physics.running.changes.events;
        if !record.events.is_empty() {
            log.set(self.run.step_id(tick), record.events);
        }
        log.set_oldest(self.run.step_id(oldest));
        self.steps.clock.count_step(&record.step, record.end);
        if let Some(open) = &mut self.open_report {
            open.rejected_forces += record.rejected_forces;
            open.tick = self.steps.clock.tick();
            open.steps += 1;
            // The ticks begin again if this step does not follow the last one, because the game has set another tick.
            if open.new_ticks[1] != tick {
                open.new_ticks = [tick; 2];
            }
            open.new_ticks[1] = self.steps.clock.tick();
            open.dt = record.step.dt;
        }
    }

    /// Ends the frame except for its picture, which `end_frame` or a view displays. Returns whether a frame was open.
    pub(crate) fn close_frame(&mut self) -> bool {
        let Some(mut report) = self.drop_due_and_take_report() else {
            return false;
        };
        self.missing_calls.end_frame = 0;
        report.number = self.frame.number.saturating_add(1);
        report.awake = self.physics.rapier().islands.num_active_bodies();
        report.dt = self.steps.clock.exact_time().dt();
        if self.steps.rollback.is_some() {
            // The frame repeats the last picture.
            report.tick = self.frame.tick;
            report.alpha = self.frame.alpha;
            report.time = self.frame.time;
        } else {
            self.physics.detect_edits();
            let clock = &self.steps.clock;
            report.tick = clock.tick();
            report.alpha = clock.alpha();
            report.time = clock.displayed_time();
            report.movers = self.physics.pairs.movers().len();
            // In a rollback, the next steps may still need the paths of bodies that have come to rest.
            self.physics.remove_resting_movers();
        }
        // In a pause, forces that the game adds in each frame would pile up.
        if report.steps == 0 && self.steps.clock.stood_still() {
            report.forgotten_forces = self.physics.forces.discard_since_frame();
        }
        // The others wait for the next step, even if a pause begins before it.
        self.physics.forces.keep_pending();
        self.frame = report;
        // `Physics::preview` steps at the rate that is passed here: from now on, that of the next frame's steps.
        self.pass_settings();
        true
    }

    /// Closes a frame that a panic or a missing `end_frame` left open. The next one continues its report.
    pub(super) fn interrupt_frame(&mut self) {
        self.missing_calls.end_frame = self.missing_calls.end_frame.saturating_add(1);
        debug_assert!(
            self.missing_calls.end_frame < PATIENCE,
            "{PATIENCE} frames have begun and none has ended: call `end_frame`, which computes the poses to draw, or find out why a hook panics in each of them"
        );
        let report = self.drop_due_and_take_report();
        let has_passed_time = !self.steps.clock.stood_still();
        if report.is_some_and(|report| report.steps > 0 || has_passed_time) {
            // As after a frame that has ended, forces wait for the next step even if a pause begins before it. Forces
            // of a frame in a pause do not, because they would pile up.
            self.physics.forces.keep_pending();
        }
        self.run.interrupted = report;
    }

    /// Drops the steps that are still due, and takes the report of the open frame. Returns `None` if no frame is open,
    /// or if Rapier has panicked.
    fn drop_due_and_take_report(&mut self) -> Option<Frame> {
        // This takes over an assigned state, which may replace a poisoned one.
        self.finish_last_step();
        if self.physics.is_poisoned {
            return None;
        }
        let mut report = self.open_report.take()?;
        if self.physics.current_step().is_some() {
            self.abort_step();
        }
        report.dropped += self.steps.clock.abort_frame();
        Some(report)
    }

    /// Drops the current step, which the game has received and which has not run. Its changes of the world stay.
    pub(super) fn abort_step(&mut self) {
        // A shift of the origin in the step stays, so the past has to know it.
        self.pass_shifts_to_past();
        if self.physics.abort_step() {
            self.run.past.abort_step(self.physics.tick());
            // The game has no step any more that an assigned state would drop.
            self.steps.clock.set_handed_out(false);
        }
    }

    /// Lets the report of the open frame begin at this state, because steps before it do not lead here.
    pub(super) fn restart_report(&mut self) {
        let reports = self.open_report.iter_mut().chain(&mut self.run.interrupted);
        for report in reports {
            (report.steps, report.tick) = (0, self.physics.tick());
            // An empty range of ticks.
            report.new_ticks = [self.physics.tick(); 2];
        }
    }
}

/// # A step on another thread
impl Simulation {
    /// Lends the state to another thread that runs the current step: swaps it with `spare`.
    pub(crate) fn lend_physics(&mut self, spare: &mut Physics) {
        self.pass_edits_to_past();
        std::mem::swap(&mut self.physics, spare);
    }

    /// Takes the lent state back from the other thread, in exchange for the spare one. `record` is the result of the
    /// step, or `None` if Rapier panicked.
    pub(crate) fn return_physics(&mut self, physics: &mut Physics, record: Option<StepRecord>) {
        std::mem::swap(&mut self.physics, physics);
        if let Some(record) = record {
            self.record_step(record);
        }
    }
}
