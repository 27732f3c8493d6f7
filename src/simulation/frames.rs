//! The loop, driven by the game: frames begun and ended, and the steps between.

use std::time::Duration;

use crate::key::BodyKey;
use crate::step::{Events, World};
use crate::time::Step;
use rapier::dynamics::RigidBody;
use rapier::pipeline::PhysicsHooks;

use super::state::{State, StepStage};
use super::{Frame, Simulation};

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
/// assert_eq!((frame.steps, world.simulation.tick()), (2, 2));
/// ```
///
/// # Misuse
/// | what happens | what follows |
/// | --- | --- |
/// | a frame is begun while one is open, because a system panicked or `end_frame` was forgotten | The open frame continues as the new one, with its counts, its events and the bodies that moved. Steps that were still due are dropped, see [`Dropped::aborted`](crate::Dropped::aborted). |
/// | `end_frame` while steps are due | They are dropped and counted in [`Dropped::aborted`](crate::Dropped::aborted), and the frame shows the latest state. |
/// | `next_step` twice before `make_step` | The same step again. |
/// | `next_step` when none is due, or outside of a frame | `None` |
/// | `make_step` when no step was taken | Nothing; it returns `false`. |
/// | `end_frame` outside of a frame | Nothing; it returns the last frame's counts again. |
/// | the simulation is replaced within a frame | The new one is outside of a frame: the three lines above. Its bodies are in [`moved`](Self::moved) from the next frame on. |
/// | [`advance`](Self::advance) inside its own hook | A frame begun while one is open; the outer one then has no step left. |
///
/// When a step that was taken is not made, forces that were added since it was taken are discarded, because the
/// game will add them again for that tick. Everything else that the game did stays.
impl Simulation {
    /// Begins a frame by the time that it took: plans the steps that are due.
    ///
    /// # Panics
    /// If Rapier panicked in an earlier step: its world is then in an unknown state, and the simulation can
    /// only be dropped, or [rewound](Self::rewind).
    pub fn begin_frame(&mut self, frame_time: Duration) {
        self.check_world();
        if self.is_in_frame() {
            self.abort_steps();
        } else {
            self.catch_up();
            if self.clock.settings().new_tick().is_some() {
                self.abort_resimulation();
            }
            self.frame = Frame {
                number: self.frame.number,
                dt: self.frame.dt,
                ..Frame::default()
            };
            match &mut self.resimulation {
                Some(again) => again.events.clear(),
                None => self.events.clear(),
            }
        }
        self.is_in_frame = true;
        let tick = self.clock.tick();
        let between = std::mem::take(&mut self.resimulated_between);
        self.frame.resimulated = self.frame.resimulated.saturating_add(between);
        let again = (self.frame.resimulated).saturating_add(self.steps_to_resimulate());
        let leaves_a_fraction = self.clock.settings().leaves_a_fraction();
        self.frame.dropped += self.clock.begin_frame_after(again, frame_time);
        self.frame.tick = self.clock.tick();
        if self.frame.tick != tick {
            self.renumber(self.frame.tick);
        }
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
            self.state.stage != StepStage::Poisoned,
            "Rapier panicked in the step of tick {}: drop this simulation, or rewind it",
            self.tick()
        );
    }

    /// Takes the next step that is due in this frame; `None` if none is. The game does its part in the step, then calls
    /// [`make_step`](Self::make_step).
    ///
    /// After a [rollback](Self::roll_back) the steps that are to be resimulated come first, also outside of a frame.
    pub fn next_step(&mut self) -> Option<Step> {
        if self.state.stage == StepStage::Poisoned {
            return None;
        }
        self.catch_up();
        if self.current_step().is_some() {
            return self.current_step();
        }
        let Some(step) = self.peek() else {
            self.state.stage = StepStage::Idle;
            return None;
        };
        if self.past.is_on() {
            span!("keep_state");
            if self.past.keeps_snapshots() {
                self.state.resources.check_whole();
            }
            self.notice_edits();
            let clock = self.clock().clone();
            self.past.begin_step(clock, &self.state);
        }
        self.state.targets.apply(&mut self.state.world, step);
        self.state.forces.begin_step();
        self.state.stage = StepStage::Before(step);
        Some(step)
    }

    /// Whether a frame is open.
    pub(crate) fn is_in_frame(&self) -> bool {
        self.is_in_frame
    }

    /// The next step: one that is to be resimulated, or one that is due in this frame.
    pub(super) fn peek(&self) -> Option<Step> {
        match &self.resimulation {
            Some(again) => again.step(),
            None if !self.is_in_frame => None,
            None => self.clock.peek(),
        }
    }

    /// The first tick of which an edit at this moment is seen: after the step at hand, if there is one.
    pub(super) fn first_known_tick(&self) -> u64 {
        self.tick() + u64::from(self.current_step().is_some())
    }

    /// Makes the step that [`next_step`](Self::next_step) has returned. Returns whether there was one.
    pub fn make_step(&mut self) -> bool {
        self.make_step_with(&())
    }

    /// [`make_step`](Self::make_step) with Rapier's own hooks, called inside the step: to filter contacts,
    /// and to modify them (one-way platforms, conveyor belts).
    pub fn make_step_with(&mut self, hooks: &dyn PhysicsHooks) -> bool {
        self.make_taken(hooks, false)
    }

    /// [`make_step_with`](Self::make_step_with), of a step that a view may show before the frame is over.
    pub(crate) fn make_shown_step(&mut self, hooks: &dyn PhysicsHooks) -> bool {
        self.make_taken(hooks, true)
    }

    fn make_taken(&mut self, hooks: &dyn PhysicsHooks, is_shown: bool) -> bool {
        let StepStage::Before(step) = self.state.stage else {
            return false;
        };
        let is_last = match self.steps_to_resimulate() {
            0 => step.is_last,
            left => left == 1,
        };
        let is_captured = is_shown || is_last || self.past.needs_poses(step.tick + 1);
        let World { physics, keys, .. } = &mut self.state.world;
        let rejected = self.state.forces.apply(&mut physics.bodies, keys, step);
        if !step.is_resimulated {
            self.frame.rejected_forces += rejected;
        }
        if is_captured {
            span!("take_poses");
            self.notice_edits();
            self.list_woken();
            self.past.keep_displaced(&self.state.pairs);
            (self.state.pairs).begin_step(&self.state.world, step.tick, step.dt);
        }
        self.state.stage = StepStage::Poisoned;
        let State {
            world, event_log, ..
        } = &mut self.state;
        world.step(step, hooks, event_log, &mut self.events);
        self.state.stage = StepStage::After;
        self.state.forces.end_step(&mut self.state.world.physics);
        self.state.targets.end_step(step);
        self.take_poses(step, is_captured);
        self.past.end_step(step.tick, Events(&self.events));
        self.count(step);
        true
    }

    /// After the step.
    fn take_poses(&mut self, step: Step, is_captured: bool) {
        span!("take_poses");
        let State { pairs, world, .. } = &mut self.state;
        if is_captured {
            pairs.end_step(world, step.tick + 1, step.dt, &self.smoothing);
        } else {
            pairs.align_awake(world);
        }
    }

    fn count(&mut self, step: Step) {
        if let Some(again) = &mut self.resimulation {
            if let Some(changes) = again.end_step(&self.events) {
                self.event_changes = changes;
            }
            let made = if self.is_in_frame {
                &mut self.frame.resimulated
            } else {
                &mut self.resimulated_between
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
    pub fn end_frame(&mut self) -> Frame {
        if self.end_frame_unshown() {
            span!("show_poses");
            self.show();
        }
        self.frame
    }

    /// [`end_frame`](Self::end_frame) of a simulation that a view shows. Gives whether a frame was open.
    pub(crate) fn end_frame_unshown(&mut self) -> bool {
        if !self.is_in_frame || self.state.stage == StepStage::Poisoned {
            return false;
        }
        self.abort_steps();
        self.is_in_frame = false;
        self.notice_edits();
        if self.frame.steps == 0 && self.clock.settings().is_stopped() {
            self.frame.forgotten_forces = self.state.forces.forget_those_of_pause();
        }
        self.frame.number = self.frame.number.saturating_add(1);
        let State {
            world, pairs, log, ..
        } = &mut self.state;
        self.frame.awake = world.physics.islands.num_active_bodies();
        pairs.settle(world, log);
        self.frame.poses = std::mem::take(&mut log.counts);
        true
    }

    /// The last frame goes on after its step, which was ended so that the state could be looked at.
    pub(crate) fn resume_frame(&mut self) {
        if !self.is_in_frame {
            self.is_in_frame = true;
            self.present_mut().stage = StepStage::After;
            self.frame.number -= 1;
            self.state.log.counts = std::mem::take(&mut self.frame.poses);
        }
    }

    /// Whether steps were resimulated between the last frame and this one.
    pub(crate) fn has_resimulated(&self) -> bool {
        self.resimulated_between > 0
    }

    fn abort_steps(&mut self) {
        self.catch_up();
        self.abort_resimulation();
        if let StepStage::Before(_) = std::mem::take(&mut self.state.stage) {
            (self.state.forces).abort_step(&mut self.state.world.physics.bodies);
            self.past.abort_step(self.clock.tick());
        }
        let dropped = self.clock.abort_frame();
        if dropped.aborted > 0 {
            self.frame.dropped += dropped;
            self.frame.alpha = 1.0;
            self.notice_edits();
            let tick = self.clock.tick();
            self.past.replace_poses(&self.state.pairs, tick);
            self.state.pairs.resync(&self.state.world, tick);
        }
    }

    /// Looks at what the game may have changed: which bodies are elsewhere, which are gone?
    pub(crate) fn notice_edits(&mut self) {
        let tick = self.tick();
        let (mut dead, mut put) = (Vec::new(), Vec::new());
        let State {
            world,
            pairs,
            edits,
            ..
        } = &mut self.state;
        if std::mem::take(&mut edits.all) {
            for (key, handle) in world.keys.iter() {
                let Some(position) = world.position(handle) else {
                    dead.push(key);
                    continue;
                };
                if pairs.notice(key, handle, position, tick) {
                    put.push(key);
                }
                pairs.list_if_awake(key, handle, &world.physics.bodies[handle]);
            }
            pairs.doubt_all();
        }
        for edited in edits.bodies.drain(..) {
            let root = world.handle(edited);
            // The links of a multibody go with its root.
            let links = root.into_iter().flat_map(|root| world.links(root));
            for handle in root.into_iter().chain(links) {
                if let Some(key) = world.keys.key(handle)
                    && let Some(position) = world.position(handle)
                {
                    pairs.doubt(key, handle);
                    if pairs.notice(key, handle, position, tick) {
                        put.push(key);
                    }
                }
            }
        }
        for key in put {
            self.put(key);
        }
        self.state.edits.any_woken |= !dead.is_empty();
        for key in dead {
            self.state.world.keys.found_dead(key);
            self.died(key);
        }
    }

    /// Lists the bodies that sleep before this step, and may sleep again after it, but may move in it.
    fn list_woken(&mut self) {
        let State {
            world,
            pairs,
            edits,
            ..
        } = &mut self.state;
        for key in edits.woken.drain(..) {
            if let Some(handle) = world.handle(key) {
                pairs.list_resting(key, handle);
            }
        }
        if std::mem::take(&mut edits.any_woken) {
            for (key, handle) in world.keys.iter() {
                if world.get(key).is_some_and(RigidBody::is_sleeping) {
                    pairs.list_resting(key, handle);
                }
            }
        }
    }

    pub(super) fn died(&mut self, key: BodyKey) {
        self.state.pairs.remove(key);
        self.state.targets.remove(key);
        self.state.log.removed.push(key);
    }
}
