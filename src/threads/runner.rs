//! Runs the simulation on a separate thread, by the wall clock.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::ecs::{Inserter, Spawned, StateNumber};
use crate::key::BodyKey;
use crate::lock::lock;
use crate::physics::Colliders;
use crate::simulation::{Hooks, Simulation};
use crate::time::StepCost;
use rapier::dynamics::RigidBody;
use rapier::geometry::Collider;

use super::asked::Asked;
use super::failure::{Failure, SendError, StartError, Work, spawn};
use super::mailbox::{Mailbox, discard};
use super::message::{Call, Message, Removals};
use super::publisher::{NewestState, Publisher};
use super::settings::RunnerSettings;
use super::view::View;
use super::wall_clock::{WallClock, run};
use super::worker::Worker;

/// A simulation on a separate thread, stepped by the wall clock. Its [`Hooks`] run on that thread.
///
/// Frames are displayed one step and a [slack](RunnerSettings::slack) in the past.
///
/// ```
/// use evenstep::rapier::prelude::*;
/// use evenstep::threads::{Runner, RunnerSettings};
/// use evenstep::{Hooks, Simulation};
/// use std::time::Duration;
///
/// struct Game;
/// impl Hooks for Game {
///     type Error = std::convert::Infallible;
/// }
///
/// let mut runner = Runner::new(Simulation::default(), Game, RunnerSettings::default())?;
/// let spawned = runner.spawn(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5))?;
/// loop {
///     for failure in runner.failures() {
///         eprintln!("{failure}");
///         runner.recover()?; // after a panic, physics stands still until then
///     }
///     let view = runner.frame(); // draw it, once per frame
///     // The key is known once the body is inserted. The pose follows a little later.
///     if spawned.key().is_some_and(|key| view.pose(key).is_some()) {
///         break;
///     }
///     std::thread::yield_now();
/// }
/// runner.call(|simulation, _| simulation.pause())?;
/// let answer = runner.ask(|simulation| simulation.clock().settings().is_paused())?;
/// // A game calls `answer.get()` once per frame instead of waiting.
/// let (_tick, is_paused) = answer.wait(Duration::from_secs(60)).unwrap();
/// assert!(is_paused);
/// let (simulation, game) = runner.stop();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What runs where
/// [Calls](Self::call) from your thread run between two steps in the order sent. [Questions](Self::ask) see the effect
/// of every earlier call. Removals of bodies may overtake calls. [`Stepping`](crate::Stepping) is ignored, and
/// [`RunnerSettings::max_lag`] replaces the maximum frame time, the step limit and the budget.
///
/// # Levels
/// The [queue](RunnerSettings::call_capacity) limits [`spawn`](Self::spawn). To load a level with thousands of bodies,
/// [`stop`](Self::stop) the runner, and create a new one, or use one [`call`](Self::call).
///
/// # Without frames
/// If you ask for no frame, as a server does, memory and the cost of a step stay constant. After two seconds and 100
/// steps without a frame, visual errors end, and all bodies [jump](crate::render::RenderData::jumped).
///
/// # Rollbacks
/// If a rollback takes back a teleport that no view has displayed yet, the view still displays it, and then corrects the
/// body, as if the rollback had come a frame later.
///
/// # Recording and determinism
/// Timing decides before which step a call runs. If runs must be equal, send input with its tick, and let the hooks
/// read it from a [`TickQueue`](crate::input::TickQueue). The steps then have the same bits as in one thread. A
/// `Recorder` belongs in the hooks, and does not record calls.
#[derive(Debug)]
pub struct Runner<H: Hooks>
where
    H::Error: Send,
{
    /// `None` once the thread is to end.
    sender: Option<SyncSender<Message<H>>>,
    /// `None` if the game drives the [`Worker`] itself.
    thread: Option<Thread<H>>,
    mailbox: Arc<Mailbox<H::Error>>,
    view: View<H::Error>,
    /// The bodies to be removed, with the physics.
    newest: NewestState,
    removals: Removals,
    /// Whether the queue was full when they were sent.
    has_unsent_removals: bool,
    /// The number of requests to recover from a panic that were sent.
    requested_recoveries: AtomicUsize,
}

/// The thread of a runner, and the clock that both follow.
#[derive(Debug)]
struct Thread<H> {
    handle: JoinHandle<Option<Ended<H>>>,
    clock: WallClock,
}

/// The values that remain when a thread has ended.
type Ended<H> = (Simulation, H);

impl<H> Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    /// Starts a thread that steps `simulation` from now on.
    ///
    /// # Errors
    /// [`StartError`], with the simulation and the hooks, if the system starts no thread.
    pub fn new(
        simulation: Simulation,
        hooks: H,
        settings: RunnerSettings,
    ) -> Result<Self, StartError<(Simulation, H)>> {
        Self::start(simulation, hooks, settings, spawn)
    }

    /// Creates a runner with the thread that `spawn` starts. It is an argument so that a test can let it fail.
    pub(super) fn start(
        simulation: Simulation,
        hooks: H,
        settings: RunnerSettings,
        spawn: impl FnOnce(Work<Option<Ended<H>>>) -> io::Result<JoinHandle<Option<Ended<H>>>>,
    ) -> Result<Self, StartError<(Simulation, H)>> {
        let (worker_sender, worker_receiver) = channel();
        let work = move || {
            // Nothing arrives if the other side has panicked.
            let (mut worker, clock) = worker_receiver.recv().ok()?;
            run(&mut worker, clock);
            Some(worker.end(clock.now()))
        };
        // The thread starts before it has its worker: if it does not start, the simulation stays as it is. A system
        // without threads may have no clock either.
        let handle = match spawn(Box::new(work)) {
            Ok(handle) => handle,
            Err(source) => return Err(StartError::new((simulation, hooks), source)),
        };
        let clock = WallClock::new(simulation.clock().real_time());
        let (mut runner, worker) = Self::without_thread(simulation, hooks, settings);
        runner.thread = Some(Thread { handle, clock });
        let sent = worker_sender.send((worker, clock));
        sent.expect("the thread is waiting");
        Ok(runner)
    }

    /// Creates a runner whose steps a [`Worker`] runs. No wall clock is read.
    ///
    /// Call [`frame_at`](Self::frame_at) instead of [`frame`](Self::frame) and, at the end, [`Worker::stop`] instead of
    /// [`stop`](Self::stop). [`step_cost`](Self::step_cost) stays zero.
    #[must_use]
    pub fn without_thread(
        mut simulation: Simulation,
        hooks: H,
        settings: RunnerSettings,
    ) -> (Self, Worker<H>) {
        // The game may just have assigned the state. Its timeline begins before the view.
        simulation.take_over();
        let now = simulation.clock().real_time();
        // The view takes over the displayed poses, so that its first frame continues from them.
        let view = View::new(settings, simulation.take_screen(), now);
        let mailbox = Arc::new(Mailbox::default());
        let (sender, receiver) = sync_channel(settings.messages());
        let publisher = Publisher::new(&simulation);
        let newest = publisher.newest();
        let to_view = Arc::clone(&mailbox);
        let worker = Worker::new(simulation, publisher, hooks, settings, to_view, receiver);
        let mut runner = Self {
            sender: Some(sender),
            thread: None,
            mailbox,
            newest,
            view,
            removals: Removals::default(),
            has_unsent_removals: false,
            requested_recoveries: AtomicUsize::new(0),
        };
        // `Worker::new` has sent the present state.
        runner.view.fetch(&runner.mailbox);
        runner.view.begin();
        (runner, worker)
    }

    /// Computes the view to display now. Call it once per frame.
    ///
    /// # Panics
    /// If the runner was created [without a thread](Self::without_thread).
    pub fn frame(&mut self) -> &View<H::Error> {
        self.frame_at(self.now())
    }

    /// Computes the view to display at `now`, in the simulation's real time, which must not go back, for a runner
    /// [without a thread](Self::without_thread).
    pub fn frame_at(&mut self, now: Duration) -> &View<H::Error> {
        if self.has_unsent_removals {
            // The queue was full when they were to be sent.
            self.send_removals();
        }
        self.view.update(&self.mailbox, now);
        &self.view
    }

    /// Returns the view as of the last [`frame`](Self::frame).
    #[must_use]
    pub fn view(&self) -> &View<H::Error> {
        &self.view
    }

    /// Returns the real time of the simulation's clock, for the stamps of an [`InputQueue`](crate::input::InputQueue).
    ///
    /// # Panics
    /// If the runner was created [without a thread](Self::without_thread).
    #[must_use]
    pub fn now(&self) -> Duration {
        let thread = self.thread.as_ref();
        thread
            .expect("without a thread you know the time: use `frame_at`")
            .clock
            .now()
    }

    /// Sends a function to be called between two steps.
    ///
    /// # Errors
    /// [`SendError`], with the function.
    pub fn call(
        &self,
        call: impl FnOnce(&mut Simulation, &mut H) + Send + 'static,
    ) -> Result<(), SendError<Call<H>>> {
        self.send(Message::Call(Box::new(call))).map_err(|error| {
            error.map(|message| match message {
                Message::Call(call) => call,
                _ => unreachable!("this is the given message"),
            })
        })
    }

    /// Inserts a body with its [colliders](Colliders), using a [`call`](Self::call). For thousands, see
    /// [Levels](Self#levels).
    ///
    /// # Errors
    /// [`SendError`]
    pub fn spawn(
        &self,
        body: impl Into<RigidBody>,
        colliders: impl Colliders,
    ) -> Result<Spawned, SendError<Call<H>>> {
        let body = body.into();
        let colliders: Vec<Collider> = colliders.into_colliders().collect();
        // When the call has run, `spawned` has the key of the body, and the number of the last state without it.
        let spawned = Spawned::default();
        let inserter = Inserter::new(spawned.clone());
        self.call(move |simulation, _| {
            let key = simulation.physics.insert(body, colliders);
            inserter.set(key);
        })?;
        Ok(spawned)
    }

    /// Removes a body between two steps. Pending removals share one message, so clearing a level does not fill the
    /// queue.
    pub(super) fn remove_body(&mut self, key: BodyKey) {
        let mut removals = lock(&self.removals);
        removals.push(key);
        // The worker empties the list. If it was not empty, its message is on the way, or the next frame sends it.
        let is_first = removals.len() == 1;
        drop(removals);
        if is_first {
            self.send_removals();
        }
    }

    /// Sends the list of bodies to remove, which the worker empties. If the queue is full, the next frame sends it.
    fn send_removals(&mut self) {
        let sent = self.send(Message::RemoveAll(Arc::clone(&self.removals)));
        // If the thread has ended, there is nothing left to remove.
        self.has_unsent_removals = matches!(sent, Err(SendError::Full(_)));
    }

    /// Asks a question about the simulation, such as a ray cast, answered after the next step, or at once if none is due
    /// within a period, as in a pause.
    ///
    /// For a copy, saved bytes or a [preview](crate::Physics::preview), use [`call`](Self::call). Between two steps, a
    /// question gets a copy in which queries find all changes. That copy may not continue like the simulation.
    ///
    /// # Errors
    /// [`SendError`]
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Simulation) -> T + Send + 'static,
    ) -> Result<Asked<T>, SendError<()>> {
        let (answer, receiver) = sync_channel(1);
        let query = Box::new(move |simulation: &Simulation| {
            // Nobody waits for the answer if the receiver was dropped.
            let _ = answer.send((simulation.physics.tick(), question(simulation)));
        });
        let sent = self.send(Message::Query(query));
        sent.map_err(|error| error.map(drop))?;
        Ok(Asked::new(receiver))
    }

    /// Continues after a [panic](Failure::Panic), from the newest [kept](Simulation::keep) state before the step or the
    /// call that panicked. Steps that were still to be resimulated and calls since that state are dropped, and so is
    /// the time since the panic.
    ///
    /// If none is kept, it continues from the present state or, if Rapier panicked, stays stopped.
    ///
    /// # Errors
    /// [`SendError`]
    pub fn recover(&self) -> Result<(), SendError<()>> {
        let sent = self.send(Message::Recover);
        sent.map_err(|error| error.map(drop))?;
        // From now on, `send` accepts calls and questions, although the view still reports the panic.
        self.requested_recoveries.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// Sends a message to the worker. After a panic, a call or a question is sent only once a recovery was requested,
    /// because the worker would drop it.
    fn send(&self, message: Message<H>) -> Result<(), SendError<Message<H>>> {
        let Some(sender) = &self.sender else {
            return Err(SendError::Ended(message));
        };
        let handled_recoveries = self.view.recoveries();
        let requested_recoveries = self.requested_recoveries.load(Ordering::Relaxed);
        let is_recovering = handled_recoveries != requested_recoveries;
        // The worker handles removals and recoveries even after a panic.
        let would_run = matches!(message, Message::RemoveAll(_) | Message::Recover)
            || !self.view.is_stopped()
            || is_recovering;
        if !would_run {
            // Until the worker is dropped, it has the mailbox, too.
            let has_worker = Arc::strong_count(&self.mailbox) > 1;
            let error = if has_worker {
                SendError::Stopped
            } else {
                SendError::Ended
            };
            return Err(error(message));
        }
        sender.try_send(message).map_err(|error| match error {
            TrySendError::Full(message) => SendError::Full(message),
            TrySendError::Disconnected(message) => SendError::Ended(message),
        })
    }

    /// Returns how many [events](View::events) were dropped beyond [`RunnerSettings::events`].
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.view.lost_events()
    }

    /// Returns how many bodies may be missing from [`View::removed`]. Only bodies that no frame has displayed can be,
    /// if more than 1,000 were removed while no frame was computed for a hundred steps.
    #[must_use]
    pub fn lost_removals(&self) -> u64 {
        self.view.lost_removals()
    }

    /// Returns how many [`failures`](Self::failures) were dropped because they were not read in time.
    #[must_use]
    pub fn lost_failures(&self) -> u64 {
        self.view.lost_failures()
    }

    /// Returns the wall time of a step with its hooks, and the number of steps per second, as of the last
    /// [`frame`](Self::frame).
    #[must_use]
    pub fn step_cost(&self) -> StepCost {
        self.view.step_cost()
    }

    /// Returns how much real time was dropped, because physics was later than [`RunnerSettings::max_lag`], or by a
    /// pause or a panic.
    #[must_use]
    pub fn dropped(&self) -> Duration {
        self.view.dropped()
    }

    /// Returns the failures since the last call, at most the last 1,000. Older ones are [counted](Self::lost_failures).
    pub fn failures(&mut self) -> Vec<Failure<H::Error>> {
        self.view.take_failures(&self.mailbox)
    }

    /// Ends the thread after the current step and the sent calls, and returns the simulation and the hooks.
    ///
    /// The simulation's [report](Simulation::frame) has the tick, alpha and time of the displayed poses. If you continue
    /// in one thread, the first frame skips ahead by the [slack](RunnerSettings::slack).
    ///
    /// # Panics
    /// If the runner was created [without a thread](Self::without_thread), or on a bug in this crate.
    #[must_use]
    pub fn stop(mut self) -> (Simulation, H) {
        // The thread ends when it has handled all messages and nobody can send any more.
        self.sender = None;
        let thread = self.thread.take();
        let thread =
            thread.expect("without a thread the worker has the simulation: use `Worker::stop`");
        match thread.handle.join() {
            Ok(ended) => self.end(ended.expect("the thread was given a simulation")),
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }

    /// Returns the number of the newest state for entity maps.
    pub(super) fn newest_state(&self) -> StateNumber {
        *lock(&self.newest)
    }

    pub(super) fn has_mailbox(&self, mailbox: &Arc<Mailbox<H::Error>>) -> bool {
        Arc::ptr_eq(&self.mailbox, mailbox)
    }

    /// Ends the runner: removes the bodies whose removal the worker has not handled, and gives the screen, which has
    /// the displayed poses, back to the simulation.
    pub(super) fn end(mut self, (mut simulation, hooks): (Simulation, H)) -> (Simulation, H) {
        // The last mail may have changes that no frame has displayed.
        self.view.fetch(&self.mailbox);
        // Nobody reads its failures. A panic of their values, when they are dropped, ends here.
        discard(self.failures());
        // After a panic in a step of Rapier, its world must not be edited.
        if !simulation.physics.is_poisoned {
            // If the queue was full, the worker never got these removals.
            for key in lock(&self.removals).drain(..) {
                simulation.physics.remove(key);
            }
        }
        self.view.return_screen(&mut simulation);
        (simulation, hooks)
    }
}

impl<H: Hooks> Drop for Runner<H>
where
    H::Error: Send,
{
    fn drop(&mut self) {
        // The thread ends once nobody can send to it any more.
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread is lost, because the game did not call `stop`.
            let _ = thread.handle.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::flyer;
    use crate::threads::mailbox::RETRY_DELAY;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    struct Idle;

    impl Hooks for Idle {
        type Error = ();
    }

    #[test]
    fn the_worker_retries_soon_while_a_frame_uses_the_mailbox() {
        let (simulation, key) = flyer();
        let settings = RunnerSettings::default();
        let (mut runner, mut worker) = Runner::without_thread(simulation, Idle, settings);
        runner.call(|simulation, _| simulation.pause()).unwrap();
        let mut next = None;
        let mailbox = Arc::clone(&runner.mailbox);
        mailbox.try_with(|_| next = worker.run_until(MS(10)));
        assert_eq!(next, Some(MS(10) + RETRY_DELAY), "even in a pause");
        assert_eq!(worker.run_until(MS(11)), None);
        // A frame displays the states that have arrived.
        let displayed = runner.frame_at(MS(30)).pose(key);
        assert!(displayed.is_some());
        mailbox.try_with(|_| assert_eq!(runner.frame_at(MS(31)).pose(key), displayed));
    }
}
