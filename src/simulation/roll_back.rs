//! Back in time, to resimulate the steps since then: rollback.

use crate::step::EventChanges;
use crate::time::Step;

use super::hooks::{BeforeStep, Hooks};
use super::past::RewindError;
use super::redo::Left;
use super::root::Simulation;
use crate::physics::{PastEdits, Physics, Stage};

/// Why [`Simulation::resimulate_with`] failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResimulateError<E> {
    /// The simulation cannot go back that far.
    #[error(transparent)]
    Rewind(#[from] RewindError),
    /// A hook failed. The simulation stays there, before that step, or after it if that was the hook after the step. The
    /// rest of the steps is still due: the next frame begins with them. [`rewind`](Simulation::rewind) to the tick that
    /// [`Physics::tick`] returns drops them.
    #[error(
        "a hook failed in a step that was resimulated: the rest is still due, `rewind` drops it"
    )]
    Hook(#[source] E),
}

/// A state of another tick, which [`Simulation::correct`] does not take over.
#[derive(Debug, thiserror::Error)]
#[error(
    "the state is that of tick {}, and the simulation is at tick {tick}: roll back to that tick, or assign the state",
    state.tick()
)]
pub struct CorrectError {
    /// The tick of the simulation.
    pub tick: u64,
    /// The state.
    pub state: Box<Physics>,
}

/// # Rollback
///
/// See [Back in time](Self#back-in-time).
impl Simulation {
    /// Goes back to the state before the step of `tick`, to make the steps since then again: the next ones that
    /// [`next_step`](Self::next_step) gives, before any new one. [`resimulate`](Self::resimulate) does both.
    ///
    /// With an [interval](Self::set_rewind_interval) it goes back to the nearest state at or before that tick, which
    /// [`tick`](crate::Physics::tick) then is.
    ///
    /// It does nothing if the steps from `tick` on are due already: if `tick` is ahead of
    /// [`physics.tick()`](crate::Physics::tick), or the same while no step is at hand. Called before the present is reached,
    /// it goes back further, or starts over.
    ///
    /// It may be called within a frame too: before the game does its part in the current step, which is then taken again.
    /// If the frame ends before the present is reached, or a hook fails, the rest stays due. Until it is made, frames repeat
    /// the last picture with its tick and alpha, and their new steps are aborted. [`rewind`](Self::rewind) to
    /// [`physics.tick()`](crate::Physics::tick) drops the rest and stays there.
    ///
    /// The limits of steps in a frame do not count these steps. To limit them, compare `physics.tick() - tick` with the
    /// steps that a frame has time for.
    ///
    /// ```
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// simulation.set_rewind_limits(60, usize::MAX);
    /// simulation.advance(Duration::from_millis(100), |_, _| ());
    /// simulation.roll_back(4)?; // of six
    /// assert_eq!(simulation.steps_to_resimulate(), 2);
    /// simulation.begin_frame(Duration::from_millis(20));
    /// let mut ticks = Vec::new();
    /// while let Some(step) = simulation.next_step() {
    ///     ticks.push((step.tick, step.is_resimulated));
    ///     simulation.make_step();
    /// }
    /// assert_eq!(ticks, [(4, true), (5, true), (6, false)]);
    /// assert_eq!(simulation.end_frame().steps, 1);
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    ///
    /// # Errors
    /// [`RewindError::NotKept`]; nothing is changed.
    ///
    /// # Panics
    /// As [`begin_frame`](Self::begin_frame).
    pub fn roll_back(&mut self, tick: u64) -> Result<(), RewindError> {
        self.notice_physics();
        self.check_world();
        let here = self.physics.tick();
        // The steps from there on are due already.
        if tick > here || (tick == here && self.physics.current_step().is_none()) {
            return Ok(());
        }
        let kept = self.past.rewindable();
        let kept = kept.start..kept.end.min(here.saturating_add(1));
        let nearest = self.past.nearest(tick);
        let Some(tick) = nearest.filter(|_| kept.contains(&tick)) else {
            return Err(RewindError::NotKept { tick, kept });
        };
        self.release_redo();
        self.make_due_again(tick);
        Ok(())
    }

    /// Makes the steps from `tick` to the present again, with `before_step` called before each, as
    /// [`advance`](Self::advance) does. No time passes. [`event_changes`](Self::event_changes) reports how the
    /// events changed.
    ///
    /// # Errors
    /// As [`roll_back`](Self::roll_back).
    ///
    /// # Panics
    /// As [`roll_back`](Self::roll_back). A panic in `before_step` unwinds through this call, and leaves the rest of the
    /// steps to the next call of [`next_step`](Self::next_step).
    pub fn resimulate(
        &mut self,
        tick: u64,
        before_step: impl FnMut(&mut Physics, Step),
    ) -> Result<(), RewindError> {
        match self.resimulate_with(tick, &mut BeforeStep(before_step)) {
            Ok(()) => Ok(()),
            Err(ResimulateError::Rewind(error)) => Err(error),
        }
    }

    /// [`resimulate`](Self::resimulate) with hooks before and after each step, which can fail.
    ///
    /// # Errors
    /// A [`ResimulateError`].
    ///
    /// # Panics
    /// As [`resimulate`](Self::resimulate).
    pub fn resimulate_with<H: Hooks>(
        &mut self,
        tick: u64,
        hooks: &mut H,
    ) -> Result<(), ResimulateError<H::Error>> {
        self.roll_back(tick)?;
        self.resimulate_due(hooks).map_err(ResimulateError::Hook)
    }

    /// Makes the steps that a rollback has made due, if there are any.
    pub(crate) fn resimulate_due<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        while self.steps_to_resimulate() > 0
            && let Some(step) = self.next_step()
        {
            let result = self.make_one(hooks, step);
            if result.is_err() {
                self.abort_step();
            }
            result?;
        }
        self.release_redo();
        Ok(())
    }

    /// How the events changed when steps were last made again: which are new, which are confirmed and which never
    /// happened. Available from the last of these steps until the next rollback ends.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut simulation = Simulation::default();
    /// # simulation.set_rewind_limits(60, usize::MAX);
    /// # simulation.physics.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
    /// # let ball = simulation.physics.insert(
    /// #     RigidBodyBuilder::dynamic().translation(Vector::Y),
    /// #     ColliderBuilder::ball(0.5).active_events(ActiveEvents::COLLISION_EVENTS),
    /// # );
    /// simulation.advance(Duration::from_millis(40), |_, _| ());
    /// assert_eq!(simulation.events().len(), 1); // a sound is played
    ///
    /// // Late input: the ball was elsewhere by then.
    /// simulation.resimulate(0, |physics, step| {
    ///     if step.tick == 0 {
    ///         physics.teleport(ball, Pose::from_translation(Vector::X * 9.0)).unwrap();
    ///     }
    /// })?;
    /// let changes = simulation.event_changes();
    /// assert_eq!(changes.retracted.collisions().count(), 1); // stop the sound
    /// assert!(changes.new.is_empty() && changes.confirmed.is_empty());
    /// # Ok::<(), evenstep::RewindError>(())
    /// ```
    #[must_use]
    pub fn event_changes(&self) -> EventChanges {
        EventChanges::of(&self.event_changes)
    }

    /// Takes over the state of another machine at this very tick: a server's, for a client that was wrong. What frames show
    /// moves to it [smoothly](Self::correction). To start elsewhere, without smoothness,
    /// [assign](crate::Physics#the-state-as-a-value) it.
    ///
    /// Call it after a [`roll_back`](Self::roll_back) to the tick of that state: the steps since then are resimulated from it.
    /// With an [interval](Self::set_rewind_interval) first make the steps up to that tick. In a frame, the step at hand is
    /// taken again. Real time, settings and the overstep stay as they are. Later states, which a [`rewind`](Self::rewind) has
    /// kept, are discarded.
    ///
    /// [Resources](Physics::resources) of types that the new state lacks stay. Its [named](crate::ForceGenerator::named) forces
    /// are those of the old state with that name.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # use std::time::Duration;
    /// # let mut client = Simulation::default();
    /// client.set_rewind_limits(60, usize::MAX);
    /// # let ball = client.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// # let mut server = client.clone();
    /// client.advance(Duration::from_millis(100), |_, _| ());
    /// server.advance(Duration::from_millis(50), |physics, _| physics.add_force(ball, Vector::X).unwrap());
    ///
    /// let state = server.physics.clone(); // of tick 3
    /// client.roll_back(state.tick())?;
    /// client.correct(state)?;
    /// client.advance(Duration::ZERO, |_, step| assert!(step.is_resimulated));
    /// assert_eq!(client.physics.tick(), 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A [`CorrectError`] for a state of another tick; nothing is changed.
    ///
    /// # Panics
    /// As [`begin_frame`](Self::begin_frame), and if Rapier panicked in a step of `state`.
    pub fn correct(&mut self, mut state: Physics) -> Result<(), CorrectError> {
        self.notice_physics();
        self.check_world();
        assert!(
            state.stage != Stage::Poisoned,
            "Rapier panicked in a step of the state that is to be taken over"
        );
        self.physics.resources.check_whole();
        let tick = self.physics.tick();
        if state.tick() != tick {
            let state = Box::new(state);
            return Err(CorrectError { tick, state });
        }
        self.release_redo();
        state.leave_step();
        state.past_edits = PastEdits::default();
        // Forces that wait in it wait for its next step, also in a pause.
        state.forces.end_frame();
        self.abort_step();
        state.keep_what_it_lacks(&mut self.physics);
        let left = self.swap_physics(state);
        self.past.replace_state(&left.pairs, tick);
        if self.redo.is_none() {
            self.follow_tick();
            self.correct_picture(Left::new(left));
        }
        Ok(())
    }
}
