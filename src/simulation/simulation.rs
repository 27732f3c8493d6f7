//! The parts of a simulation.

use std::fmt;
use std::time::Duration;

use crate::physics::Physics;
use crate::pose::{Changes, Correction, Smoothing};
use crate::screen::Screen;
use crate::time::Rate;

use super::frame::MissingCalls;
use super::report::Frame;
use super::steps::Steps;
use super::take_over::Run;

/// A Rapier world that is stepped at a fixed rate, with a smooth pose of every body for every frame.
///
/// Insert bodies into the field [`physics`](Self::physics), [`advance`](Self::advance) in each frame, and draw the
/// [`pose`](Self::pose) of each body that [`moved`](Self::moved):
///
/// ```
/// use evenstep::rapier::prelude::*;
/// use evenstep::{Rate, Simulation};
/// use std::time::Duration;
///
/// let mut simulation = Simulation::new(Rate::hz(60));
/// let ball = ColliderBuilder::ball(0.5);
/// let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ball);
/// // In each frame:
/// let frame_time = Duration::from_millis(7); // as your game measures it
/// simulation.advance(frame_time, |physics, _step| {
///     physics.add_force(ball, Vector::X * 5.0).unwrap(); // in each step
/// });
/// for (key, pose) in simulation.moved() {
///     println!("draw {key:?} at {}", pose.translation);
/// }
/// ```
///
/// # Choosing a loop
/// | where the simulation lives | use |
/// | --- | --- |
/// | in a variable next to your game's data | [`advance`](Self::advance) with a closure |
/// | the same, with hooks after each step, errors, or Rapier's hooks | [`advance_with`](Self::advance_with) |
/// | inside your world, as a resource of an ECS | [your own loop](Self#your-own-loop) |
/// | on another thread, because steps take so long that they cost frames | [`threads`](crate::threads) |
///
/// # The order of a step
/// 1. Kinematic [targets](crate::Physics::set_kinematic_target) are applied, so the `next_position()` of a moving
///    platform is where it will be after this step.
/// 2. Your hook runs: input, forces, spawn, despawn.
/// 3. Forces and [force generators](crate::forces::ForceGenerator) are applied, and Rapier's step runs.
/// 4. Your game reacts to the step's [`events`](crate::Physics::events).
///
/// # After a panic of Rapier
/// If Rapier panics in a step, its world is in an unknown state. Beginning a frame or going back to resimulate then
/// panics. [Rewind](Self::rewind) the simulation, assign a [snapshot](crate::Physics#the-state-as-a-value), or drop it.
///
/// # A copy
/// A clone of [`physics`](Self::physics) is the whole state. A clone of the simulation also holds the clock, an open
/// frame, the displayed poses, and steps to be resimulated. It lacks the [states and poses](Self::keep) of earlier
/// ticks. After you assign a simulation, frames report changes since the *clone*, so a renderer has to write all poses
/// once.
pub struct Simulation {
    /// Everything that one step passes to the next, as a [value](crate::Physics#the-state-as-a-value) that you can copy
    /// and assign.
    pub physics: Physics,
    pub(super) run: Run,
    pub(super) steps: Steps,
    /// The thread pool of the last step, for a state that replaces this one.
    #[cfg(feature = "parallel")]
    pub(super) pool: Option<std::sync::Arc<rayon::ThreadPool>>,
    /// The report of the last frame that has ended.
    pub(super) frame: Frame,
    /// The report of the frame that has begun and not ended.
    pub(super) open_report: Option<Frame>,
    pub(crate) frames_begun: u64,
    pub(super) missing_calls: MissingCalls,
    /// Real time since the last frame was displayed, without pauses and times at speed 0.
    pub(super) since_picture: Duration,
    /// How frames display bodies between two steps, unless a body has its own [smoothing](Physics::set_body_smoothing).
    /// Only [`Stepping::Fixed`](crate::Stepping::Fixed) uses it. With the others, frames of this simulation display the
    /// last state.
    ///
    /// A change takes effect in the next frame, and between `Interpolate` and `Hermite` with the next step. If the new
    /// smoothing displays another time, the difference decays by the [correction](Self::correction), whatever its size.
    pub smoothing: Smoothing,
    /// How visual errors decay, unless a body has its own [correction](Physics::set_body_correction). A change takes
    /// effect in the next frame.
    pub correction: Correction,
    /// The last picture. On a thread, where a view displays the simulation, it is empty.
    pub(super) screen: Screen,
}

impl Clone for Simulation {
    fn clone(&self) -> Self {
        // A plain clone of the physics would not be in the current step, and would lack the changes that no picture has
        // displayed.
        let mut physics = self.physics.clone_in_step();
        // A copied world has no thread pool.
        #[cfg(feature = "parallel")]
        physics.set_pool_if_none(self.physics.pool());
        // The loop recognises its state by a number, of which the copy gets its own. A state that the game has assigned
        // has none until the next call of the loop, and so does its copy.
        let run = self.run.copy();
        physics.running.run_number = self.knows_physics().then(|| run.number());
        Self {
            physics,
            run,
            steps: self.steps.clone(),
            #[cfg(feature = "parallel")]
            pool: self.pool.clone(),
            frame: self.frame,
            open_report: self.open_report,
            frames_begun: self.frames_begun,
            missing_calls: self.missing_calls,
            since_picture: self.since_picture,
            smoothing: self.smoothing,
            correction: self.correction,
            screen: self.screen.clone(),
        }
    }
}

/// # Construction
impl Simulation {
    /// Creates an empty world under Rapier's default gravity, stepped at `rate`.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        let mut simulation = Self {
            physics: Physics::new(),
            run: Run::default(),
            steps: Steps::new(rate),
            #[cfg(feature = "parallel")]
            pool: None,
            frame: Frame::default(),
            open_report: None,
            frames_begun: 0,
            missing_calls: MissingCalls::default(),
            since_picture: Duration::ZERO,
            smoothing: Smoothing::default(),
            correction: Correction::default(),
            screen: Screen::default(),
        };
        // This marks the state as the loop's own, so the next call does not take it for one that the game assigned.
        simulation.take_over();
        simulation
    }
}

impl Default for Simulation {
    /// Creates an empty world at [the default rate](Rate::default), 60 Hz.
    fn default() -> Self {
        Self::new(Rate::default())
    }
}

/// # For a view on another thread
impl Simulation {
    pub(crate) fn timeline(&self) -> u64 {
        self.run.timeline()
    }

    pub(crate) fn begin_timeline(&mut self) {
        self.run.begin_timeline();
    }

    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    pub(crate) fn take_screen(&mut self) -> Screen {
        std::mem::take(&mut self.screen)
    }

    /// Takes a screen over from a view on another thread. `moment` is the tick, the alpha and the time of the view's
    /// last picture, if there was one. `undisplayed` are the changes that the view has received and not displayed. The
    /// changes in this state are later.
    pub(crate) fn put_screen(
        &mut self,
        mut screen: Screen,
        moment: Option<(u64, f32, Duration)>,
        mut undisplayed: Changes,
    ) {
        screen.return_from_view();
        // In a rollback, the changes up to the present wait for its end.
        let changes = match &mut self.steps.rollback {
            Some(rollback) => &mut rollback.old_present.changes,
            None => &mut self.physics.running.changes,
        };
        undisplayed.append(std::mem::take(changes));
        *changes = undisplayed;
        // The view has counted frames, too, and their numbers never go back.
        let frame = &mut self.frame;
        frame.number = frame.number.max(screen.number());
        // The report tells of the displayed poses, which are those of the view.
        if let Some(moment) = moment {
            (frame.tick, frame.alpha, frame.time) = moment;
        }
        frame.origin_shift = screen.origin_shift();
        self.screen = screen;
        // The last picture is that of the view, which has just been displayed.
        self.since_picture = Duration::ZERO;
    }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("clock", &self.steps.clock)
            .field("frame", &self.frame())
            .field("bodies", &self.physics.world.rapier.bodies.len())
            .field("colliders", &self.physics.world.rapier.colliders.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::BodyKey;
    use rapier::prelude::*;

    /// A simulation can be sent to another thread and shared between threads.
    const _: fn() = || {
        fn send_and_sync<T: Send + Sync>() {}
        send_and_sync::<Simulation>();
    };

    #[test]
    fn only_moving_bodies_are_tracked_as_movers() {
        let mut simulation = Simulation::new(Rate::hz(60));
        simulation.physics.set_gravity(Vector::ZERO).unwrap();
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
