//! The loop, driven by the game: frames begun and ended, and the steps between.

use std::time::Duration;

use crate::key::BodyKey;
use crate::step::World;
use crate::time::Step;
use rapier::pipeline::PhysicsHooks;

use super::state::State;
use super::{Frame, Phase, Simulation};

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
/// | the simulation is replaced within a frame | The new one is outside of a frame: the three lines above. Its bodies are in [`moved`](Self::moved) from the next frame on; their [`pose`](Self::pose) can be asked for at once. |
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
        if self.is_in_frame {
            self.abort_steps();
        } else {
            self.catch_up();
            self.frame = Frame {
                number: self.frame.number,
                dt: self.frame.dt,
                ..Frame::default()
            };
            self.present_mut().log.events.clear();
        }
        self.is_in_frame = true;
        let tick = self.clock.tick();
        self.frame.resimulated += std::mem::take(&mut self.made_again);
        let again = self.frame.resimulated + self.steps_to_resimulate();
        self.frame.dropped += self.clock.begin_frame_after(again, frame_time);
        self.frame.tick = self.clock.tick();
        if self.frame.tick != tick {
            self.renumber(self.frame.tick);
        }
        self.frame.alpha = if self.clock.stepping().leaves_a_fraction() {
            self.clock.alpha()
        } else {
            1.0
        };
        if !self.clock.is_paused() {
            self.shown_for += frame_time;
        }
    }

    pub(super) fn check_world(&self) {
        assert!(
            self.phase != Phase::Stepping,
            "Rapier panicked in the step of tick {}: drop this simulation, or rewind it",
            self.tick()
        );
    }

    /// Takes the next step that is due in this frame; `None` if none is. The game does its part in the step, then calls
    /// [`make_step`](Self::make_step).
    ///
    /// After a [rollback](Self::roll_back) the steps that are to be made again come first, also outside of a frame.
    pub fn next_step(&mut self) -> Option<Step> {
        if self.phase == Phase::Stepping {
            return None;
        }
        self.catch_up();
        let step = self.peek()?;
        if self.phase == Phase::Between {
            if self.ring.is_on() {
                span!("keep_state");
                let state = self.state.without_events();
                self.ring.push(self.clock().clone(), state);
            }
            self.state.targets.apply(&mut self.state.world, step);
            self.state.forces.begin_step();
            self.phase = Phase::Taken;
        }
        Some(step)
    }

    /// The next step: one that is to be made again, or one that is due in this frame.
    pub(super) fn peek(&self) -> Option<Step> {
        match &self.resimulation {
            Some(again) => again.step(),
            None if self.is_in_frame => self.clock.peek(),
            None => None,
        }
    }

    /// Makes the step that [`next_step`](Self::next_step) has returned. Returns whether there was one.
    pub fn make_step(&mut self) -> bool {
        self.make_step_with(&())
    }

    /// [`make_step`](Self::make_step) with Rapier's own hooks, called inside the step: to filter contacts,
    /// and to modify them (one-way platforms, conveyor belts).
    pub fn make_step_with(&mut self, hooks: &dyn PhysicsHooks) -> bool {
        if self.phase != Phase::Taken {
            return false;
        }
        let Some(step) = self.peek() else {
            return false;
        };
        let is_last = match self.steps_to_resimulate() {
            0 => step.is_last,
            left => left == 1,
        };
        let is_captured = is_last || self.ring.is_on() || self.state.poses.keeps_history();
        let World { physics, keys, .. } = &mut self.state.world;
        let rejected = self.state.forces.apply(&mut physics.bodies, keys, step);
        if !step.is_resimulated {
            self.frame.rejected_forces += rejected;
        }
        if is_captured {
            span!("take_poses");
            self.notice_edits();
            (self.state.poses).begin_step(&self.state.world, step.tick, step.dt);
        }
        self.phase = Phase::Stepping;
        (self.state.world).step(step, hooks, &mut self.state.log);
        self.phase = Phase::Between;
        self.state.forces.end_step(&mut self.state.world.physics);
        self.state.targets.end_step(step);
        self.report_quarantine(step.tick);
        self.take_poses(step, is_captured);
        self.ring.end_step(step.tick, &self.state.log.events);
        self.count(step);
        true
    }

    /// After the step.
    fn take_poses(&mut self, step: Step, is_captured: bool) {
        span!("take_poses");
        let State { poses, world, .. } = &mut self.state;
        if is_captured {
            poses.end_step(world, step.tick + 1, step.dt);
        } else {
            poses.skip_step(world);
        }
    }

    fn count(&mut self, step: Step) {
        if let Some(again) = &mut self.resimulation {
            if let Some(changes) = again.end_step(&self.state.log.events) {
                self.event_changes = changes;
            }
            let made = if self.is_in_frame {
                &mut self.frame.resimulated
            } else {
                &mut self.made_again
            };
            *made += 1;
            return;
        }
        self.clock.next_step();
        self.frame.tick = self.clock.tick();
        self.frame.steps += 1;
        self.frame.dt = step.dt;
    }

    /// Ends the frame: computes the poses that it shows. Returns what it did and dropped.
    pub fn end_frame(&mut self) -> Frame {
        if !self.is_in_frame || self.phase == Phase::Stepping {
            return self.frame;
        }
        span!("show_poses");
        self.abort_steps();
        self.is_in_frame = false;
        self.notice_edits();
        if self.frame.steps == 0 && self.clock.is_stopped() {
            self.frame.forgotten_forces = self.state.forces.forget();
        }
        self.frame.number += 1;
        let State { world, poses, .. } = &mut self.state;
        self.frame.awake = world.physics.islands.num_active_bodies();
        let shown_for = std::mem::take(&mut self.shown_for);
        self.frame.poses = poses.show(self.frame.alpha, world, self.frame.number, shown_for);
        // A key that a rollback has freed may have been given out again since.
        self.dying.retain(|key| world.handle(*key).is_none());
        self.removed.clear();
        self.removed.append(&mut self.dying);
        for key in &self.removed {
            self.removals.push(self.frame.number, *key);
        }
        self.frame
    }

    /// The last frame goes on, which was ended so that the state could be looked at.
    pub(crate) fn resume_frame(&mut self) {
        self.is_in_frame = true;
    }

    fn abort_steps(&mut self) {
        self.catch_up();
        self.give_up_again();
        if std::mem::take(&mut self.phase) == Phase::Taken {
            (self.state.forces).abort_step(&mut self.state.world.physics.bodies);
        }
        let dropped = self.clock.abort_frame();
        if dropped.aborted > 0 {
            self.frame.dropped += dropped;
            self.frame.alpha = 1.0;
            self.notice_edits();
            (self.state.poses).resync(&self.state.world, self.clock.tick());
        }
    }

    fn report_quarantine(&mut self, tick: u64) {
        let bodies = self.state.world.physics.quarantine().bodies().iter();
        let keys = bodies.filter_map(|handle| self.state.world.keys.key(*handle));
        self.state.log.events.quarantine(tick, keys);
    }

    /// Looks at what the game may have changed: which bodies are elsewhere, which are gone?
    pub(super) fn notice_edits(&mut self) {
        let tick = self.tick();
        let mut dead = Vec::new();
        let State {
            world,
            poses,
            edits,
            ..
        } = &mut self.state;
        if std::mem::take(&mut edits.all) {
            for (key, handle) in world.keys.iter() {
                match world.position(handle) {
                    Some(position) => poses.notice(key, handle, position, tick),
                    None => dead.push(key),
                }
            }
            poses.doubt_all();
        }
        for edited in edits.bodies.drain(..) {
            let root = world.handle(edited);
            // The links of a multibody go with its root.
            let links = root.into_iter().flat_map(|root| world.links(root));
            for handle in root.into_iter().chain(links) {
                if let Some(key) = world.keys.key(handle)
                    && let Some(position) = world.position(handle)
                {
                    poses.look_at(key, handle, position, tick);
                }
            }
        }
        for key in dead {
            self.state.world.keys.found_dead(key);
            self.died(key);
        }
    }

    pub(super) fn died(&mut self, key: BodyKey) {
        self.state.poses.remove(key);
        self.state.targets.remove(key);
        // While steps are made again, who died is known once the present is reached.
        if self.resimulation.is_none() {
            self.dying.push(key);
        }
    }
}
