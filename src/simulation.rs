//! The loop: elapsed time in, steps made, poses shown.

use std::convert::Infallible;
use std::time::Duration;

use rapier3d::pipeline::{PhysicsHooks, PhysicsWorld};

use crate::clock::{Clock, Dropped, Step, Steps};
use crate::events::{EventLog, Events};
use crate::forces::Forces;
use crate::key::BodyKey;
use crate::poses::{Counts, Poses};
use crate::rate::Rate;
use crate::targets::Targets;
use crate::world::World;

/// A Rapier world that is stepped at an even rate, and that has a smooth pose of every body for
/// every frame.
///
/// Insert bodies, [`advance`](Self::advance) it by the time that each frame took, and ask for
/// [`pose`](Self::pose)s, or go through those that [`moved`](Self::moved).
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
/// # Choosing access
/// | to | use | cost |
/// | --- | --- | --- |
/// | read one body | [`get`](Self::get) | none |
/// | change one body | [`get_mut`](Self::get_mut) | one look at the body in the next frame |
/// | put one body elsewhere | [`teleport`](Self::teleport), [`teleport_by`](Self::teleport_by) | the same |
/// | lead a kinematic body | [`set_target`](Self::set_target) | the same |
/// | move the origin of the world | [`shift_origin`](Self::shift_origin) | a look at every body in the next frame |
/// | queries, debug-render | [`world`](Self::world) | none |
/// | joints, anything else of Rapier | [`world_mut`](Self::world_mut) | a look at every body in the next frame |
pub struct Simulation {
    pub(crate) clock: Clock,
    pub(crate) world: World,
    pub(crate) targets: Targets,
    pub(crate) forces: Forces,
    log: EventLog,
    pub(crate) poses: Poses,
    /// The steps of this frame that are still to be made.
    steps: Steps,
    pub(crate) frame: Frame,
    /// Whether `world_mut` was called since every body was last looked at.
    pub(crate) edited: bool,
    /// Keys that died since the last frame, and those that had died by then.
    dying: Vec<BodyKey>,
    pub(crate) removed: Vec<BodyKey>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    /// Inside `advance`.
    Advancing,
    /// Inside Rapier's step; afterwards, if that panicked.
    Stepping,
}

/// What a frame did and dropped: from [`Simulation::advance`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Frame {
    /// The number of steps made.
    pub steps: u64,
    /// The number of steps made since the simulation began; the tick of the next one.
    pub tick: u64,
    /// The length of the last step, in seconds of simulated time; 0 before the first.
    pub dt: f32,
    /// How far the time is into the next step, as a fraction of it, in [0, 1): where between the
    /// previous and the current state the frame is shown. 1 with every
    /// [`Stepping`](crate::Stepping) but `Fixed`: there is nothing between, and the current
    /// state is shown.
    pub alpha: f32,
    /// What was cut, and why.
    pub dropped: Dropped,
    /// The number of dynamic and kinematic bodies that were awake after the last step.
    pub awake: usize,
    /// Values of [`Generator`](crate::Generator)s that were left out because they were not finite.
    pub rejected_forces: u64,
    /// Bodies that this frame looked at: those that moved, or might have. All others cost nothing.
    pub pairs: usize,
    /// Bodies that came to rest, with their final pose shown in this frame, and those that the game
    /// got hold of and that did not move: the next frame does not look at them.
    pub settled: usize,
    /// How often the game put a body elsewhere since the frame before: by
    /// [`Simulation::teleport`], [`Simulation::teleport_by`], or a position set through Rapier.
    /// Among the steps of one frame only the first two are noticed.
    pub teleported: usize,
    /// Calls of [`Simulation::prime`] since the frame before that had an effect so far.
    pub primed: usize,
    /// Bodies that are shown beyond their last state: [`Smoothing::Extrapolate`](crate::Smoothing::Extrapolate).
    pub extrapolated: usize,
}

/// A game's part in every step, for [`Simulation::advance_with`].
///
/// Where only [`before_step`](Self::before_step) is needed and cannot fail, a closure given to
/// [`Simulation::advance`] is enough. Implement this for a struct that borrows the game, or for
/// the game itself.
///
/// ```
/// use evenstep::{Hooks, Simulation, Step};
///
/// struct Game { hits: usize }
///
/// impl Hooks for Game {
///     type Error = std::convert::Infallible;
///
///     fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Self::Error> {
///         self.hits += simulation.events().collisions_in(step.tick).len();
///         Ok(())
///     }
/// }
/// ```
pub trait Hooks {
    /// What makes a hook fail; [`Infallible`] if none does.
    type Error;

    /// Called before each step: forces, input, spawn and despawn.
    ///
    /// # Errors
    /// An error ends the frame before this step: see [`Simulation::advance_with`].
    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Self::Error> {
        let _ = (simulation, step);
        Ok(())
    }

    /// Called after each step: its events, and reactions to them.
    ///
    /// # Errors
    /// An error ends the frame after this step: see [`Simulation::advance_with`].
    fn after_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Self::Error> {
        let _ = (simulation, step);
        Ok(())
    }

    /// Rapier's own hooks, called inside the step: filters of contacts, and their modification
    /// (one-way platforms, conveyor belts).
    fn physics_hooks(&self) -> &dyn PhysicsHooks {
        &()
    }
}

/// A closure as [`Hooks`].
struct BeforeStep<F>(F);

impl<F: FnMut(&mut Simulation, Step)> Hooks for BeforeStep<F> {
    type Error = Infallible;

    fn before_step(&mut self, simulation: &mut Simulation, step: Step) -> Result<(), Infallible> {
        (self.0)(simulation, step);
        Ok(())
    }
}

/// # Advancing
impl Simulation {
    /// An empty world under Rapier's default gravity, stepped at `rate`.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self::with_world(rate, PhysicsWorld::new())
    }

    /// A world that is there already. Its bodies have no key until they are
    /// [`track`](Self::track)ed; the length of its steps is set to that of `rate`.
    #[must_use]
    pub fn with_world(rate: Rate, world: PhysicsWorld) -> Self {
        let mut clock = Clock::new(rate);
        Self {
            steps: clock.advance(Duration::ZERO),
            clock,
            world: World::new(world),
            targets: Targets::default(),
            forces: Forces::default(),
            log: EventLog::default(),
            poses: Poses::new(),
            frame: Frame {
                steps: 0,
                tick: 0,
                dt: 0.0,
                alpha: 0.0,
                dropped: Dropped::default(),
                awake: 0,
                rejected_forces: 0,
                pairs: 0,
                settled: 0,
                teleported: 0,
                primed: 0,
                extrapolated: 0,
            },
            edited: false,
            dying: Vec::new(),
            removed: Vec::new(),
            state: State::Idle,
        }
    }

    /// Advances by the time that a frame took: makes the steps that are due, none or several,
    /// and the poses for this frame.
    ///
    /// `before_step` is called before each step, with the simulation and the step: add forces,
    /// take input, spawn and despawn there, and they are the same at every frame rate. It may
    /// borrow the game's own world. For a hook after the step, for errors and for Rapier's own
    /// hooks see [`advance_with`](Self::advance_with).
    ///
    /// # Panics
    /// If called from inside a hook, and if Rapier panicked in an earlier step: its world is
    /// then in an unknown state, and the simulation can only be dropped.
    ///
    /// A panic in `before_step` goes through. The simulation is then in the same state as after
    /// an error in [`advance_with`](Self::advance_with), and can go on.
    pub fn advance(
        &mut self,
        frame_time: Duration,
        before_step: impl FnMut(&mut Simulation, Step),
    ) -> Frame {
        let Ok(frame) = self.advance_with(frame_time, &mut BeforeStep(before_step));
        frame
    }

    /// [`advance`](Self::advance) with hooks before and after each step, which can fail.
    ///
    /// # Errors
    /// The first error of a hook. It ends the frame: steps that were made stay made, those that
    /// were still due are dropped and counted in [`Dropped::aborted`], forces for the step that was
    /// not made are forgotten, and the frame shows the latest state. [`frame`](Self::frame) tells
    /// what was done. The next frame goes on as usual.
    ///
    /// # Panics
    /// As [`advance`](Self::advance).
    pub fn advance_with<H: Hooks>(
        &mut self,
        frame_time: Duration,
        hooks: &mut H,
    ) -> Result<Frame, H::Error> {
        let advancing = Advancing::begin(self, frame_time);
        let simulation = &mut *advancing.0;
        while let Some(step) = simulation.steps.peek() {
            hooks.before_step(simulation, step)?;
            simulation.step(&step, hooks.physics_hooks());
            hooks.after_step(simulation, step)?;
        }
        drop(advancing);
        Ok(self.frame)
    }

    fn begin_frame(&mut self, frame_time: Duration) {
        match self.state {
            State::Idle => self.state = State::Advancing,
            State::Advancing => panic!("advance was called from inside a hook"),
            State::Stepping => panic!("Rapier panicked in an earlier step; drop this simulation"),
        }
        self.steps = self.clock.advance(frame_time);
        self.frame.steps = 0;
        self.frame.dropped = self.steps.dropped();
        self.frame.rejected_forces = 0;
        self.log.events.clear();
    }

    /// Targets, forces, Rapier's step, what it reports, and before and after the last one of the
    /// frame the poses.
    fn step(&mut self, step: &Step, hooks: &dyn PhysicsHooks) {
        let is_captured = self.steps.len() == 1 || self.poses.keeps_history();
        self.targets.apply(&mut self.world, step);
        let World { physics, keys, .. } = &mut self.world;
        self.frame.rejected_forces += self.forces.apply(&mut physics.bodies, keys, step);
        if is_captured {
            self.notice_edits();
            self.poses.begin_step(&self.world);
        }
        self.state = State::Stepping;
        self.world.step(step, hooks, &mut self.log);
        self.state = State::Advancing;
        self.steps.next();
        self.frame.steps += 1;
        self.frame.dt = step.dt;
        self.forces.restore(&mut self.world.physics);
        self.report_quarantine(step.tick);
        if is_captured {
            self.poses.end_step(&self.world, step.tick + 1, step.dt);
        } else {
            self.poses.skip_step(&self.world);
        }
    }

    fn report_quarantine(&mut self, tick: u64) {
        for handle in self.world.physics.quarantine().bodies() {
            if let Some(key) = self.world.keys.key(*handle) {
                self.log.events.quarantine(tick, key);
            }
        }
    }

    /// Also called when a hook failed or panicked.
    fn end_frame(&mut self) {
        if self.state == State::Stepping {
            return;
        }
        self.abort_steps();
        self.notice_edits();
        self.poses.notice_touched(&self.world);
        self.frame.tick = self.clock.tick();
        self.frame.alpha = if self.clock.stepping().leaves_a_fraction() {
            self.clock.alpha()
        } else {
            1.0
        };
        self.frame.awake = self.world.physics.islands.num_active_bodies();
        let counts = self.poses.show(self.frame.alpha);
        self.frame.count(counts);
        self.removed.clear();
        self.removed.append(&mut self.dying);
        self.state = State::Idle;
    }

    fn abort_steps(&mut self) {
        let left = self.steps.len();
        if left == 0 {
            return;
        }
        self.steps = self.clock.abort(&self.steps);
        self.frame.dropped.aborted = left;
        self.forces.clear_pushes();
        self.forces.restore(&mut self.world.physics);
        self.poses.resync(&self.world, self.clock.tick());
    }

    /// If the game had the whole world in its hands, looks at every body.
    pub(crate) fn notice_edits(&mut self) {
        if !std::mem::take(&mut self.edited) {
            return;
        }
        let mut dead = Vec::new();
        for (key, handle) in self.world.keys.iter() {
            match self.world.physics.bodies.get(handle) {
                Some(body) => self.poses.notice(key, handle, *body.position()),
                None => dead.push(key),
            }
        }
        self.poses.doubt();
        for key in dead {
            self.world.keys.found_dead(key);
            self.died(key);
        }
    }

    pub(crate) fn died(&mut self, key: BodyKey) {
        self.poses.remove(key);
        self.targets.remove(key);
        self.dying.push(key);
    }

    /// What the last frame did and dropped; also after one that ended with an error.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// The number of steps made so far. In a hook, `step.tick` is the number of the step at hand.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.steps.next_tick()
    }

    /// The clock: its time, its rate, and what was dropped so far.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The clock, to pause, change the speed, set the clamps. Changes made in a hook hold from
    /// the next frame on.
    ///
    /// Time is handed to [`advance`](Self::advance), not to the clock: steps that the clock itself
    /// gives out are never made.
    pub fn clock_mut(&mut self) -> &mut Clock {
        &mut self.clock
    }

    /// The events of all steps of the last frame, or in a hook, of those made so far in this one.
    #[must_use]
    pub fn events(&self) -> &Events {
        &self.log.events
    }
}

impl Frame {
    fn count(&mut self, counts: Counts) {
        self.pairs = counts.pairs;
        self.settled = counts.settled;
        self.teleported = counts.teleported;
        self.primed = counts.primed;
        self.extrapolated = counts.extrapolated;
    }
}

/// Ends the frame however it is left: by its end, by an error, by a panic.
struct Advancing<'a>(&'a mut Simulation);

impl<'a> Advancing<'a> {
    fn begin(simulation: &'a mut Simulation, frame_time: Duration) -> Self {
        simulation.begin_frame(frame_time);
        Self(simulation)
    }
}

impl Drop for Advancing<'_> {
    fn drop(&mut self) {
        self.0.end_frame();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rapier3d::prelude::*;

    /// A simulation must fit onto a thread of its own.
    const _: fn() = || {
        fn send_and_sync<T: Send + Sync>() {}
        send_and_sync::<Simulation>();
    };

    #[test]
    fn only_bodies_that_move_are_looked_at() {
        let mut simulation = Simulation::new(Rate::hz(60).unwrap());
        simulation.world_mut().gravity = Vector::ZERO;
        let keys: Vec<BodyKey> = (0..100u8)
            .map(|i| {
                let body = RigidBodyBuilder::dynamic().translation(Vector::X * 2.0 * f32::from(i));
                simulation.insert(body, ColliderBuilder::ball(0.5))
            })
            .collect();
        simulation.clock_mut().set_max_frame_time(Duration::MAX);
        assert_eq!(simulation.poses.moving_len(), 100);
        assert_eq!(
            simulation.advance(Duration::from_secs(5), |_, _| ()).awake,
            0
        );
        simulation.advance(Duration::from_secs(1), |_, _| ());
        assert_eq!(simulation.poses.moving_len(), 0);
        for key in &keys[10..13] {
            simulation.apply_impulse(*key, Vector::Y).unwrap();
        }
        simulation
            .get_mut(keys[50])
            .unwrap()
            .set_linvel(Vector::ZERO, false);
        for _ in 0..2 {
            simulation.advance(Duration::from_millis(40), |_, _| ());
            assert_eq!(simulation.poses.moving_len(), 3);
        }
    }
}
