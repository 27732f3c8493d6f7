//! Runs a step while the frame is drawn, with the hooks on the game's thread.

// Frames and steps, in order.
mod frames;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::physics::Physics;
use crate::simulation::{Hooks, Simulation};
use crate::time::{Clock, FrameTime, Step};

use super::failure::{StartError, Work, spawn};
use super::publisher::Publisher;
use super::settings::RunnerSettings;
use super::view::View;
use frames::{Done, Job, run_steps};

/// A simulation whose steps run on another thread while your game draws, with the hooks on the game's thread.
///
/// A step starts when it is due. If it is not done when the next one is due, the game waits for it.
///
/// ```
/// use evenstep::threads::Overlap;
/// use evenstep::{Hooks, Simulation};
/// use std::time::Duration;
///
/// struct Game;
/// impl Hooks for Game {
///     type Error = std::convert::Infallible;
/// }
///
/// let mut overlap = Overlap::new(Simulation::default())?;
/// for _ in 0..30 {
///     let view = overlap.frame(Duration::from_millis(7), &mut Game)?;
///     let poses = view.moved(); // draw them while the next step runs
/// }
/// let (simulation, result) = overlap.stop(&mut Game);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Latency
/// Results are displayed one step later than in one thread (two without [`Stepping::Fixed`](crate::Stepping::Fixed)),
/// or less with [`set_slack`](Self::set_slack). Changes in `after_step` are displayed by the frame that calls it, other
/// changes with the step, as long as the rate, the slack and the stepping stay. So shift the origin there, and move the
/// camera by [`View::origin_shift`].
///
/// # What runs where
/// Only the last step that is due in a frame runs on the other thread, with its [hooks of
/// Rapier](Hooks::physics_hooks), and no resimulated one. All settings and limits apply, and the steps have the same
/// bits as in one thread.
///
/// Set a speed or a pause between frames, through [`simulation`](Self::simulation).
/// [`before_frame`](Hooks::before_frame) may run after the picture has moved on.
pub struct Overlap {
    simulation: Simulation,
    step_thread: StepThread,
    /// Sends steps to the thread, or `None` once the thread is to end.
    jobs: Option<Sender<Job>>,
    /// Receives the states after the steps.
    done: Mutex<Receiver<Done>>,
    thread: Option<JoinHandle<()>>,
    view: View<()>,
    /// Frames that have not run yet.
    pending: VecDeque<FrameTime>,
    publisher: Publisher,
}

#[expect(
    clippy::large_enum_variant,
    reason = "there is one per overlap, and a step allocates nothing"
)]
enum StepThread {
    /// The simulation has its state. This empty one replaces it while the thread has it.
    Idle(Box<Physics>),
    /// The thread runs a step.
    Busy(UnderWay),
}

impl StepThread {
    /// Returns the empty state that the simulation gets while this thread has its state.
    fn into_spare(self) -> Box<Physics> {
        match self {
            Self::Idle(spare) => spare,
            // No step starts while another one is under way, so this is not needed.
            Self::Busy(_) => Box::default(),
        }
    }
}

#[derive(Debug)]
struct UnderWay {
    step: Step,
    /// The simulation's clock after the frames that wait for the step.
    clock: Clock,
    /// The number of pending frames that wait for the step, because no step is due in them.
    waiting_frames: usize,
}

impl fmt::Debug for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let under_way = match &self.step_thread {
            StepThread::Idle(_) => None,
            StepThread::Busy(under_way) => Some(under_way),
        };
        f.debug_struct("Overlap")
            .field("under_way", &under_way)
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}

impl Overlap {
    /// Starts a thread for the steps.
    ///
    /// # Errors
    /// [`StartError`], with the simulation.
    pub fn new(simulation: Simulation) -> Result<Self, StartError<Simulation>> {
        Self::start(simulation, spawn)
    }

    /// Creates an overlap with the thread that `spawn` starts. A test passes a `spawn` that fails.
    pub(super) fn start(
        mut simulation: Simulation,
        spawn: impl FnOnce(Work<()>) -> io::Result<JoinHandle<()>>,
    ) -> Result<Self, StartError<Simulation>> {
        let (job_sender, job_receiver) = channel();
        let (done_sender, done_receiver) = channel();
        // This comes first: if no thread starts, the simulation stays as it is.
        let thread = match spawn(Box::new(move || run_steps(job_receiver, &done_sender))) {
            Ok(thread) => thread,
            Err(source) => return Err(StartError::new(simulation, source)),
        };
        let settings = RunnerSettings {
            // The thread may take as long for a step as the step lasts: see `set_slack`.
            slack: 1.0,
            // Each frame displays all events up to its time.
            events: usize::MAX,
            ..RunnerSettings::default()
        };
        // The game may just have assigned the state. Its timeline begins before the view.
        simulation.take_over();
        let real_time = simulation.clock().real_time();
        let mut overlap = Self {
            view: View::new(settings, simulation.take_screen(), real_time),
            publisher: Publisher::new(&simulation),
            simulation,
            step_thread: StepThread::Idle(Box::default()),
            jobs: Some(job_sender),
            done: Mutex::new(done_receiver),
            thread: Some(thread),
            pending: VecDeque::new(),
        };
        overlap.publish();
        overlap.view.begin();
        Ok(overlap)
    }

    /// Advances by `frame_time`, starts steps that can start, and returns the view to display. Call it once per frame.
    ///
    /// # Errors
    /// The error of a hook, as from [`advance_with`](Simulation::advance_with).
    ///
    /// # Panics
    /// If the hooks or Rapier panic.
    pub fn frame<H: Hooks + ?Sized>(
        &mut self,
        frame_time: impl Into<FrameTime>,
        hooks: &mut H,
    ) -> Result<&View<()>, H::Error> {
        // If a step is under way, the simulation has no state to check.
        if matches!(self.step_thread, StepThread::Idle(_)) {
            self.simulation.check_world();
        }
        self.pending.push_back(frame_time.into());
        let result = self.run_pending(hooks);
        if result.is_err() {
            // A failed hook leaves its frame open.
            self.end_frame();
        }
        let now = self.now();
        self.view.show(now);
        result.map(|()| &self.view)
    }

    /// Sets how much time a step has before a frame waits for it, in steps: 1 by default, clamped to 0 to 1, and NaN
    /// counts as 1. After a short transition, results are displayed that much later than in one thread.
    pub fn set_slack(&mut self, slack: f32) {
        let slack = if slack.is_nan() { 1.0 } else { slack };
        self.view.set_slack(slack.clamp(0.0, 1.0));
    }

    /// Returns the view as of the last [`frame`](Self::frame).
    #[must_use]
    pub fn view(&self) -> &View<()> {
        &self.view
    }

    /// Returns the real time of the simulation's clock at the last [`frame`](Self::frame), for the stamps of an
    /// [`InputQueue`](crate::input::InputQueue).
    #[must_use]
    pub fn now(&self) -> Duration {
        // The clock of a step under way has counted the frames that wait for it.
        let (clock, counted_frames) = match &self.step_thread {
            StepThread::Idle(_) => (self.simulation.clock(), 0),
            StepThread::Busy(under_way) => (&under_way.clock, under_way.waiting_frames),
        };
        let later_frames = self.pending.iter().skip(counted_frames);
        later_frames.fold(clock.real_time(), |sum, frame_time| {
            sum.saturating_add(frame_time.duration())
        })
    }

    /// Returns the simulation between two frames, to save, edit or replace it, after it has waited for the step under
    /// way, called its `after_step`, and run the frames that have not run yet.
    ///
    /// # Errors
    /// The error of a hook. The next call continues with the frames that are left.
    ///
    /// # Panics
    /// If a step or a hook panics. The next call continues with the frames that are left.
    pub fn simulation<H: Hooks + ?Sized>(
        &mut self,
        hooks: &mut H,
    ) -> Result<&mut Simulation, H::Error> {
        self.finish(hooks)?;
        Ok(&mut self.simulation)
    }

    /// Ends the thread after the step under way, as [`simulation`](Self::simulation) does, and returns the simulation
    /// and the first error of the hooks. All frames run, even if a hook fails in one.
    ///
    /// The simulation's [report](Simulation::frame) has the tick, alpha and time of the displayed poses. Its next frame
    /// has no [slack](Self::set_slack), so its picture skips ahead by it.
    ///
    /// # Panics
    /// If a step or a hook panics, or if Rapier has panicked earlier and frames have not run yet.
    pub fn stop<H: Hooks + ?Sized>(mut self, hooks: &mut H) -> (Simulation, Result<(), H::Error>) {
        let mut result = self.finish(hooks);
        // If a hook has failed, later frames are still pending. They run as in one thread.
        while !self.pending.is_empty() {
            self.simulation.check_world();
            let later = self.finish(hooks);
            result = result.and(later);
        }
        self.view.return_screen(&mut self.simulation);
        (std::mem::take(&mut self.simulation), result)
    }
}

impl Drop for Overlap {
    fn drop(&mut self) {
        // Without a sender, the thread ends after its last job.
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // The thread catches its own panics.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BodyKey;
    use crate::testing::flyer;
    use rapier::prelude::*;
    use scenes::testing::translation;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;
    use std::sync::Arc;

    const MS: fn(u64) -> Duration = Duration::from_millis;

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

        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            assert_eq!(Rc::strong_count(&self.world), 1);
            if self.fails_at.take_if(|tick| *tick == step.tick).is_some() {
                return Err("injected");
            }
            self.before.push(step.tick);
            if let Some(key) = self.key {
                physics.apply_impulse(key, Vector::Y * 0.01).unwrap();
            }
            Ok(())
        }

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            assert_eq!(physics.tick(), step.tick + 1);
            self.after.push(step.tick);
            Ok(())
        }
    }

    #[test]
    fn an_overlap_runs_the_same_steps_and_displays_one_step_later() {
        let (simulation, key) = flyer();
        let mut alone = simulation.clone();
        let mut overlap = Overlap::new(simulation).unwrap();
        let [mut game, mut reference] = [(); 2].map(|()| Game {
            key: Some(key),
            ..Game::default()
        });
        for millis in [7, 3, 10, 0, 4, 33, 16, 1, 1, 250, 9].repeat(3) {
            let view = overlap.frame(MS(millis), &mut game).unwrap();
            alone.advance_with(MS(millis), &mut reference).unwrap();
            let shown = [view.pose(key), alone.pose(key)].map(|pose| pose.unwrap().translation.x);
            // The body moves a metre per step, and not before the first one.
            let late = shown[1] - shown[0];
            assert!((late - 1.0).abs() < 2e-3 || shown[0] == 0.0, "{shown:?}");
            assert!(!view.is_starved());
        }
        // The last step may still be running.
        assert_eq!(game.before, reference.before);
        assert!(reference.after.len() - game.after.len() <= 1);
        let (simulation, result) = overlap.stop(&mut game);
        assert_eq!(result, Ok(()));
        assert_eq!(game.after, reference.after);
        assert_eq!(simulation.physics.tick(), alone.physics.tick());
        assert_eq!(
            simulation.physics.body(key).unwrap().position(),
            alone.physics.body(key).unwrap().position()
        );
    }

    #[test]
    fn input_is_displayed_one_step_later_than_in_one_thread() {
        let (simulation, key) = flyer();
        let mut alone = simulation.clone();
        let mut overlap = Overlap::new(simulation).unwrap();
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
    fn an_overlap_continues_after_hook_errors_pauses_and_edits() {
        let (simulation, key) = flyer();
        let mut overlap = Overlap::new(simulation).unwrap();
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
        overlap.simulation(&mut game).unwrap().pause();
        let simulation = overlap.simulation(&mut game).unwrap();
        simulation
            .physics
            .teleport(key, translation(0.0, 5.0, 0.0))
            .unwrap();
        let mut shown = None;
        for _ in 0..5 {
            shown = overlap.frame(MS(100), &mut game).unwrap().pose(key);
        }
        let steps = game.before.len();
        assert_eq!(overlap.frame(MS(100), &mut game).unwrap().pose(key), shown);
        assert_eq!(game.before.len(), steps);
        overlap.simulation(&mut game).unwrap().resume();
        for _ in 0..5 {
            overlap.frame(MS(10), &mut game).unwrap();
        }
        assert_eq!(game.before.len(), steps + 5, "one per due step");
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

    struct SetsLimit;

    impl Hooks for SetsLimit {
        type Error = std::convert::Infallible;

        fn before_frame(
            &mut self,
            simulation: &mut Simulation,
            _: FrameTime,
        ) -> Result<(), Self::Error> {
            simulation.clock_settings_mut().set_max_frame_time(MS(3));
            Ok(())
        }
    }

    #[test]
    fn a_new_limit_of_frame_time_applies_from_the_next_frame() {
        let (simulation, _) = flyer();
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut game = Game::default();
        let time = |overlap: &mut Overlap| {
            let simulation = overlap.simulation(&mut Game::default()).unwrap();
            simulation.clock().time()
        };
        // Sets the limit after a step, and after none.
        for max in [30, 20] {
            let (now, before) = (overlap.now(), time(&mut overlap));
            let simulation = overlap.simulation(&mut game).unwrap();
            simulation.clock_settings_mut().set_max_frame_time(MS(max));
            overlap.frame(MS(100), &mut game).unwrap();
            assert_eq!(overlap.now() - now, MS(100));
            assert_eq!(time(&mut overlap) - before, MS(max));
        }
        // Sets the limit in a hook, right before the other thread gets the simulation.
        overlap.frame(MS(10), &mut SetsLimit).unwrap();
        let before = time(&mut overlap);
        overlap.frame(MS(100), &mut SetsLimit).unwrap();
        assert_eq!(time(&mut overlap) - before, MS(3));
    }

    #[test]
    fn a_panic_inside_rapier_propagates_from_the_next_frame() {
        let (mut simulation, _) = flyer();
        let ends = [RigidBodyBuilder::dynamic(), RigidBodyBuilder::dynamic()];
        let ends = ends.map(|body| simulation.physics.rapier_mut().insert_body(body));
        simulation.physics.rapier_mut().remove_body(ends[1]);
        let joint = FixedJointBuilder::new();
        (simulation.physics.rapier_mut()).insert_impulse_joint(ends[0], ends[1], joint);
        let mut overlap = Overlap::new(simulation).unwrap();
        let mut game = Game::default();
        overlap.frame(MS(10), &mut game).unwrap();
        let frame = AssertUnwindSafe(|| overlap.frame(MS(10), &mut game).is_ok());
        catch_unwind(frame).unwrap_err();
    }

    /// Hooks of Rapier that panic when they are dropped.
    struct Bomb;

    impl PhysicsHooks for Bomb {}

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("dropped");
        }
    }

    struct GivesBomb;

    impl Hooks for GivesBomb {
        type Error = std::convert::Infallible;

        fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
            Some(Arc::new(Bomb))
        }
    }

    #[test]
    fn the_physics_thread_survives_hooks_that_panic_when_dropped() {
        let mut overlap = Overlap::new(flyer().0).unwrap();
        for tick in 1..4 {
            overlap.frame(MS(10), &mut GivesBomb).unwrap();
            let frame = AssertUnwindSafe(|| overlap.simulation(&mut GivesBomb).is_ok());
            catch_unwind(frame).unwrap_err();
            let Ok(simulation) = overlap.simulation(&mut GivesBomb);
            assert_eq!(simulation.physics.tick(), tick);
        }
        assert_eq!(overlap.stop(&mut GivesBomb).0.physics.tick(), 3);
    }
}
