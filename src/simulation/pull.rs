//! The loop, driven by the game: the beginning and the end of frames, and the steps in between.

use std::ops::Range;
use std::time::Duration;

use rapier::math::Vector;
use rapier::pipeline::PhysicsHooks;

use crate::physics::{Physics, Stage};
use crate::time::{Dropped, ExactTime, FrameTime, Step};

use super::simulation::Simulation;

/// The report of a frame, from [`Simulation::end_frame`](crate::Simulation::end_frame) or
/// [`Simulation::advance`](crate::Simulation::advance).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Frame {
    /// The number of frames that have ended, including this one; 0 before the first.
    pub number: u64,
    /// The number of new steps that ran in this frame.
    pub steps: u64,
    /// The number of steps [resimulated](crate::Simulation::roll_back) since the previous frame.
    pub resimulated: u64,
    /// The tick of the next step: see [`Physics::tick`](crate::Physics::tick).
    pub tick: u64,
    /// The length of the last step, in seconds of simulated time; 0 before the first.
    pub dt: f32,
    /// Where between the previous and the current state the frame displays bodies, from 0 to 1: see
    /// [`Clock::alpha`](crate::time::Clock::alpha). It is 1 in a frame that ended before its last step.
    pub alpha: f32,
    /// The simulated time that the frame displays, at the fraction `alpha` of the last step, rounded down to a
    /// nanosecond. It never goes back, except after a [rewind](crate::Simulation::rewind), an assignment,
    /// [`set_overstep`](crate::Simulation::set_overstep), a [correction](crate::Simulation::correct) by a state of
    /// another time, or a rollback to before that correction.
    pub time: Duration,
    /// The time and steps that were dropped, and why.
    pub dropped: Dropped,
    /// The number of dynamic and kinematic bodies that were awake after the last step.
    pub awake: usize,
    /// The number of ignored values of [`ForceGenerator`](crate::forces::ForceGenerator)s that were not finite.
    pub rejected_forces: u64,
    /// The number of [forces and impulses](crate::Physics#forces) since the previous frame that were discarded because
    /// time stopped.
    pub forgotten_forces: u64,
    /// The number of bodies that this frame processed, because they may have moved. All others cost nothing.
    pub movers: usize,
    /// How far the [origin](crate::Physics::shift_origin) moved between the previous picture and this one, in metres,
    /// even back after a rollback or a restored state. Subtract it from everything that you keep in world space, such
    /// as a camera. It is zero in the first picture.
    pub origin_shift: Vector,
}

impl Frame {
    /// Returns the ticks of the new steps of this frame: fewer if a lower tick was set within it.
    #[must_use]
    pub fn ticks(&self) -> Range<u64> {
        self.tick.saturating_sub(self.steps)..self.tick
    }
}

/// # Frames and steps
///
/// Your game drives the loop with these calls. Between two of them, the simulation is an ordinary value that may be
/// moved, stored or replaced, so it can live inside the world of any ECS.
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
///
/// # Misuse
/// | what happens | what follows |
/// | --- | --- |
/// | `begin_frame` while a frame is open, because a system panicked or `end_frame` was forgotten | The open frame continues as the new one. Steps that were still due are dropped and counted in [`Dropped::aborted`](crate::time::Dropped::aborted). |
/// | `end_frame` while steps are due | They are dropped and counted in `aborted`, and the frame displays the latest state. |
/// | `end_frame` while steps are to be resimulated | They stay due: see [`roll_back`](Self::roll_back). |
/// | `next_step` twice before `run_step` | It returns the same step again. |
/// | `next_step` when no step is due, or outside of a frame | It returns `None`. |
/// | `run_step` without `next_step` | It does nothing and returns `false`. |
/// | `end_frame` outside of a frame | It does nothing and returns the last report again. |
/// | the simulation is replaced within a frame | The new one has no open frame, so the three lines above apply. Its bodies are in [`moved`](Self::moved) from the next frame on. |
/// | its [`physics`](Self::physics) is replaced within a frame | `run_step` returns `false`: see [The state as a value](crate::Physics#the-state-as-a-value). |
/// | [`advance`](Self::advance) between `next_step` and `run_step` | `advance` begins a frame while one is open. The outer frame then has no step left. |
/// | Rapier panics in `run_step` | `next_step` returns `None` and `end_frame` does nothing, until the simulation is [rewound](Self::rewind) or a sound value is assigned to `physics`. |
///
/// Forces that were added for a step that then does not run are discarded, because your game adds them again when the
/// step is retried. All other changes stay.
impl Simulation {
    /// Begins a frame of duration `frame_time` and plans the steps that are due.
    ///
    /// # Panics
    /// If Rapier panicked in an earlier step, which leaves its world in an unknown state. [Rewind](Self::rewind) the
    /// simulation, assign a [snapshot](crate::Physics#the-state-as-a-value), or drop it.
    pub fn begin_frame(&mut self, frame_time: impl Into<FrameTime>) {
        let frame_time = frame_time.into();
        self.take_over_physics();
        self.check_world();
        self.frames_begun += 1;
        self.end_finished_rollback();
        if self.clock.requests().tick.is_some() {
            self.drop_redo();
        }
        if self.open.is_some() {
            self.abort_steps();
        }
        if self.open.is_none() {
            self.open = Some(self.new_frame());
        }
        let tick = self.clock.tick();
        let dropped = self.clock.begin_frame(frame_time);
        if let Some(report) = &mut self.open {
            let resimulated = std::mem::take(&mut self.run.resimulated);
            report.resimulated = report.resimulated.saturating_add(resimulated);
            report.dropped += dropped;
            report.tick = self.clock.tick();
        }
        if self.clock.tick() != tick {
            self.renumber();
        }
        self.pass_settings();
        if !self.clock.used().stands_still {
            self.shown_for = self.shown_for.saturating_add(frame_time.duration());
        }
    }

    fn new_frame(&self) -> Frame {
        Frame {
            number: self.frame.number,
            ..Frame::default()
        }
    }

    pub(crate) fn check_world(&self) {
        assert!(
            self.physics.stage != Stage::Poisoned,
            "Rapier panicked in the step of tick {}: rewind this simulation, assign a sound state to its `physics`, or drop it",
            self.physics.tick()
        );
    }

    /// Returns the next step that is due in this frame. Run your game's code for it, then call
    /// [`run_step`](Self::run_step).
    ///
    /// After a [rollback](Self::roll_back) the steps to be resimulated come first, even outside of a frame. Returns
    /// `None` if no step is due, or if Rapier panicked in an earlier step.
    ///
    /// # Panics
    /// Within [`resource_scope`](Self::resource_scope), while [states are kept](Self::keep).
    pub fn next_step(&mut self) -> Option<Step> {
        self.take_over_physics();
        if self.physics.stage == Stage::Poisoned {
            return None;
        }
        self.end_finished_rollback();
        if let Some(step) = self.physics.current_step() {
            return Some(step);
        }
        self.leave_step();
        let step = self.peek()?;
        let end = self.end_of_next_step();
        if self.run.past.is_on() {
            span!("keep_state");
            if self.run.past.keeps_snapshots() {
                self.physics.resources.check_whole();
            }
            self.physics.detect_edits();
            let requested = self.run.redo.as_ref().map(|redo| redo.requested);
            (self.run.past).begin_step(step, end, &self.physics, requested);
        }
        self.physics.begin_step(step, end);
        if self.run.redo.is_none() {
            self.clock.hand_out_step();
        }
        Some(step)
    }

    /// Ends the last step. If the game has asked for it, the clock stops there.
    pub(super) fn leave_step(&mut self) {
        if self.physics.leave_step() {
            let dropped = self.clock.stop();
            if let Some(open) = &mut self.open {
                open.dropped += dropped;
            }
        }
    }

    /// Returns the next step: a resimulated or a new one.
    pub(super) fn peek(&self) -> Option<Step> {
        match &self.run.redo {
            Some(redo) => Some(redo.next_step(&self.physics)?.0),
            None if self.open.is_none() => None,
            None => self.clock.peek(),
        }
    }

    fn end_of_next_step(&self) -> ExactTime {
        let redo = self.run.redo.as_ref();
        match redo.and_then(|redo| redo.next_step(&self.physics)) {
            Some((_, end)) => end,
            None => self.clock.next_exact_time(),
        }
    }

    /// Runs the step that [`next_step`](Self::next_step) has returned. Returns whether there was one.
    ///
    /// # Panics
    /// If Rapier panics: see [`begin_frame`](Self::begin_frame).
    pub fn run_step(&mut self) -> bool {
        self.run_step_with(&())
    }

    /// Runs the step like [`run_step`](Self::run_step), with Rapier's hooks, which filter and modify contacts for
    /// one-way platforms or conveyor belts.
    ///
    /// # Panics
    /// Like [`run_step`](Self::run_step). A panic in these hooks counts as a panic of Rapier.
    pub fn run_step_with(&mut self, hooks: &dyn PhysicsHooks) -> bool {
        self.detect_changes();
        let Some(step) = self.physics.current_step() else {
            return false;
        };
        self.keep_teleported();
        let Some(rejected) = self.physics.run_step(hooks) else {
            return false;
        };
        self.end_step(step, rejected);
        true
    }

    /// Keeps the poses of bodies that were teleported since the last step, right before the next one replaces them.
    fn keep_teleported(&mut self) {
        if self.run.past.is_on() {
            self.physics.detect_edits();
            self.run.past.keep_teleported(&self.physics.pairs);
        }
    }

    pub(super) fn end_step(&mut self, step: Step, rejected: u64) {
        #[cfg(feature = "parallel")]
        {
            self.pool = self.physics.pool();
        }
        let events = self.physics.events().shared();
        self.run.past.end_step(step.tick, &events);
        if let Some(redo) = &mut self.run.redo {
            redo.end_step(step.tick, events);
            if redo.len() == 0 {
                self.run.event_changes = redo.event_changes();
            }
            let report = self.open.as_mut();
            let made = report.map_or(&mut self.run.resimulated, |it| &mut it.resimulated);
            *made = made.saturating_add(1);
            return;
        }
        let kept = self.run.past.rewindable();
        let log = &mut self.physics.changes.events;
        if !events.is_empty() {
            log.set(self.run.step_id(step.tick), events);
        }
        let oldest = kept.into_iter().next().unwrap_or(step.tick + 1);
        log.forget_before(self.run.step_id(oldest));
        self.clock.count_step();
        if let Some(open) = &mut self.open {
            open.rejected_forces += rejected;
            open.tick = self.clock.tick();
            open.steps += 1;
            open.dt = step.dt;
        }
    }

    /// Ends the frame, computes its displayed poses and returns its report.
    ///
    /// While steps are still to be resimulated, the frame repeats the last picture, with its tick and alpha. Outside of
    /// a frame, and after Rapier panicked in a step, the call does nothing and returns the last report again.
    pub fn end_frame(&mut self) -> Frame {
        if self.end_frame_without_picture() {
            span!("show_poses");
            self.show();
        }
        self.frame
    }

    /// Ends the frame for a simulation that a view displays. Returns whether a frame was open.
    pub(crate) fn end_frame_without_picture(&mut self) -> bool {
        self.take_over_physics();
        if self.open.is_none() || self.physics.stage == Stage::Poisoned {
            return false;
        }
        self.abort_steps();
        let Some(mut report) = self.open.take() else {
            return false;
        };
        report.number = self.frame.number.saturating_add(1);
        report.awake = self.physics.rapier().islands.num_active_bodies();
        report.dt = self.clock.exact_time().dt();
        if self.run.redo.is_some() {
            // The frame repeats the last picture.
            report.tick = self.frame.tick;
            report.alpha = self.frame.alpha;
            report.time = self.frame.time;
        } else {
            self.physics.detect_edits();
            report.tick = self.clock.tick();
            report.alpha = self.clock.alpha();
            report.time = self.clock.displayed_time();
            if report.steps == 0 && self.clock.is_stopped() {
                report.forgotten_forces = self.physics.forces.discard_since_frame();
            }
            self.physics.forces.end_frame();
            report.movers = self.physics.pairs.movers().len();
            self.physics.unlist_resting();
        }
        self.frame = report;
        true
    }

    /// Lends the state to another thread that runs the current step.
    pub(crate) fn lend_physics(&mut self, spare: &mut Physics) {
        self.keep_teleported();
        std::mem::swap(&mut self.physics, spare);
    }

    /// Takes the state back, with the number of rejected forces, or `None` if Rapier panicked.
    pub(crate) fn return_physics(
        &mut self,
        physics: &mut Physics,
        step: Step,
        rejected: Option<u64>,
    ) {
        std::mem::swap(&mut self.physics, physics);
        if let Some(rejected) = rejected {
            self.end_step(step, rejected);
        }
    }

    /// Aborts a frame that a panic left open.
    pub(super) fn interrupt_frame(&mut self) -> Option<(Frame, u64)> {
        self.detect_changes();
        if self.open.is_none() || self.physics.stage == Stage::Poisoned {
            return None;
        }
        self.abort_steps();
        let open = self.open.take()?;
        if open.steps > 0 {
            // Forces that were added after its last step wait for the next one, as after a frame that has ended.
            self.physics.forces.end_frame();
        }
        Some((open, self.physics.epoch.number()))
    }

    pub(super) fn continue_interrupted(&mut self, interrupted: Option<&(Frame, u64)>) {
        if let Some((open, epoch)) = interrupted
            && self.open.is_none()
            && self.physics.epoch.number() == *epoch
        {
            self.open = Some(*open);
        }
    }

    pub(super) fn abort_step(&mut self) {
        if self.physics.abort_step() {
            self.run.past.abort_step(self.physics.tick());
            self.clock.take_back_step();
        }
    }

    /// Ends the last step, and drops due ones.
    fn abort_steps(&mut self) {
        self.end_finished_rollback();
        self.abort_step();
        self.leave_step();
        let dropped = self.clock.abort_frame();
        if let Some(open) = &mut self.open {
            open.dropped += dropped;
        }
    }
}
