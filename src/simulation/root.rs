//! The parts of a simulation.

use std::fmt;
use std::time::Duration;

use crate::id::Id;
use crate::physics::Physics;
use crate::pose::{Correction, PoseLog, Screen, Smoothing};
use crate::step::{ChangedEvents, Events, SharedEvents};
use crate::time::{Clock, Rate};

use super::forgotten::Forgotten;
use super::frame::Frame;
use super::past::Past;
use super::redo::Redo;

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
/// let ball = simulation.physics.insert(
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
/// 1. [`next_step`](Self::next_step): kinematic [targets](crate::Physics::set_kinematic_target) are applied, so the
///    `next_position()` of a moving platform is where it will be after this step.
/// 2. The game: input, forces, spawn, despawn. A target that is set here is applied at once.
/// 3. [`make_step`](Self::make_step): forces and [force generators](crate::ForceGenerator), then Rapier's
///    step, then its events, then the poses.
/// 4. The game again: reactions to the step's [`events`](crate::Physics::events).
///
/// # When to call what
/// Some methods depend on whether a frame is open, a step is at hand or a rollback is under way, or on whether Rapier has
/// panicked: their documentation says so. All others may be called at any time.
///
/// # A copy
/// The state is in the public field [`physics`](Self::physics), a [value](crate::Physics#the-state-as-a-value) that can be
/// copied and assigned. A clone of the simulation holds more: the clock with its settings, the frame, the picture, the steps
/// that are to be resimulated. A clone made within a frame is in the middle of that frame. It does not hold the past (the
/// [states](Self::set_rewind_limits) and [poses](Self::set_history) of earlier ticks), of which it keeps as many from then on.
///
/// A frame after a simulation was assigned says what changed against the frame before the *clone*: a renderer that follows
/// [`moved`](Self::moved) has to write all poses once. [`Owners`](crate::Owners) and `entities` notice it and do.
pub struct Simulation {
    pub(super) id: Id,
    /// All that the next step depends on: bodies, forces, Rapier's world. A [value](crate::Physics#the-state-as-a-value), to
    /// be copied and assigned.
    pub physics: Physics,
    /// The epoch of `physics`, if the loop knows the value.
    pub(super) known: u64,
    pub(super) clock: Clock,
    pub(super) frame: Frame,
    /// Events of the frame, sorted by tick, even if ticks were renumbered within it.
    pub(super) events: SharedEvents,
    /// Tick and alpha of the last picture.
    pub(super) picture: (u64, f32),
    /// Whether a frame is open.
    pub(super) is_in_frame: bool,
    /// Whether the game has got a step of the clock that is not made.
    pub(super) is_handed_out: bool,
    /// The pool of the last step, for a value that replaces this one.
    #[cfg(feature = "parallel")]
    pub(super) pool: Option<std::sync::Arc<rayon::ThreadPool>>,
    pub(super) past: Past,
    /// After a rollback, until the present is reached.
    pub(super) redo: Option<Box<Redo>>,
    /// What the last run of resimulated steps did to the events.
    pub(super) event_changes: ChangedEvents,
    /// What happened since the last frame ended, and counts in the next one.
    pub(super) between: Between,
    /// Real time since the last frame was displayed, without pauses and speed 0.
    pub(super) shown_for: Duration,
    /// Sets how a frame between two steps displays all bodies without a
    /// [smoothing of their own](Physics::set_body_smoothing): [`Smoothing::Interpolate`] by default.
    ///
    /// The [`physics`](Self::physics) takes a change over in the next call of the loop, such as [`next_step`](Self::next_step)
    /// or [`advance`](Self::advance): until then [`set_previous_from_velocity`](Physics::set_previous_from_velocity) uses the
    /// earlier smoothing. Bodies are displayed as before until the next step. If the new smoothing has the same
    /// latency, nothing jumps. To and from [`Smoothing::Extrapolate`] and [`Smoothing::Latest`], which display another time, a
    /// body skips or repeats up to a step's motion. With every [`Stepping`](crate::Stepping) but `Fixed` the last state is
    /// displayed, whatever the smoothing.
    ///
    /// Smoothing and [correction](Self::correction) belong to the picture, not to the state: a rollback does not change them.
    pub smoothing: Smoothing,
    /// Sets how the visual error of all bodies without a [correction of their own](Physics::set_body_correction) decays.
    ///
    /// After a [rollback](Self::roll_back) or a [correction](Self::correct) of the state, a body may differ from where it was
    /// displayed. This visual error decays over the next frames, without affecting the physics. A change takes effect with the
    /// next frame, also on an error that is displayed already. With [`Correction::OFF`] bodies jump to their corrected poses.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::{Correction, Simulation};
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # simulation.set_rewind_limits(60, usize::MAX);
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// simulation.correction = Correction::default();
    /// simulation.advance(Duration::from_millis(100), |_, _| ());
    /// let x = |simulation: &Simulation| simulation.pose(ball).unwrap().translation.x;
    /// assert_eq!(x(&simulation), 0.0);
    ///
    /// simulation.resimulate(0, |physics, step| {
    ///     if step.tick == 0 {
    ///         physics.teleport(ball, Pose::from_translation(Vector::X)).unwrap();
    ///     }
    /// })?;
    /// simulation.advance(Duration::ZERO, |_, _| ());
    /// assert!(x(&simulation).abs() < 1e-3); // shown where it was
    /// simulation.advance(Duration::from_millis(200), |_, _| ()); // the half-life
    /// assert!((x(&simulation) - 0.5).abs() < 1e-3);
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    pub correction: Correction,
    /// `None` on a thread, where a view shows it.
    pub(super) screen: Option<Screen>,
    pub(super) forgotten: Forgotten,
}

#[derive(Clone, Copy, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Between {
    /// Steps that were resimulated.
    pub resimulated: u64,
    /// As in [`Frame`].
    pub rejected_forces: u64,
}

impl Clone for Simulation {
    fn clone(&self) -> Self {
        let physics = self.physics.clone_in_step();
        let known = if self.knows_physics() {
            physics.epoch.number()
        } else {
            0
        };
        let mut screen = self.screen.clone();
        if let Some(screen) = &mut screen {
            // The log is copied with the state: what it says holds for the copy.
            screen.replace_epoch(self.physics.epoch.number(), physics.epoch.number());
        }
        Self {
            id: Id::default(),
            physics,
            known,
            clock: self.clock.clone(),
            frame: self.frame,
            events: self.events.clone(),
            picture: self.picture,
            is_in_frame: self.is_in_frame,
            is_handed_out: self.is_handed_out,
            #[cfg(feature = "parallel")]
            pool: self.pool.clone(),
            past: self.past.clone(),
            redo: self.redo.clone(),
            event_changes: self.event_changes.clone(),
            between: self.between,
            shown_for: self.shown_for,
            smoothing: self.smoothing,
            correction: self.correction,
            screen,
            forgotten: self.forgotten,
        }
    }
}

/// # Construction
impl Simulation {
    /// An empty world under Rapier's default gravity, stepped at `rate`.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self::with_physics(rate, Physics::new())
    }

    /// A simulation of this state, stepped at `rate`. It continues at the tick and the time of the state.
    #[must_use]
    pub fn with_physics(rate: Rate, mut physics: Physics) -> Self {
        // A value that was moved out of another loop may be in the middle of a step and of a frame there.
        physics.leave_step();
        physics.resync_if_outdated();
        // Nothing of it is displayed here yet.
        physics.log = PoseLog {
            rest: physics.pairs.resting().collect(),
            ..PoseLog::default()
        };
        let mut clock = Clock::new(rate);
        clock.go_to(physics.tick(), physics.exact_time());
        let mut simulation = Self {
            id: Id::default(),
            clock,
            screen: Some(Screen::new(physics.epoch.number())),
            known: physics.epoch.number(),
            physics,
            frame: Frame::default(),
            events: SharedEvents::default(),
            picture: (0, 0.0),
            is_in_frame: false,
            is_handed_out: false,
            #[cfg(feature = "parallel")]
            pool: None,
            past: Past::default(),
            redo: None,
            event_changes: ChangedEvents::default(),
            between: Between::default(),
            shown_for: Duration::ZERO,
            smoothing: Smoothing::default(),
            correction: Correction::default(),
            forgotten: Forgotten::default(),
        };
        simulation.stamp_physics();
        simulation
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

    /// The clock: its time, its settings, and what was dropped so far. It is that of the present: while steps are
    /// resimulated, [`Physics::tick`] and [`Physics::time`] are behind it.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The events of all steps of the last frame; within a frame, of those made so far in this one. From a
    /// [rollback](Self::roll_back) until it is over, those of its steps made so far. A hook reads those of the last step:
    /// [`Physics::events`].
    #[must_use]
    pub fn events(&self) -> Events {
        Events::new(&self.events)
    }
}

/// # For a view on another thread
impl Simulation {
    /// The identity of this simulation: a copy has another one.
    pub(crate) fn id(&self) -> u64 {
        self.id.number()
    }

    /// The length of the step that has led to the last state, in seconds: the rate may have been changed since. Before
    /// the first one, that of the rate.
    pub(crate) fn last_dt(&self) -> f64 {
        let (dt, rate) = (self.physics.dt, self.clock.settings().rate());
        if dt.to_bits() == rate.dt().to_bits() {
            rate.dt_f64()
        } else {
            dt.into()
        }
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

impl fmt::Debug for Simulation {
    /// The sizes of things, not all their contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("clock", &self.clock)
            .field("frame", &self.frame)
            .field("bodies", &self.physics.world.physics.bodies.len())
            .field("colliders", &self.physics.world.physics.colliders.len())
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
        simulation.physics.rapier_mut().gravity = Vector::ZERO;
        let keys: Vec<BodyKey> = (0..100u8)
            .map(|i| {
                let body = RigidBodyBuilder::dynamic().translation(Vector::X * 2.0 * f32::from(i));
                simulation.physics.insert(body, ColliderBuilder::ball(0.5))
            })
            .collect();
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        assert_eq!(simulation.physics.pairs.movers().len(), 100);
        assert_eq!(
            simulation.advance(Duration::from_secs(5), |_, _| ()).awake,
            0
        );
        simulation.advance(Duration::from_secs(1), |_, _| ());
        assert_eq!(simulation.physics.pairs.movers().len(), 0);
        for key in &keys[10..13] {
            simulation.physics.apply_impulse(*key, Vector::Y).unwrap();
        }
        simulation
            .physics
            .body_mut(keys[50])
            .unwrap()
            .set_linvel(Vector::ZERO, false);
        for _ in 0..2 {
            simulation.advance(Duration::from_millis(40), |_, _| ());
            assert_eq!(simulation.physics.pairs.movers().len(), 3);
        }
    }
}
