//! A step beside the frame that is drawn, with the hooks on the game's thread.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crate::simulation::{Hooks, Simulation};
use crate::time::{Step, Stepping};

use super::RunnerSettings;
use super::mailbox::{Mail, Pace, State};
use super::view::View;

/// A simulation whose steps are made by another thread while the game draws its frame. With the feature `threads`.
///
/// For games whose [`Hooks`] need what cannot leave their thread, such as an ECS: both hooks are called where
/// [`frame`](Self::frame) is. A step is begun when the one before is due, and is to be done when it is due itself: a
/// whole step later. Only if it is not, the game waits for it.
///
/// ```
/// use evenstep::rapier3d::prelude::*;
/// use evenstep::{Hooks, Overlap, Simulation};
/// use std::time::Duration;
///
/// struct Game;
/// impl Hooks for Game {
///     type Error = std::convert::Infallible;
/// }
///
/// let mut simulation = Simulation::default();
/// let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
/// let key = simulation.insert(body, ColliderBuilder::ball(0.5));
/// let mut overlap = Overlap::new(simulation);
/// for _ in 0..30 {
///     let view = overlap.frame(Duration::from_millis(7), &mut Game)?;
///     if let Some(pose) = view.pose(key) {
///         // Draw it, while the next step is made.
///         assert!(pose.translation.x >= 0.0);
///     }
/// }
/// # Ok::<(), std::convert::Infallible>(())
/// ```
///
/// # Latency
/// A frame shows what a [`Simulation`] in one thread would: up to a step ago. Input goes into the step that is
/// begun, which is shown a step later than there; a [`Runner`](crate::Runner) adds its slack to that.
///
/// # Limits
/// Steps are made at their even rate: [`Stepping`] is set to fixed. Rapier's own
/// [hooks](Hooks::physics_hooks) are not called, as they would be on the other thread. A frame of more than 250 ms
/// counts as 250 ms. The bits are those of one thread.
pub struct Overlap {
    /// `None` while the other thread has it.
    simulation: Option<Simulation>,
    /// The step that it is at, or was.
    under_way: Option<Step>,
    /// `None` once it is to end.
    to: Option<Sender<Simulation>>,
    from: Receiver<Result<Simulation, Box<dyn Any + Send>>>,
    thread: Option<JoinHandle<()>>,
    view: View<()>,
    now: Duration,
}

impl fmt::Debug for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Overlap")
            .field("under_way", &self.under_way)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

/// The most time that a frame puts in.
const LONGEST_FRAME: Duration = Duration::from_millis(250);

impl Overlap {
    /// Starts the other thread.
    ///
    /// # Panics
    /// If the system gives no thread.
    #[must_use]
    pub fn new(mut simulation: Simulation) -> Self {
        let (to, orders) = channel::<Simulation>();
        let (done, from) = channel();
        let thread = Builder::new().name("physics".into()).spawn(move || {
            for mut simulation in orders {
                let step = AssertUnwindSafe(|| simulation.make_step());
                let result = catch_unwind(step).map(|_| simulation);
                if done.send(result).is_err() {
                    return;
                }
            }
        });
        simulation.set_stepping(Stepping::Fixed);
        let now = simulation.clock().real_time();
        let settings = RunnerSettings {
            slack: 0.0,
            ..RunnerSettings::default()
        };
        let view = View::new(settings, simulation.frame().number);
        let mut overlap = Self {
            simulation: Some(simulation),
            under_way: None,
            to: Some(to),
            from,
            thread: Some(thread.expect("the system has a thread to give")),
            view,
            now,
        };
        overlap.publish();
        overlap
    }

    /// A frame that took so long: begins the steps that can be begun, and gives what is to be shown.
    ///
    /// # Errors
    /// The first error of a hook, as in [`Simulation::advance_with`].
    ///
    /// # Panics
    /// If Rapier panicked in a step: with its payload.
    pub fn frame<H: Hooks>(
        &mut self,
        frame_time: Duration,
        hooks: &mut H,
    ) -> Result<&View<()>, H::Error> {
        self.now += frame_time.min(LONGEST_FRAME);
        while self.is_due() {
            self.finish_step(hooks)?;
            if !self.begin_step(hooks)? {
                break;
            }
        }
        self.stand_still();
        self.view.show(self.now);
        Ok(&self.view)
    }

    /// The simulation, for whatever is to be done between two frames. Waits until the step that is under way is
    /// made; the hook after it is called when it is due.
    ///
    /// # Panics
    /// As [`frame`](Self::frame).
    pub fn simulation(&mut self) -> &mut Simulation {
        self.join();
        self.simulation.as_mut().expect("it was joined")
    }

    /// Ends the other thread, and gives the simulation back, with the step that was under way made.
    ///
    /// # Panics
    /// As [`frame`](Self::frame).
    #[must_use]
    pub fn stop(mut self) -> Simulation {
        self.join();
        let mut simulation = self.simulation.take().expect("it was joined");
        simulation.end_frame();
        simulation
    }

    /// Whether the time of the step that is under way is over.
    fn is_due(&self) -> bool {
        match (&self.under_way, &self.simulation) {
            (Some(step), _) => step.real_end <= self.now,
            (None, Some(simulation)) => {
                let clock = simulation.clock();
                clock.until_next_step().is_some() && clock.real_time() <= self.now
            }
            (None, None) => false,
        }
    }

    fn join(&mut self) {
        if self.simulation.is_none() {
            match self.from.recv() {
                Ok(Ok(simulation)) => self.simulation = Some(simulation),
                Ok(Err(payload)) => resume_unwind(payload),
                Err(_) => unreachable!("the thread ends after this"),
            }
        }
    }

    /// The step that was under way is over: the game reacts to it, and frames show it.
    fn finish_step<H: Hooks>(&mut self, hooks: &mut H) -> Result<(), H::Error> {
        self.join();
        let simulation = self.simulation.as_mut().expect("it was joined");
        let Some(step) = self.under_way.take() else {
            return Ok(());
        };
        let result = hooks.after_step(simulation, step);
        simulation.end_frame();
        self.publish();
        result
    }

    /// Lets the other thread make the next step. Gives `false` in a pause.
    fn begin_step<H: Hooks>(&mut self, hooks: &mut H) -> Result<bool, H::Error> {
        let Some(simulation) = &mut self.simulation else {
            return Ok(false);
        };
        let Some(until) = simulation.clock().until_next_step() else {
            return Ok(false);
        };
        simulation.set_max_frame_time(Duration::MAX);
        simulation.begin_frame(until);
        let Some(step) = simulation.next_step() else {
            return Ok(false);
        };
        if let Err(error) = hooks.before_step(simulation, step) {
            simulation.end_frame();
            return Err(error);
        }
        if let (Some(simulation), Some(to)) = (self.simulation.take(), &self.to) {
            self.under_way = Some(step);
            // It waits for just this.
            let _ = to.send(simulation);
        }
        Ok(true)
    }

    /// In a pause real time goes on, and what the game does is shown.
    fn stand_still(&mut self) {
        if self.under_way.is_none()
            && let Some(simulation) = &mut self.simulation
            && simulation.clock().until_next_step().is_none()
        {
            simulation.set_real_time(self.now);
            simulation.begin_frame(Duration::ZERO);
            simulation.end_frame();
            self.publish();
        }
    }

    fn publish(&mut self) {
        if let Some(simulation) = &self.simulation {
            self.view.add(&mut Mail {
                states: [Arc::new(State::of(simulation))].into(),
                pace: Pace::of(simulation),
                ..Mail::default()
            });
        }
    }
}

impl Drop for Overlap {
    /// Ends the other thread, after the step that is under way.
    fn drop(&mut self) {
        self.to = None;
        if let Some(thread) = self.thread.take() {
            // It catches what panics in it.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rapier::prelude::*;
    use crate::{BodyKey, Rate};
    use std::rc::Rc;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    /// A metre in each of 100 steps a second.
    fn flyer() -> (Simulation, BodyKey) {
        let mut simulation = Simulation::new(Rate::hz(100).unwrap());
        simulation.physics_mut().gravity = Vector::ZERO;
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
        let key = simulation.insert(body, ColliderBuilder::ball(0.1));
        (simulation, key)
    }

    /// Hooks that cannot leave their thread.
    #[derive(Default)]
    struct Game {
        world: Rc<()>,
        before: Vec<u64>,
        after: Vec<u64>,
        fails_at: Option<u64>,
        key: Option<BodyKey>,
    }

    impl Hooks for Game {
        type Error = &'static str;

        fn before_step(
            &mut self,
            simulation: &mut Simulation,
            step: Step,
        ) -> Result<(), Self::Error> {
            assert_eq!(Rc::strong_count(&self.world), 1);
            if self.fails_at.take_if(|tick| *tick == step.tick).is_some() {
                return Err("as it was told");
            }
            self.before.push(step.tick);
            if let Some(key) = self.key {
                simulation.apply_impulse(key, Vector::Y * 0.01).unwrap();
            }
            Ok(())
        }

        fn after_step(
            &mut self,
            simulation: &mut Simulation,
            step: Step,
        ) -> Result<(), Self::Error> {
            assert_eq!(simulation.tick(), step.tick + 1);
            self.after.push(step.tick);
            Ok(())
        }
    }

    #[test]
    fn it_shows_what_one_thread_would_and_makes_the_same_bits() {
        let (simulation, key) = flyer();
        let mut alone = simulation.clone();
        let mut overlap = Overlap::new(simulation);
        let [mut game, mut reference] = [(); 2].map(|()| Game {
            key: Some(key),
            ..Game::default()
        });
        // Of one thread, a frame that ends with a step shows the state before it.
        for millis in [7, 3, 10, 0, 4, 33, 16, 1, 1, 250, 9].repeat(3) {
            let view = overlap.frame(MS(millis), &mut game).unwrap();
            alone.advance_with(MS(millis), &mut reference).unwrap();
            let shown = [view.pose(key), alone.pose(key)].map(|pose| pose.unwrap().translation);
            let off = shown[0] - shown[1];
            assert!(off.length() < 2e-3, "{shown:?}");
            assert!(!view.is_starved());
        }
        assert_eq!(game.after, reference.after);
        // One more is under way.
        assert_eq!(game.before.len(), game.after.len() + 1);
        let simulation = overlap.stop();
        alone.advance_with(MS(10), &mut reference).unwrap();
        assert_eq!(simulation.tick(), alone.tick());
        assert_eq!(
            simulation.body(key).unwrap().position(),
            alone.body(key).unwrap().position()
        );
    }

    #[test]
    fn input_is_shown_one_step_later_than_in_one_thread() {
        let (simulation, key) = flyer();
        let mut alone = simulation.clone();
        let mut overlap = Overlap::new(simulation);
        let (mut game, mut reference) = (Game::default(), Game::default());
        let mut first = [None; 2];
        for ms in 0..100 {
            if ms == 34 {
                (game.key, reference.key) = (Some(key), Some(key));
            }
            let view = overlap.frame(MS(1), &mut game).unwrap();
            alone.advance_with(MS(1), &mut reference).unwrap();
            for (first, pose) in first.iter_mut().zip([view.pose(key), alone.pose(key)]) {
                if pose.unwrap().translation.y > 0.0 {
                    first.get_or_insert(ms + 1);
                }
            }
        }
        assert_eq!(first, [Some(51), Some(41)]);
    }

    #[test]
    fn errors_pauses_and_access_leave_it_whole() {
        let (simulation, key) = flyer();
        let mut overlap = Overlap::new(simulation);
        let mut game = Game {
            fails_at: Some(3),
            ..Game::default()
        };
        let mut errors = 0;
        for _ in 0..10 {
            errors += u32::from(overlap.frame(MS(10), &mut game).is_err());
        }
        assert_eq!(errors, 1);
        assert!(
            game.before.is_sorted_by(|a, b| a + 1 == *b),
            "{:?}",
            game.before
        );
        overlap.simulation().pause();
        overlap
            .simulation()
            .teleport(key, Pose::translation(0.0, 5.0, 0.0))
            .unwrap();
        let mut shown = None;
        for _ in 0..5 {
            shown = overlap.frame(MS(100), &mut game).unwrap().pose(key);
        }
        let steps = game.before.len();
        assert_eq!(overlap.frame(MS(100), &mut game).unwrap().pose(key), shown);
        assert_eq!(game.before.len(), steps);
        overlap.simulation().resume();
        for _ in 0..5 {
            overlap.frame(MS(10), &mut game).unwrap();
        }
        // One to begin with, and one for each that was due.
        assert_eq!(game.before.len(), steps + 6);
        let y = overlap
            .frame(MS(10), &mut game)
            .unwrap()
            .pose(key)
            .unwrap()
            .translation
            .y;
        assert!((y - 5.0).abs() < 1e-4, "{y}");
        drop(overlap);
    }

    #[test]
    fn a_panic_of_rapiers_comes_out_of_the_next_frame() {
        let (mut simulation, _) = flyer();
        let ends = [RigidBodyBuilder::dynamic(), RigidBodyBuilder::dynamic()];
        let ends = ends.map(|body| simulation.physics_mut().insert_body(body));
        simulation.physics_mut().remove_body(ends[1]);
        let joint = FixedJointBuilder::new();
        (simulation.physics_mut()).insert_impulse_joint(ends[0], ends[1], joint);
        let mut overlap = Overlap::new(simulation);
        let mut game = Game::default();
        overlap.frame(MS(1), &mut game).unwrap();
        let frame = AssertUnwindSafe(|| {
            let _ = overlap.frame(MS(10), &mut game);
        });
        catch_unwind(frame).unwrap_err();
    }
}
