//! The loop: elapsed time in, steps made, poses shown.

use std::convert::Infallible;
use std::time::Duration;

use nalgebra::Isometry3;
use rapier3d::dynamics::{RigidBody, RigidBodyHandle, RigidBodyType};
use rapier3d::geometry::{Collider, ColliderHandle};
use rapier3d::math::{Pose, Vector};
use rapier3d::pipeline::{PhysicsHooks, PhysicsWorld};

use crate::clock::{Clock, Dropped, Step, Steps};
use crate::events::{EventLog, Events};
use crate::forces::{BodyError, Forces, Generator, Push};
use crate::key::{BodyKey, GeneratorKey};
use crate::motion::Smoothing;
use crate::poses::{Counts, Poses};
use crate::rate::Rate;
use crate::slerp::to_isometry;
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
    clock: Clock,
    world: World,
    targets: Targets,
    forces: Forces,
    log: EventLog,
    poses: Poses,
    /// The steps of this frame that are still to be made.
    steps: Steps,
    frame: Frame,
    /// Whether `world_mut` was called since every body was last looked at.
    edited: bool,
    /// Keys that died since the last frame, and those that had died by then.
    dying: Vec<BodyKey>,
    removed: Vec<BodyKey>,
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
    /// Values of [`Generator`]s that were left out because they were not finite.
    pub rejected_forces: u64,
    /// Bodies that this frame looked at: those that moved, or might have. All others cost nothing.
    pub pairs: usize,
    /// Bodies that came to rest, with their final pose shown in this frame.
    pub settled: usize,
    /// Bodies that the game put elsewhere since the frame before: by
    /// [`Simulation::teleport`], [`Simulation::teleport_by`], or a position set through Rapier.
    pub teleported: usize,
    /// Bodies that were given a way by [`Simulation::prime`] since the frame before.
    pub primed: usize,
    /// Bodies that are shown beyond their last state: [`Smoothing::Extrapolate`].
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
        if self.frame.steps > 0 {
            self.poses.resync(&self.world, self.clock.tick());
        }
    }

    /// If the game had the whole world in its hands, looks at every body.
    fn notice_edits(&mut self) {
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

    fn died(&mut self, key: BodyKey) {
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

/// # Bodies
impl Simulation {
    /// Inserts a body and its collider.
    ///
    /// Its pose can be asked for at once. Its first motion starts from there, in the next step.
    pub fn insert(&mut self, body: impl Into<RigidBody>, collider: impl Into<Collider>) -> BodyKey {
        let (handle, _) = self.world.physics.insert(body, collider);
        self.key_for(handle)
    }

    /// Inserts a body without a collider: an anchor for joints, or one that gets several colliders.
    pub fn insert_body(&mut self, body: impl Into<RigidBody>) -> BodyKey {
        let handle = self.world.physics.insert_body(body);
        self.key_for(handle)
    }

    /// Attaches another collider to a body; `None` if the body is gone.
    ///
    /// A collider without a body is for Rapier alone: [`world_mut`](Self::world_mut).
    pub fn insert_collider(
        &mut self,
        key: BodyKey,
        collider: impl Into<Collider>,
    ) -> Option<ColliderHandle> {
        let parent = self.handle(key)?;
        // Its mass may be elsewhere from now on.
        self.poses.touch(key, parent);
        Some(self.world.physics.insert_collider(collider, Some(parent)))
    }

    /// Gives a key to a body that was made through Rapier's own API; its own key if it has one,
    /// `None` if there is no such body.
    pub fn track(&mut self, handle: RigidBodyHandle) -> Option<BodyKey> {
        if !self.world.physics.bodies.contains(handle) {
            return None;
        }
        Some(
            self.world
                .key(handle)
                .unwrap_or_else(|| self.key_for(handle)),
        )
    }

    fn key_for(&mut self, handle: RigidBodyHandle) -> BodyKey {
        let (key, dead) = self.world.keys.insert(handle);
        if let Some(dead) = dead {
            self.died(dead);
        }
        let position = *self.world.physics.bodies[handle].position();
        self.poses.insert(key, handle, position);
        key
    }

    /// Removes a body with its colliders, joints and generators, and gives it back; `None` if it
    /// is gone already. Its key is dead from now on.
    ///
    /// The bodies that it touches get their `Stopped` events in the next step.
    pub fn remove(&mut self, key: BodyKey) -> Option<RigidBody> {
        let handle = self.world.keys.remove(key)?;
        self.died(key);
        self.world.physics.remove_body(handle)
    }

    /// The body of this key; `None` if it is gone.
    #[must_use]
    pub fn get(&self, key: BodyKey) -> Option<&RigidBody> {
        self.world.get(key)
    }

    /// The body of this key, to change anything about it; `None` if it is gone.
    ///
    /// A position that is set here shows in the next frame, without a way from the old one.
    pub fn get_mut(&mut self, key: BodyKey) -> Option<&mut RigidBody> {
        let handle = self.world.keys.handle(key)?;
        let body = self.world.physics.bodies.get_mut(handle)?;
        self.poses.touch(key, handle);
        Some(body)
    }

    /// Rapier's handle of a body, for joints, ray casts and its own API; `None` if it is gone.
    #[must_use]
    pub fn handle(&self, key: BodyKey) -> Option<RigidBodyHandle> {
        self.world.handle(key)
    }

    /// The key of a body that Rapier names; `None` if the body is gone or has no key: see
    /// [`track`](Self::track).
    #[must_use]
    pub fn key(&self, handle: RigidBodyHandle) -> Option<BodyKey> {
        self.world.key(handle)
    }

    /// The key of the body that a collider is attached to: for ray casts and other queries.
    #[must_use]
    pub fn key_of_collider(&self, handle: ColliderHandle) -> Option<BodyKey> {
        self.key(self.world.physics.colliders.get(handle)?.parent()?)
    }

    /// Puts a body elsewhere at once and wakes it: it is shown there from now on, never on the
    /// way. Its velocity stays, a [target](Self::set_target) is forgotten. `pose` is in world
    /// space, its rotation of unit length.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body, [`BodyError::NotFinite`] if `pose` is not
    /// finite.
    pub fn teleport(&mut self, key: BodyKey, pose: Pose) -> Result<(), BodyError> {
        let handle = self.living(key, pose.is_finite())?;
        self.world.physics.bodies[handle].set_position(pose, true);
        self.targets.remove(key);
        self.poses.touch(key, handle);
        self.poses.teleport(key, handle, pose);
        Ok(())
    }

    /// Moves a body and its motion by an isometry of the world, and wakes it: for a portal, or the
    /// edge of a world that wraps around.
    ///
    /// Its pose, its velocities, both states that are shown, its [target](Self::set_target) and its
    /// [history](Self::set_history) are moved alike, so seen from the other side of the portal it
    /// goes on without a jump. `by` maps the way in to the way out: the pose becomes `by * pose`. Its
    /// rotation is of unit length.
    ///
    /// # Errors
    /// As [`teleport`](Self::teleport).
    pub fn teleport_by(&mut self, key: BodyKey, by: Pose) -> Result<(), BodyError> {
        let handle = self.living(key, by.is_finite())?;
        let body = &mut self.world.physics.bodies[handle];
        let next = by * body.next_position();
        body.set_position(by * body.position(), true);
        body.set_next_kinematic_position(next);
        body.set_linvel(by.rotation * body.linvel(), true);
        body.set_angvel(by.rotation * body.angvel(), true);
        self.targets.transform(key, &by);
        self.poses.touch(key, handle);
        self.poses.teleport_by(key, handle, &by);
        Ok(())
    }

    /// Makes `origin`, a point in world space, the new origin of the world: for worlds so large
    /// that f32 runs out of digits far from their origin.
    ///
    /// Bodies, colliders without a body, soft bodies, what the queries know, the poses of this frame,
    /// [targets](Self::set_target), [history](Self::set_history), forces that wait for the next step
    /// and the anchors of [`Generator::Spring`] are all moved by −`origin`; joints go with their bodies,
    /// the colliders of soft bodies follow in the next step. No velocity changes, and what sleeps goes
    /// on sleeping. What the game holds in world space it has to move itself, such as its camera, and
    /// what a [`Generator::custom`] has captured.
    ///
    /// # Cost and precision
    /// [`moved`](Self::moved) lists every body once, and the next step is one in which all are awake
    /// and all contacts are found anew: shift rarely, by large steps. From far out to near the
    /// origin positions are moved without rounding, and the contacts of the next step are the same to
    /// the bit; other ways round by the spacing of f32 at the larger distance, 0.03 mm at 500 m. A
    /// body that was about to fall asleep waits anew: Rapier takes the shift for motion.
    ///
    /// # Errors
    /// [`BodyError::NotFinite`] if `origin` is not finite; nothing is moved then.
    pub fn shift_origin(&mut self, origin: Vector) -> Result<(), BodyError> {
        if !origin.is_finite() {
            return Err(BodyError::NotFinite);
        }
        self.notice_edits();
        self.poses.notice_touched(&self.world);
        let by = Pose::from_translation(-origin);
        self.world.translate(by.translation);
        for (key, _) in self.world.keys.iter() {
            self.targets.transform(key, &by);
        }
        self.forces.translate(by.translation);
        self.poses.transform_all(&self.world, &by);
        Ok(())
    }

    /// Leads a body that is kinematic by position to `pose`, to be there at `time`.
    ///
    /// The steps until then share the way evenly, so that in each of them what rides on the body
    /// or is pushed by it feels the velocity that is seen: a target that was handed to Rapier once
    /// a frame would be reached in the first of its steps, and the others would see a body that
    /// stands. Set it once a frame, or once for a way of seconds; a later target takes the place of
    /// an earlier one, and one that no step was made for is kept. When it is reached the body stands.
    ///
    /// `time` is simulated time, which stands still in a pause and goes slower in slow motion: that of
    /// [`Clock::time`], of [`Step::time`]. For the end of the frame that is about to be advanced
    /// take [`Clock::time_after`]. A time that is past means the next step. `pose` is in world
    /// space, its rotation of unit length; the body turns by the shorter way.
    ///
    /// ```
    /// # use evenstep::rapier3d::prelude::*;
    /// # use evenstep::{Rate, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::new(Rate::hz(60)?);
    /// let lift = simulation.insert(
    ///     RigidBodyBuilder::kinematic_position_based(),
    ///     ColliderBuilder::cuboid(2.0, 0.1, 2.0),
    /// );
    /// for _ in 0..15 {
    ///     let frame_time = Duration::from_millis(66); // four steps
    ///     let time = simulation.clock().time_after(frame_time);
    ///     let height = 2.0 * time.as_secs_f32();
    ///     simulation.set_target(lift, Pose::translation(0.0, height, 0.0), time)?;
    ///     simulation.advance(frame_time, |simulation, _| {
    ///         let speed = simulation.get(lift).unwrap().linvel().y; // in the step before
    ///         assert!(simulation.tick() == 0 || (speed - 2.0).abs() < 0.01);
    ///     });
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`BodyError::Gone`], [`BodyError::NotFinite`] as [`teleport`](Self::teleport);
    /// [`BodyError::NotKinematic`] if the body is of another type.
    pub fn set_target(
        &mut self,
        key: BodyKey,
        pose: Pose,
        time: Duration,
    ) -> Result<(), BodyError> {
        let handle = self.living(key, pose.is_finite())?;
        if self.world.physics.bodies[handle].body_type() != RigidBodyType::KinematicPositionBased {
            return Err(BodyError::NotKinematic);
        }
        self.targets.set(key, pose, time);
        Ok(())
    }

    /// Lets a body that was just inserted or teleported move from its first frame on: its previous
    /// pose becomes the one that it would have had a step before, at its velocity.
    ///
    /// Without it a body that is inserted between two steps stands still until the next one. With
    /// it a bullet comes out of the muzzle in its first frame; until the next step it is shown up
    /// to a step's way behind where it was put, as everything else in the frame is.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn prime(&mut self, key: BodyKey) -> Result<(), BodyError> {
        let handle = self.living(key, true)?;
        let PhysicsWorld {
            bodies, colliders, ..
        } = &mut self.world.physics;
        let body = &mut bodies[handle];
        // Rapier would do so in the next step only.
        body.recompute_mass_properties_from_colliders(colliders);
        self.poses.touch(key, handle);
        let dt = self.clock.rate().dt();
        self.poses.prime(key, handle, body, dt);
        Ok(())
    }

    /// The handle of a body that a game wants to change.
    fn living(&self, key: BodyKey, is_finite: bool) -> Result<RigidBodyHandle, BodyError> {
        if !is_finite {
            return Err(BodyError::NotFinite);
        }
        self.handle(key).ok_or(BodyError::Gone)
    }

    /// Rapier's world: all its sets, queries and parameters.
    #[must_use]
    pub fn world(&self) -> &PhysicsWorld {
        &self.world.physics
    }

    /// Rapier's world, to change anything.
    ///
    /// Rapier does not tell which bodies were changed, so the next frame looks at every body with
    /// a key once, a few nanoseconds each: for a single body use [`get_mut`](Self::get_mut). A body
    /// that is removed here is noticed: its key is dead at once. Stepping the world here makes a
    /// step that the clock knows nothing of; the length of a step that is set here is not used.
    pub fn world_mut(&mut self) -> &mut PhysicsWorld {
        self.edited = true;
        &mut self.world.physics
    }

    /// The keys that died between the last frame and the one before it, in whatever way their
    /// bodies were removed: for a host that keeps a table by key.
    ///
    /// A slotmap's `SecondaryMap` drops the entry of a dead key in silence when a later key takes
    /// its place: a table that has more to do for such an entry is better a `BTreeMap`.
    ///
    /// A body that was removed through Rapier's own API is listed in the frame after
    /// [`world_mut`](Self::world_mut) was used for it.
    #[must_use]
    pub fn removed(&self) -> &[BodyKey] {
        &self.removed
    }
}

/// # Forces
///
/// All of these act in the next step, in that step alone, and wake the body. In the hook before a
/// step they act in that one; between frames they wait for the first step of a later frame. They
/// do nothing to bodies that are not dynamic. Forces set through Rapier's own API are left as
/// they are.
///
/// A force changes the velocity over the step, an impulse before it: for the same momentum an
/// impulse moves a body further in that step.
///
/// Each gives [`BodyError::Gone`] if there is no such body, and [`BodyError::NotFinite`] if a value is
/// NaN or infinite.
#[expect(clippy::missing_errors_doc, reason = "above, once for all")]
impl Simulation {
    /// A force at the centre of mass: newtons, in world axes.
    pub fn add_force(&mut self, key: BodyKey, force: Vector) -> Result<(), BodyError> {
        self.push(key, Push::Force(force))
    }

    /// A force at a point: newtons and metres, in world space.
    pub fn add_force_at_point(
        &mut self,
        key: BodyKey,
        force: Vector,
        point: Vector,
    ) -> Result<(), BodyError> {
        self.push(key, Push::ForceAtPoint { force, point })
    }

    /// A torque about the centre of mass: newton metres, in world axes.
    pub fn add_torque(&mut self, key: BodyKey, torque: Vector) -> Result<(), BodyError> {
        self.push(key, Push::Torque(torque))
    }

    /// An impulse at the centre of mass: newton seconds, in world axes.
    pub fn apply_impulse(&mut self, key: BodyKey, impulse: Vector) -> Result<(), BodyError> {
        self.push(key, Push::Impulse(impulse))
    }

    /// An impulse at a point: newton seconds and metres, in world space.
    pub fn apply_impulse_at_point(
        &mut self,
        key: BodyKey,
        impulse: Vector,
        point: Vector,
    ) -> Result<(), BodyError> {
        self.push(key, Push::ImpulseAtPoint { impulse, point })
    }

    /// An angular impulse: newton metre seconds, in world axes.
    pub fn apply_torque_impulse(&mut self, key: BodyKey, impulse: Vector) -> Result<(), BodyError> {
        self.push(key, Push::TorqueImpulse(impulse))
    }

    fn push(&mut self, key: BodyKey, push: Push) -> Result<(), BodyError> {
        self.living(key, push.is_finite())?;
        self.forces.push(key, push);
        Ok(())
    }

    /// Lets a lasting force act on a body, from the next step on, until it is
    /// [removed](Self::remove_generator) or the body is.
    pub fn add_generator(
        &mut self,
        key: BodyKey,
        generator: Generator,
    ) -> Result<GeneratorKey, BodyError> {
        self.world.handle(key).ok_or(BodyError::Gone)?;
        Ok(self.forces.add_generator(key, generator))
    }

    /// Ends a lasting force and gives it back; `None` if it or its body is gone.
    pub fn remove_generator(&mut self, key: GeneratorKey) -> Option<Generator> {
        let (body, generator) = self.forces.remove_generator(key)?;
        self.world.handle(body).map(|_| generator)
    }

    /// A lasting force and the body that it acts on; `None` if one of them is gone.
    #[must_use]
    pub fn generator(&self, key: GeneratorKey) -> Option<(BodyKey, &Generator)> {
        let (body, generator) = self.forces.generator(key)?;
        self.world.handle(*body).map(|_| (*body, generator))
    }
}

/// # Poses
///
/// A body's pose is that of its origin, in world space. It is for showing, never for physics: the
/// true state is [`get`](Self::get)'s. `None` means that the body is gone.
impl Simulation {
    /// The pose of a body in this frame: between its last two states, by the frame's
    /// [`alpha`](Frame::alpha), or as [`set_smoothing`](Self::set_smoothing) says.
    #[must_use]
    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.world.handle(key)?;
        self.poses.shown(key)
    }

    /// [`pose`](Self::pose) as nalgebra's type.
    #[must_use]
    pub fn isometry(&self, key: BodyKey) -> Option<Isometry3<f32>> {
        self.pose(key).as_ref().map(to_isometry)
    }

    /// The pose of a collider in this frame: that of its body, and its place on it. Of one
    /// without a body, where it is.
    ///
    /// `None` if the collider is gone, or its body has no key.
    #[must_use]
    pub fn collider_pose(&self, handle: ColliderHandle) -> Option<Pose> {
        let collider = self.world.physics.colliders.get(handle)?;
        let Some(parent) = collider.parent() else {
            return Some(*collider.position());
        };
        let pose = self.pose(self.key(parent)?)?;
        Some(pose * collider.position_wrt_parent()?)
    }

    /// Where a point of a body is in this frame, in world space: a muzzle, a seat, what a camera
    /// follows. `point` is in the body's own frame. Both in metres.
    #[must_use]
    pub fn point(&self, key: BodyKey, point: Vector) -> Option<Vector> {
        Some(self.pose(key)? * point)
    }

    /// The pose of a body right before the last step of the last frame that had one.
    #[must_use]
    pub fn previous(&self, key: BodyKey) -> Option<Pose> {
        self.world.handle(key)?;
        Some(self.poses.pair(key)?.previous)
    }

    /// The pose of a body right after the last step of the last frame that had one.
    #[must_use]
    pub fn current(&self, key: BodyKey) -> Option<Pose> {
        self.world.handle(key)?;
        Some(self.poses.pair(key)?.current)
    }

    /// The pose of a body at an earlier time: what a frame with this [`tick`](Frame::tick) and
    /// [`alpha`](Frame::alpha) showed of it, to the bit.
    ///
    /// For a click or a shot, made against what the player saw: keep the [`Frame`] of what is on
    /// the screen and ask for the poses in it. Any other time will do as well: it is `alpha` of the
    /// way from the state after `tick - 1` steps to the state after `tick`. `alpha` is clamped to
    /// [0, 1]; NaN is 0. Of a body that was put elsewhere after the step, earlier ticks have the way
    /// that it went in it.
    ///
    /// `None` if the body is gone or was not there yet, or the time is not one of those kept: only
    /// the last tick is, until [`set_history`](Self::set_history) asks for more.
    #[must_use]
    pub fn pose_at(&self, key: BodyKey, tick: u64, alpha: f32) -> Option<Pose> {
        self.world.handle(key)?;
        let alpha = if alpha > 0.0 { alpha.min(1.0) } else { 0.0 };
        Some(self.poses.pair_at(key, tick)?.at(alpha))
    }

    /// Keeps the last `states` of each body for [`pose_at`](Self::pose_at): two at first, and at
    /// least. What came before this call is not known.
    ///
    /// More than two cost 150 bytes for each state of a body that moves, and a look at each such
    /// body in every step, not just in the last one of a frame.
    pub fn set_history(&mut self, states: usize) {
        self.poses.set_history(states);
    }

    /// How a frame between two steps is shown: [`Smoothing::Interpolate`] at first.
    #[must_use]
    pub fn smoothing(&self) -> Smoothing {
        self.poses.smoothing()
    }

    /// Changes how a frame between two steps is shown, of all bodies but those with a
    /// [smoothing of their own](Self::set_smoothing_of).
    ///
    /// It holds from the next step on: the way that is on the screen ends as it began, so a
    /// change makes no jump in it. With every [`Stepping`](crate::Stepping) but `Fixed` the last state
    /// is shown whatever the smoothing, as there is nothing between.
    pub fn set_smoothing(&mut self, smoothing: Smoothing) {
        self.poses.set_smoothing(smoothing);
    }

    /// [`set_smoothing`](Self::set_smoothing) for one body; `None` is as the others.
    ///
    /// # Errors
    /// [`BodyError::Gone`] if there is no such body.
    pub fn set_smoothing_of(
        &mut self,
        key: BodyKey,
        smoothing: Option<Smoothing>,
    ) -> Result<(), BodyError> {
        self.living(key, true)?;
        self.poses.set_smoothing_of(key, smoothing);
        Ok(())
    }

    /// The bodies whose pose in this frame differs from that in the frame before, and these poses.
    ///
    /// A new body is here in its first frame, a body that settles once more with its final pose,
    /// and a scene at rest gives nothing. The order has no meaning.
    #[must_use]
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        self.poses.moved()
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
