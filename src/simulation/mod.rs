//! The loop: elapsed time in, steps made one at a time, poses shown.

// What a step depends on.
mod state;
// The last steps, and queries against what a frame displayed.
mod past;
// Steps that are resimulated after a rollback.
mod resimulate;
// Back in time, to stay there.
mod rewind;
// Back in time, for steps to be resimulated.
mod roll_back;
// Bodies and their keys.
mod bodies;
// Teleports, targets, the origin.
mod placing;
// Forces for a step, and lasting ones.
mod forces;
// Poses for a renderer.
mod shown;
// Smoothing and correction.
mod smoothing;
// The game's own values.
mod resources;
// Rate, speed, pause: the clock's settings.
mod settings;
// The loop, driven by the game.
mod frames;
// The loop in one call.
mod advance;
// A report of what a frame did.
mod frame;
// The counts of a frame by name.
mod metrics;
// A simulation as data of serde.
#[cfg(feature = "serde")]
mod saving;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::id::Id;
use crate::pose::{Extrapolation, Movers, Origin, PoseLog, Screen, SmoothingSettings};
use crate::step::{ChangedEvents, Event, Events};
use crate::time::{Clock, Rate, Step};
use rapier::pipeline::PhysicsWorld;

use past::Past;
use resimulate::Resimulation;
use state::{State, StepStage};

pub use advance::Hooks;
pub(crate) use advance::or_none;
pub use frame::Frame;
pub use past::PastWorld;
pub use placing::OriginError;
pub use rewind::RewindError;
pub use roll_back::ResimulateError;
#[cfg(feature = "serde")]
pub use saving::SaveError;
pub use shown::FrameChanges;

/// A Rapier world that is stepped at a fixed rate, with a smooth pose of every body for every frame.
///
/// Insert bodies, [`advance`](Self::advance) it by the time that each frame took, and draw the
/// [`pose`](Self::pose) of each body, or only of those that [`moved`](Self::moved).
///
/// ```
/// use evenstep::rapier::prelude::*;
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
/// | on a thread of its own, because a step takes too long for a frame | [`Runner`](crate::threads::Runner) |
/// | the same, with hooks that stay on the game's thread | [`Overlap`](crate::threads::Overlap) |
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
/// | change one body | [`body_mut`](Self::body_mut) | a check of the body in the next frame |
/// | put one body elsewhere | [`teleport`](Self::teleport), [`teleport_by`](Self::teleport_by) | the same |
/// | move a kinematic body | [`set_kinematic_target`](Self::set_kinematic_target) | the same |
/// | move the origin of the world | [`shift_origin`](Self::shift_origin) | a check of every body in the next frame |
/// | queries, debug-render | [`physics`](Self::physics) | none |
/// | character controllers, vehicles | [`query_pipeline_mut`](Self::query_pipeline_mut) | none |
/// | joints, gravity, parameters | [`physics_mut_except_bodies`](Self::physics_mut_except_bodies) | none |
/// | several bodies at once | [`physics_mut_for`](Self::physics_mut_for) | a check of each body that is named |
/// | anything else of Rapier | [`physics_mut`](Self::physics_mut) | a check of every body in the next frame |
///
/// # The state as a value
/// A clone is a saved state: everything that the next step and the next frame depend on. Restored, it continues
/// bit for bit: poses, velocities, events, new keys, [`moved`](Self::moved).
///
/// ```
/// # use evenstep::rapier::prelude::*;
/// # use evenstep::Simulation;
/// # use std::time::Duration;
/// # let mut simulation = Simulation::default();
/// # let body = RigidBodyBuilder::dynamic().linvel(Vector::ONE);
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
/// every body; keys, targets, force generators, pending forces; the
/// events and counts of the frame. A clone made within a frame is in the middle of that frame.
///
/// A frame after an assignment says what changed against the frame before the *clone*: a renderer that follows
/// [`moved`](Self::moved) has to write all poses once. [`Owners`](crate::Owners) and `entities` notice it and do;
/// [`replace_state`](Self::replace_state) keeps what is shown, so that `moved` lists it.
///
/// [`Resources`](crate::Resources) are part of it: the game's own values that go with the physics.
///
/// It does not hold what the game keeps beside the simulation: input queues, its own components, what a
/// [`ForceGenerator::custom`](crate::ForceGenerator::custom) has captured, [`Hooks`]. Clone these with it: an
/// [`InputQueue`](crate::InputQueue) is `Clone` too. Nor does it hold the past (the [states](Self::set_rewind_limits)
/// and [poses](Self::set_history) of earlier ticks, of which a clone keeps as many from then on), Rapier's quarantine
/// list of the last step, a thread pool set on Rapier's world, and its counters. The thread pool stays set when the
/// simulation goes [back in time](Self#back-in-time).
///
/// Keys of bodies that were inserted after the state was saved are dead once it is restored; the same steps made
/// again give the same keys. A host with entities of its own compares its keys with [`bodies`](Self::bodies).
pub struct Simulation {
    id: Id,
    clock: Clock,
    state: State,
    frame: Frame,
    /// Events of the frame, sorted by tick, also if ticks were renumbered within it.
    events: Vec<Event>,
    /// Whether a frame is open.
    is_in_frame: bool,
    past: Past,
    /// After a rollback, until the present is reached.
    resimulation: Option<Box<Resimulation>>,
    /// What the last run of resimulated steps did to the events.
    event_changes: ChangedEvents,
    /// Steps that were resimulated since the last frame was begun.
    resimulated_between: u64,
    /// Real time since the last frame was shown, but for pauses and speed 0.
    shown_for: Duration,
    /// Shared with what is shown on another thread.
    smoothing: Arc<SmoothingSettings>,
    /// `None` on a thread, where a view shows it.
    screen: Option<Screen>,
}

impl Clone for Simulation {
    fn clone(&self) -> Self {
        let state = self.state.clone();
        let mut screen = self.screen.clone();
        if let Some(screen) = &mut screen {
            // The log is copied with the state: what it says holds for the copy.
            screen.replace_epoch(self.state.epoch.number(), state.epoch.number());
        }
        Self {
            id: Id::default(),
            clock: self.clock.clone(),
            state,
            frame: self.frame,
            events: self.events.clone(),
            is_in_frame: self.is_in_frame,
            past: self.past.clone(),
            resimulation: self.resimulation.clone(),
            event_changes: self.event_changes.clone(),
            resimulated_between: self.resimulated_between,
            shown_for: self.shown_for,
            smoothing: Arc::clone(&self.smoothing),
            screen,
        }
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
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Rate, Simulation};
    /// let mut world = PhysicsWorld::new();
    /// let handle = world.insert_body(RigidBodyBuilder::dynamic());
    /// let mut simulation = Simulation::with_physics(Rate::default(), world);
    /// assert_eq!(simulation.key(handle), None);
    /// simulation.track_all();
    /// assert!(simulation.key(handle).is_some());
    /// ```
    #[must_use]
    pub fn with_physics(rate: Rate, physics: PhysicsWorld) -> Self {
        let state = State::new(physics);
        Self {
            id: Id::default(),
            clock: Clock::new(rate),
            screen: Some(Screen::new(state.epoch.number())),
            state,
            frame: Frame::default(),
            events: Vec::new(),
            is_in_frame: false,
            past: Past::default(),
            resimulation: None,
            event_changes: ChangedEvents::default(),
            resimulated_between: 0,
            shown_for: Duration::ZERO,
            smoothing: Arc::default(),
        }
    }
}

impl Default for Simulation {
    /// An empty world at [the default rate](Rate::default), 60 Hz.
    fn default() -> Self {
        Self::new(Rate::default())
    }
}

/// # Readings
impl Simulation {
    /// What the last frame did and dropped; within a frame, what this one has done so far.
    #[must_use]
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// The tick of the next step: the number of steps made so far, unless
    /// [`set_tick`](crate::ClockSettings::set_tick) has numbered them anew.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.clock().tick()
    }

    /// The step that [`next_step`](Self::next_step) has returned and that is not made yet: for systems of an ECS
    /// that cannot get it as an argument.
    #[must_use]
    pub fn current_step(&self) -> Option<Step> {
        match self.state.stage {
            StepStage::Before(step) => Some(step),
            _ => None,
        }
    }

    /// The clock: its time, its settings, and what was dropped so far. While steps are resimulated, it is as it was
    /// before the current step.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        let again = self.resimulation.as_ref().and_then(|again| again.clock());
        again.unwrap_or(&self.clock)
    }

    /// The events of all steps of the last frame; within a frame, of those made so far in this one.
    #[must_use]
    pub fn events(&self) -> Events<'_> {
        Events(&self.events)
    }
}

/// # For a view on another thread
impl Simulation {
    /// The identity of this simulation: a copy has another one.
    pub(crate) fn id(&self) -> u64 {
        self.id.number()
    }

    /// That of the present, also while steps are resimulated.
    pub(crate) fn present_clock(&self) -> &Clock {
        &self.clock
    }

    pub(crate) fn movers(&self) -> &Movers {
        self.state.pairs.movers()
    }

    pub(crate) fn origin(&self) -> Origin {
        self.state.origin
    }

    pub(crate) fn smoothing_settings(&self) -> &Arc<SmoothingSettings> {
        &self.smoothing
    }

    /// The length of the step that has led to the last state, in seconds: the rate may have been changed since. Before
    /// the first one, that of the rate.
    pub(crate) fn last_dt(&self) -> f64 {
        last_dt(&self.frame, &self.clock)
    }

    /// How all movers go on from the last state.
    pub(crate) fn extrapolations(&self) -> Vec<Extrapolation> {
        let bodies = &self.state.world.physics.bodies;
        self.state.pairs.extrapolations(bodies, &self.smoothing)
    }

    /// What happened since the last call, for a reader that has displayed the state `displayed` before.
    pub(crate) fn take_log(&mut self, displayed: u64) -> PoseLog {
        self.state.take_log(displayed)
    }

    pub(crate) fn screen(&self) -> Option<&Screen> {
        self.screen.as_ref()
    }

    /// Takes the screen away, for a view: the simulation's frames display nothing until it is back.
    pub(crate) fn take_screen(&mut self) -> Screen {
        self.screen.take().unwrap_or_default()
    }

    /// Gives the screen back.
    pub(crate) fn put_screen(&mut self, mut screen: Screen) {
        screen.expect_another_state();
        self.screen = Some(screen);
        self.shown_for = Duration::ZERO;
    }
}

fn last_dt(frame: &Frame, clock: &Clock) -> f64 {
    let (dt, rate) = (frame.dt, clock.settings().rate());
    let is_other_rate = dt > 0.0 && dt.to_bits() != rate.dt().to_bits();
    if is_other_rate {
        dt.into()
    } else {
        rate.dt_f64()
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
    use crate::key::BodyKey;
    use rapier::prelude::*;

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
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        assert_eq!(simulation.state.pairs.movers().len(), 100);
        assert_eq!(
            simulation.advance(Duration::from_secs(5), |_, _| ()).awake,
            0
        );
        simulation.advance(Duration::from_secs(1), |_, _| ());
        assert_eq!(simulation.state.pairs.movers().len(), 0);
        for key in &keys[10..13] {
            simulation.apply_impulse(*key, Vector::Y).unwrap();
        }
        simulation
            .body_mut(keys[50])
            .unwrap()
            .set_linvel(Vector::ZERO, false);
        for _ in 0..2 {
            simulation.advance(Duration::from_millis(40), |_, _| ());
            assert_eq!(simulation.state.pairs.movers().len(), 3);
        }
    }
}
