//! The loop: elapsed time in, steps made one at a time, poses shown.

// All that a step depends on.
mod state;
// Earlier ones.
mod ring;
// Steps that are made again after a rollback.
mod resimulate;
// Back in time.
mod rewind;
// Bodies and their keys.
mod bodies;
// Putting bodies elsewhere, and moving them by targets.
mod placing;
// Forces for a step, and lasting ones.
mod forces;
// What a renderer asks.
mod shown;
// Rate, speed, pause: the clock's settings.
mod settings;
// The two short forms of the loop.
mod advance;
// What a frame did, by name.
mod metrics;
// Written and read.
#[cfg(feature = "serde")]
mod saving;

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use crate::key::BodyKey;
use crate::key_log::KeyLog;
use crate::pose::PoseCounts;
use crate::rapier::pipeline::{PhysicsHooks, PhysicsWorld};
use crate::step::{EventChanges, Events, World};
use crate::time::{Clock, Dropped, Rate, Step};

use resimulate::Resimulation;
use ring::Ring;
use state::State;

pub use advance::Hooks;
#[cfg(feature = "threads")]
pub(crate) use advance::or_none;
pub use rewind::{ResimulateError, RewindError};

/// A Rapier world that is stepped at a fixed rate, with a smooth pose of every body for every frame.
///
/// Insert bodies, [`advance`](Self::advance) it by the time that each frame took, and draw the
/// [`pose`](Self::pose) of each body, or only of those that [`moved`](Self::moved).
///
/// ```
/// use evenstep::rapier3d::prelude::*;
/// use evenstep::{Rate, Simulation};
/// use std::time::Duration;
///
/// let mut simulation = Simulation::new(Rate::hz(60)?);
/// let ball = simulation.insert(
///     RigidBodyBuilder::dynamic().translation(Vector::Y * 10.0),
///     ColliderBuilder::ball(0.5),
/// );
/// // 144 frames a second: most frames have no step, and yet the ball is elsewhere in each.
/// let mut height = 10.0;
/// for _ in 0..144 {
///     simulation.advance(Duration::from_nanos(6_944_444), |_, _| ());
///     let shown = simulation.pose(ball).unwrap().translation.y;
///     assert!(shown <= height);
///     height = shown;
/// }
/// # Ok::<(), evenstep::RateError>(())
/// ```
///
/// # Choosing a loop
/// | where the simulation lives | use |
/// | --- | --- |
/// | in a variable beside the game | [`advance`](Self::advance) with a closure that is called before each step |
/// | the same, with hooks after each step, errors, or Rapier's own hooks | [`advance_with`](Self::advance_with) |
/// | inside the game's own world: a resource of an ECS with schedules | [`begin_frame`](Self::begin_frame), [`next_step`](Self::next_step), [`make_step`](Self::make_step), [`end_frame`](Self::end_frame) |
/// | on a thread of its own, because a step takes too long for a frame | `Runner`, with the feature `threads` |
/// | the same, with hooks that stay on the game's thread | `Overlap`, with the feature `threads` |
///
/// # The order of a step
/// 1. [`next_step`](Self::next_step): kinematic [targets](Self::set_kinematic_target) are applied, so the
///    `next_position()` of a moving platform is where it will be after this step.
/// 2. The game: input, forces, spawn, despawn. A target that is set here is applied at once.
/// 3. [`make_step`](Self::make_step): forces and [force generators](crate::ForceGenerator), then Rapier's
///    step, then its events, then the poses.
/// 4. The game again: reactions to [`events`](Self::events).
///
/// # Choosing access
/// | to | use | cost |
/// | --- | --- | --- |
/// | read one body | [`body`](Self::body) | none |
/// | change one body | [`body_mut`](Self::body_mut) | one look at the body in the next frame |
/// | put one body elsewhere | [`teleport`](Self::teleport), [`teleport_by`](Self::teleport_by) | the same |
/// | move a kinematic body | [`set_kinematic_target`](Self::set_kinematic_target) | the same |
/// | move the origin of the world | [`shift_origin`](Self::shift_origin) | a look at every body in the next frame |
/// | queries, debug-render | [`physics`](Self::physics) | none |
/// | character controllers, vehicles | [`query_pipeline_mut`](Self::query_pipeline_mut) | none |
/// | joints, gravity, parameters | [`physics_mut_for`](Self::physics_mut_for) | one look at each body that is named |
/// | anything else of Rapier | [`physics_mut`](Self::physics_mut) | a look at every body in the next frame |
///
/// # The state as a value
/// A clone is a saved state: everything that the next step and the next frame depend on. Restored, it continues
/// bit for bit: poses, velocities, events, new keys, [`moved`](Self::moved).
///
/// ```
/// # use evenstep::rapier3d::prelude::*;
/// # use evenstep::Simulation;
/// # use std::time::Duration;
/// # let mut simulation = Simulation::default();
/// # let body = RigidBodyBuilder::dynamic().angvel(Vector::ONE);
/// # let key = simulation.insert(body, ColliderBuilder::ball(0.5));
/// let saved = simulation.clone();
/// simulation.advance(Duration::from_millis(40), |_, _| ());
/// let pose = simulation.pose(key);
///
/// simulation.clone_from(&saved); // or, if it is needed once: simulation = saved
/// simulation.advance(Duration::from_millis(40), |_, _| ());
/// assert_eq!(simulation.pose(key), pose);
/// ```
///
/// It holds Rapier's sets, phases, parameters and gravity; the clock with its settings; the last two states of
/// every body and the [history](Self::set_history); keys, targets, force generators, pending forces; the
/// events and counts of the frame. A clone made within a frame is in the middle of that frame.
///
/// It does not hold what the game keeps beside the simulation: input queues, its own components, what a
/// [`ForceGenerator::custom`](crate::ForceGenerator::custom) has captured, [`Hooks`]. Clone these with it: an
/// [`InputQueue`](crate::InputQueue) is `Clone` too. Nor does it hold the [states kept](Self::set_rewind_limits)
/// for a rollback, Rapier's quarantine list of the last step, a thread pool set on Rapier's world, and its counters.
///
/// Keys of bodies that were inserted after the state was saved are dead once it is restored; the same steps made
/// again give the same keys. A host with entities of its own compares its keys with [`bodies`](Self::bodies).
#[derive(Clone)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(remote = "Self")
)]
pub struct Simulation {
    clock: Clock,
    state: State,
    frame: Frame,
    #[cfg_attr(feature = "serde", serde(skip))]
    is_in_frame: bool,
    #[cfg_attr(feature = "serde", serde(skip))]
    phase: Phase,
    #[cfg_attr(feature = "serde", serde(skip))]
    ring: Ring,
    /// After a rollback, until the present is reached.
    #[cfg_attr(feature = "serde", serde(skip))]
    resimulation: Option<Box<Resimulation>>,
    /// What the last run of steps made again did to the events.
    #[cfg_attr(feature = "serde", serde(skip))]
    event_changes: EventChanges,
    /// Steps that were made again since the last frame was begun.
    #[cfg_attr(feature = "serde", serde(skip))]
    made_again: u64,
    /// Real time since the last frame was shown, but for pauses.
    #[cfg_attr(feature = "serde", serde(skip))]
    shown_for: Duration,
    /// Keys that died since the last frame, and those that had died by then.
    dying: Vec<BodyKey>,
    removed: Vec<BodyKey>,
    /// The latter of earlier frames too.
    removals: KeyLog,
}

/// Where in a step the simulation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Between two steps.
    #[default]
    Between,
    /// The game is at work on a step that was taken and is not made yet.
    Taken,
    /// Inside Rapier's step; afterwards, if that panicked.
    Stepping,
}

/// What a frame did and dropped: from [`Simulation::end_frame`] and [`Simulation::advance`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Frame {
    /// The number of frames that have been ended, this one included; 0 before the first.
    pub number: u64,
    /// The number of steps made.
    pub steps: u64,
    /// The number of steps that were made again after a [rollback](Simulation::roll_back), since the frame
    /// before.
    pub resimulated: u64,
    /// The number of steps made since the simulation began; the tick of the next one.
    pub tick: u64,
    /// The length of the last step, in seconds of simulated time; 0 before the first.
    pub dt: f32,
    /// How far the time is into the next step, as a fraction of it, in [0, 1): where between the
    /// previous and the current state the frame is shown. 1 with every
    /// [`Stepping`](crate::Stepping) but `Fixed`, and in a frame that ended before its last step: the current
    /// state is then shown.
    pub alpha: f32,
    /// What was dropped, and why.
    pub dropped: Dropped,
    /// The number of dynamic and kinematic bodies that were awake after the last step.
    pub awake: usize,
    /// The number of values of [`ForceGenerator`](crate::ForceGenerator)s that were ignored because they were not
    /// finite.
    pub rejected_forces: u64,
    /// The number of forces and impulses that were discarded at the end of the frame because time stands still:
    /// see [Forces](Simulation#forces).
    pub forgotten_forces: u64,
    /// What happened to the poses.
    pub poses: PoseCounts,
}

impl Frame {
    /// The ticks of the steps made in this frame.
    #[must_use]
    pub fn ticks(&self) -> Range<u64> {
        self.tick.saturating_sub(self.steps)..self.tick
    }
}

/// # Construction
impl Simulation {
    /// An empty world under Rapier's default gravity, stepped at `rate`.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self::with_physics(rate, PhysicsWorld::new())
    }

    /// Takes over an existing world. Its bodies have no key until they are [`track`](Self::track)ed; the length of its
    /// steps is set to that of `rate`.
    #[must_use]
    pub fn with_physics(rate: Rate, physics: PhysicsWorld) -> Self {
        Self {
            clock: Clock::new(rate),
            state: State::new(physics),
            frame: Frame::default(),
            is_in_frame: false,
            phase: Phase::Between,
            ring: Ring::default(),
            resimulation: None,
            event_changes: EventChanges::default(),
            made_again: 0,
            shown_for: Duration::ZERO,
            dying: Vec::new(),
            removed: Vec::new(),
            removals: KeyLog::default(),
        }
    }
}

impl Default for Simulation {
    /// An empty world at [the default rate](Rate::default), 60 Hz.
    fn default() -> Self {
        Self::new(Rate::default())
    }
}

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
/// | a frame is begun while one is open, because a system panicked or `end_frame` was forgotten | The open frame continues as the new one, with its counts, its events and the bodies that moved. Steps that were still due are dropped, see [`Dropped::aborted`]. |
/// | `end_frame` while steps are due | They are dropped and counted in [`Dropped::aborted`], and the frame shows the latest state. |
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

    fn check_world(&self) {
        assert!(
            self.phase != Phase::Stepping,
            "Rapier panicked in the step of tick {}: drop this simulation, or rewind it",
            self.tick()
        );
    }

    /// Takes the next step that is due in this frame, for the game to do its part in it; `None` if none is.
    ///
    /// Then [`make_step`](Self::make_step). After a [rollback](Self::roll_back) the steps that are to be made again
    /// come first, also outside of a frame.
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
    fn peek(&self) -> Option<Step> {
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
        self.removed.clear();
        self.removed.append(&mut self.dying);
        for key in &self.removed {
            self.removals.push(self.frame.number, *key);
        }
        self.frame
    }

    /// The last frame goes on, which was ended so that the state could be looked at.
    #[cfg(feature = "threads")]
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
    fn notice_edits(&mut self) {
        let tick = self.tick();
        let mut put = Vec::new();
        if std::mem::take(&mut self.state.edits.all) {
            let mut dead = Vec::new();
            for (key, handle) in self.state.world.keys.iter() {
                match self.state.world.position(handle) {
                    Some(position) if self.state.poses.notice(key, handle, position, tick) => {
                        put.push(handle);
                    }
                    Some(_) => (),
                    None => dead.push(key),
                }
            }
            self.state.poses.doubt_all();
            for key in dead {
                self.state.world.keys.found_dead(key);
                self.died(key);
            }
        }
        for key in self.state.edits.bodies.drain(..) {
            if let Some(handle) = self.state.world.handle(key)
                && let Some(position) = self.state.world.position(handle)
                && self.state.poses.look_at(key, handle, position, tick)
            {
                put.push(handle);
            }
        }
        for handle in put {
            self.place_links(handle);
        }
    }

    fn died(&mut self, key: BodyKey) {
        self.state.poses.remove(key);
        self.state.targets.remove(key);
        // While steps are made again, who died is known once the present is reached.
        if self.resimulation.is_none() {
            self.dying.push(key);
        }
    }

    /// What the last frame did and dropped; within a frame, what this one has done so far.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// The number of steps made so far; the tick of the next one.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.clock().tick()
    }

    /// The step that [`next_step`](Self::next_step) has returned and that is not made yet: for systems of an ECS
    /// that cannot get it as an argument.
    #[must_use]
    pub fn current_step(&self) -> Option<Step> {
        self.peek().filter(|_| self.phase == Phase::Taken)
    }

    /// The clock: its time, its settings, and what was dropped so far. While steps are made again, it is as it was
    /// before the current step.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        let again = self.resimulation.as_ref().and_then(|again| again.clock());
        again.unwrap_or(&self.clock)
    }

    /// What frames show, for another thread.
    #[cfg(feature = "threads")]
    pub(crate) fn poses(&self) -> &crate::pose::Poses {
        &self.present().poses
    }

    /// The events of all steps of the last frame; within a frame, of those made so far in this one.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.state.log.events
    }
}

impl fmt::Debug for Simulation {
    /// The sizes of things, not all their contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("clock", &self.clock)
            .field("frame", &self.frame)
            .field("bodies", &self.state.world.physics.bodies.len())
            .field("colliders", &self.state.world.physics.colliders.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rapier::prelude::*;

    /// A simulation must fit onto a thread of its own.
    const _: fn() = || {
        fn send_and_sync<T: Send + Sync>() {}
        send_and_sync::<Simulation>();
    };

    #[test]
    fn only_bodies_that_move_are_looked_at() {
        let mut simulation = Simulation::new(Rate::hz(60).unwrap());
        simulation.physics_mut().gravity = Vector::ZERO;
        let keys: Vec<BodyKey> = (0..100u8)
            .map(|i| {
                let body = RigidBodyBuilder::dynamic().translation(Vector::X * 2.0 * f32::from(i));
                simulation.insert(body, ColliderBuilder::ball(0.5))
            })
            .collect();
        simulation.set_max_frame_time(Duration::MAX);
        assert_eq!(simulation.state.poses.moving_len(), 100);
        assert_eq!(
            simulation.advance(Duration::from_secs(5), |_, _| ()).awake,
            0
        );
        simulation.advance(Duration::from_secs(1), |_, _| ());
        assert_eq!(simulation.state.poses.moving_len(), 0);
        for key in &keys[10..13] {
            simulation.apply_impulse(*key, Vector::Y).unwrap();
        }
        simulation
            .body_mut(keys[50])
            .unwrap()
            .set_linvel(Vector::ZERO, false);
        for _ in 0..2 {
            simulation.advance(Duration::from_millis(40), |_, _| ());
            assert_eq!(simulation.state.poses.moving_len(), 3);
        }
    }
}
