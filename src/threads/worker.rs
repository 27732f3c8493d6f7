//! The work of the physics thread, without thread and clock.

use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

use crate::key::BodyKey;
use crate::lock::{lock, own};
use crate::simulation::{Hooks, Simulation};
use crate::time::FrameTime;

use super::failure::Failure;
use super::mailbox::{ClockReading, Mail, Mailbox, discard};
use super::message::{Call, Message, Query, answer};
use super::publisher::Publisher;
use super::removed_bodies::RemovedBodies;
use super::runner::Runner;
use super::settings::RunnerSettings;

/// The maximum number of steps run in a row before the clock is read again.
const MOST_STEPS_AT_ONCE: u32 = 5;

/// The steps of a [`Runner`] that was created [without a thread](Runner::without_thread), run whenever you call it.
///
/// The result depends only on the passed times and on the order of the calls.
///
/// ```
/// use evenstep::threads::{Runner, RunnerSettings};
/// use evenstep::{Hooks, Simulation};
/// use std::time::Duration;
///
/// struct Game;
/// impl Hooks for Game {
///     type Error = std::convert::Infallible;
/// }
///
/// let (mut runner, mut worker) =
///     Runner::without_thread(Simulation::default(), Game, RunnerSettings::default());
/// runner.call(|simulation, _| simulation.pause())?;
/// // In a pause there is nothing to do until the next message.
/// assert_eq!(worker.run_until(Duration::ZERO), None);
/// runner.call(|simulation, _| simulation.resume())?;
/// for ms in [0, 17, 34] {
///     let now = Duration::from_millis(ms);
///     // A call runs at most five steps. If more are due, it returns a time that has passed.
///     while worker.run_until(now).is_some_and(|next| next <= now) {}
///     runner.frame_at(now);
/// }
/// let (simulation, game) = worker.stop(runner, Duration::from_millis(40));
/// assert_eq!(simulation.physics.tick(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Worker<H: Hooks> {
    simulation: Simulation,
    hooks: H,
    settings: RunnerSettings,
    /// `None` once nobody can send any more.
    receiver: Option<Receiver<Message<H>>>,
    /// Messages that were received and not handled yet.
    arrived: VecDeque<Message<H>>,
    /// Questions without an answer yet.
    unanswered: Vec<Query>,
    mailbox: Arc<Mailbox<H::Error>>,
    outgoing: Mail<H::Error>,
    now: Duration,
    /// The number of steps since the last measurement, and its real time.
    unmeasured_steps: u64,
    measured_until: Duration,
    publisher: Publisher,
    /// The tick of the step that panicked, until physics has recovered.
    panicked: Option<u64>,
    removed: RemovedBodies,
}

impl<H: Hooks> std::fmt::Debug for Worker<H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker")
            .field("simulation", &self.simulation)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl<H: Hooks> Worker<H> {
    pub(super) fn new(
        simulation: Simulation,
        publisher: Publisher,
        hooks: H,
        settings: RunnerSettings,
        mailbox: Arc<Mailbox<H::Error>>,
        receiver: Receiver<Message<H>>,
    ) -> Self {
        let mut worker = Self {
            publisher,
            measured_until: simulation.clock().real_time(),
            simulation,
            hooks,
            settings,
            receiver: Some(receiver),
            arrived: VecDeque::new(),
            unanswered: Vec::new(),
            mailbox,
            outgoing: Mail::default(),
            now: Duration::ZERO,
            unmeasured_steps: 0,
            panicked: None,
            removed: RemovedBodies::default(),
        };
        // The runner needs a first state. No runner uses the mailbox yet.
        worker.publish();
        worker.hand_over();
        worker
    }

    /// Returns the simulation.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Returns the hooks.
    #[must_use]
    pub fn hooks(&self) -> &H {
        &self.hooks
    }

    /// Handles the runner's messages, and then runs the steps that are due at `now`, in at most five frames. `now` is
    /// in the simulation's [real time](crate::time::Clock::real_time), and must not go back.
    ///
    /// Returns when to call it again if the runner sends nothing before, which may be a time that has passed. Returns
    /// `None` in a pause, at speed 0 or after a panic, unless mail for the runner or steps to resimulate have to wait.
    pub fn run_until(&mut self, now: Duration) -> Option<Duration> {
        self.publisher.set_idle(false);
        self.fetch();
        self.now = now;
        // The game's values may panic wherever they are dropped.
        let steps = AssertUnwindSafe(|| self.run_due_steps());
        if let Err(payload) = catch_unwind(steps) {
            self.fail(self.simulation.physics.tick(), payload);
        }
        let (deadline, retry_at) = (self.deadline(), self.hand_over());
        let publishes_all = self.panicked.is_none() && !self.simulation.is_rolling_back();
        self.publisher.set_idle(deadline.is_none() && publishes_all);
        // Returns the earlier of the two times, or `None` if there is neither.
        [deadline, retry_at].into_iter().flatten().min()
    }

    /// Calls [`run_until`](Self::run_until) once more, and returns the simulation and the hooks like [`Runner::stop`].
    ///
    /// # Panics
    /// If the runner was not created with this worker.
    #[must_use]
    pub fn stop(mut self, runner: Runner<H>, now: Duration) -> (Simulation, H)
    where
        H: Send + 'static,
        H::Error: Send + 'static,
    {
        assert!(
            runner.has_mailbox(&self.mailbox),
            "the runner has another worker: stop the worker with which it was created"
        );
        self.run_until(now);
        runner.end(self.end(now))
    }

    /// Ends the work. First lets the time until `now` pass, because the game's next frame does not include it.
    pub(super) fn end(mut self, now: Duration) -> (Simulation, H) {
        self.now = now;
        self.pass_time();
        if self.panicked.is_none() {
            self.drop_lag(self.now.saturating_sub(self.real_time()));
            // If the game has replaced the state since the last frame, the view's earlier changes are void.
            self.publish();
        }
        // Nobody else uses the mailbox now, so all mail is handed over.
        self.hand_over();
        // After a panic of a hook, the frame is open and removals wait. After one of Rapier, its world is not edited.
        if self.panicked.is_some() && !self.simulation.physics.is_poisoned {
            self.simulation.close_frame();
            self.removed.remove_waiting(&mut self.simulation.physics);
        }
        // Values of the game may panic when they are dropped, and must not do so with the worker.
        discard(self.arrived);
        discard(self.receiver.iter().flat_map(Receiver::try_iter));
        discard(self.unanswered);
        discard(std::mem::take(own(&mut self.outgoing.failures)));
        (self.simulation, self.hooks)
    }

    /// Fetches the messages that were sent by now.
    fn fetch(&mut self) {
        while let Some(receiver) = &self.receiver {
            match receiver.try_recv() {
                Ok(message) => self.arrived.push_back(message),
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => self.receiver = None,
            }
        }
    }

    /// Waits for a message, for at most `max_wait` if there is a limit. Returns `false` once nobody can send any more.
    pub(super) fn wait(&mut self, max_wait: Option<Duration>) -> bool {
        let Some(receiver) = &self.receiver else {
            return false;
        };
        let message = match max_wait {
            Some(max_wait) => receiver.recv_timeout(max_wait),
            None => receiver.recv().map_err(RecvTimeoutError::from),
        };
        match message {
            Ok(message) => self.arrived.push_back(message),
            Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => return false,
        }
        true
    }

    /// Records the cost of the steps that were run from `start` to `end`, for the game.
    pub(super) fn measure(&mut self, start: Duration, end: Duration) {
        let steps = std::mem::take(&mut self.unmeasured_steps);
        // Handling messages without a step is no part of the cost of a step.
        let busy = end.saturating_sub(start) * u32::from(steps > 0);
        let elapsed = end.saturating_sub(std::mem::replace(&mut self.measured_until, end));
        self.outgoing.step_cost.record(elapsed, busy, steps);
    }

    /// Returns how long after the last frame the next step is due, in real time, or `None` in a pause or after a panic.
    /// If a hook has failed in a rollback, the other steps are due after a period at most, even in a pause.
    fn until_next_step(&self) -> Option<Duration> {
        let clock = self.simulation.clock();
        // The steps of a rollback are not due at once, because the hook may fail every time.
        let is_rolling_back = self.simulation.is_rolling_back();
        let retry = is_rolling_back.then(|| clock.settings().rate().period());
        let next = clock.until_next_step().into_iter().chain(retry).min();
        next.filter(|_| self.panicked.is_none())
    }

    /// Returns when the next step is due, in real time, as [`until_next_step`](Self::until_next_step) says.
    fn deadline(&self) -> Option<Duration> {
        Some(self.real_time().saturating_add(self.until_next_step()?))
    }

    fn real_time(&self) -> Duration {
        self.simulation.clock().real_time()
    }

    /// Runs the steps that are due, each after the waiting messages. A limit lets the caller read the clock again.
    fn run_due_steps(&mut self) {
        for _ in 0..MOST_STEPS_AT_ONCE {
            self.handle_messages();
            let Some(due) = self.deadline().filter(|due| *due <= self.now) else {
                break;
            };
            self.run_due_step(due);
        }
    }

    /// Runs the next step, whose deadline `due` has passed, as a frame that lasts exactly until then.
    fn run_due_step(&mut self, due: Duration) {
        // If the thread is too far behind to catch up, real time skips the lag, and this step is due now.
        let lag = self.now.saturating_sub(due);
        if lag > self.settings.max_lag {
            self.drop_lag(lag);
        }
        if let Some(until) = self.until_next_step() {
            self.run_frame_with_step(until);
        }
    }

    /// Lets real time pass without steps, and counts it as dropped.
    fn drop_lag(&mut self, lag: Duration) {
        self.simulation.skip_real_time(lag);
        self.outgoing.dropped = self.outgoing.dropped.saturating_add(lag);
    }

    /// Handles the messages that have arrived, between two steps. Time until now passes with the old settings of the
    /// clock, and later time with the new ones.
    fn handle_messages(&mut self) {
        if self.arrived.is_empty() {
            return;
        }
        self.pass_time();
        let speed = ClockReading::of(&self.simulation).speed;
        self.handle_arrived();
        if speed > 0.0 && ClockReading::of(&self.simulation).speed == 0.0 {
            // A pause begins now, and the steps that were due before do not run.
            self.drop_lag(self.now.saturating_sub(self.real_time()));
        }
        // If no step is near, a frame without a step displays the changes now.
        if self.panicked.is_none() && !self.is_step_near() && self.run_frame(Duration::ZERO) {
            self.publish();
            self.answer_between_steps();
        }
        // The view needs the new speed even if no state was published.
        self.outgoing.reading = self.reading();
    }

    /// Lets time pass without a step: until now, or until a nanosecond before the next step.
    fn pass_time(&mut self) {
        let passed = self.now.saturating_sub(self.real_time());
        let passed = match self.until_next_step() {
            Some(until) => passed.min(until.saturating_sub(Duration::from_nanos(1))),
            None => passed,
        };
        let has_run = !passed.is_zero() && self.panicked.is_none() && self.run_frame(passed);
        // No step was due, but steps have run if the hook before the frame has ended a pause or sped up the clock.
        if has_run && self.simulation.frame().steps > 0 {
            self.publish();
        }
    }

    /// Returns whether the next step is due within a period, so that its state displays changes soon enough. The steps
    /// of a rollback are due at once.
    fn is_step_near(&self) -> bool {
        let period = self.simulation.clock().settings().rate().period();
        let is_near = self.until_next_step().is_some_and(|until| until <= period);
        is_near && !self.simulation.is_rolling_back()
    }

    /// Handles the messages that have arrived, in the order sent. Questions wait for their answer.
    fn handle_arrived(&mut self) {
        while let Some(message) = self.arrived.pop_front() {
            match message {
                Message::Call(call) => self.run_call(call),
                // After a panic, no step follows that would answer it.
                Message::Query(query) if self.panicked.is_some() => discard([query]),
                Message::Query(query) => self.unanswered.push(query),
                Message::RemoveAll(keys) => self.remove_all(std::mem::take(&mut *lock(&keys))),
                Message::Recover => {
                    self.outgoing.recoveries += 1;
                    self.recover();
                }
            }
        }
    }

    /// Runs a call, or drops it after a panic.
    fn run_call(&mut self, call: Call<H>) {
        if self.panicked.is_some() {
            return discard([call]);
        }
        let real_time_before = self.real_time();
        let (simulation, hooks) = (&mut self.simulation, &mut self.hooks);
        let result = catch_unwind(AssertUnwindSafe(|| call(simulation, hooks)));
        if let Err(payload) = result {
            self.fail(self.simulation.physics.tick(), payload);
        }
        self.detect_replaced_simulation(real_time_before);
        if self.real_time() > self.now {
            // The call has run frames itself, for example to let a pile settle. The next steps are due from now on.
            self.simulation.set_real_time(self.now);
        }
    }

    /// Runs a frame of this length, which ends when the next step is due. Sends the state, and answers questions.
    fn run_frame_with_step(&mut self, frame_time: Duration) {
        if !self.run_frame(frame_time) {
            return;
        }
        self.publish();
        let frame = self.simulation.frame();
        if frame.steps > 0 {
            for query in self.unanswered.drain(..) {
                answer(query, &self.simulation, own(&mut self.outgoing.failures));
            }
        } else if frame.dropped.aborted > 0 || !self.is_step_near() {
            // A hook failed, or stopped or slowed down the clock, so the questions do not wait for the next step.
            self.answer_between_steps();
        }
    }

    /// Runs a frame of the simulation, with the steps that are due. Returns `false` after a panic.
    fn run_frame(&mut self, frame_time: Duration) -> bool {
        frame_span!(self.simulation, frame_time);
        let frame_end = self.real_time().saturating_add(frame_time);
        let mut tick = self.simulation.clock().tick();
        // If the thread runs the frame late, the steps report the present as `Step::real_frame_end`.
        let late = self.now.saturating_sub(frame_end);
        let frame_time = FrameTime::for_one_step(frame_time).late_by(late);
        let (simulation, hooks) = (&mut self.simulation, &mut self.hooks);
        let run = || {
            simulation.begin_frame_with(hooks, frame_time)?;
            // The hook before the frame may have gone to another tick.
            tick = simulation.clock().tick();
            simulation.run_steps(hooks)
        };
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(())) => (),
            Ok(Err(error)) => self.report(Failure::Hook { tick, error }),
            Err(payload) => {
                self.fail(tick, payload);
                self.detect_replaced_simulation(frame_end);
                return false;
            }
        }
        self.detect_replaced_simulation(frame_end);
        self.simulation.close_frame();
        let frame = self.simulation.frame();
        self.unmeasured_steps += frame.steps + frame.resimulated;
        true
    }

    fn report(&mut self, failure: Failure<H::Error>) {
        own(&mut self.outgoing.failures).push_back(failure);
    }

    /// Stops physics after a panic in or before the step of this tick, and reports the panic.
    fn fail(&mut self, tick: u64, payload: Box<dyn Any + Send>) {
        self.panicked = Some(tick);
        self.outgoing.reading = self.reading();
        self.report(Failure::Panic { tick, payload });
        // Nobody would answer these questions.
        discard(self.unanswered.drain(..));
    }

    /// Continues after a panic, from the newest state before it. After a panic of a hook, that is the present one if no
    /// state is kept. The time since the panic is dropped.
    fn recover(&mut self) {
        let Some(panicked) = self.panicked else {
            return;
        };
        // A panic in a hook leaves the frame open, and `rewind` needs a closed one.
        self.simulation.close_frame();
        // If a call panicked before the step, only the state before the previous step is kept.
        let present = self.simulation.physics.tick();
        let target = self.simulation.newest_kept(panicked).unwrap_or(present);
        // This fails if Rapier panicked, which leaves its world broken, and no earlier state is kept.
        if self.simulation.rewind(target).is_ok() {
            self.panicked = None;
            self.drop_lag(self.now.saturating_sub(self.real_time()));
            self.removed
                .remove_from_recovered(&mut self.simulation.physics);
        }
    }

    /// Removes bodies, now or, after a panic, once a state is recovered. Records them until a later state is kept,
    /// because a recovery may go back to a state that still has them.
    fn remove_all(&mut self, keys: Vec<BodyKey>) {
        if self.panicked.is_some() {
            return self.removed.remove_later(keys);
        }
        let newest_kept = self.simulation.newest_kept(self.simulation.physics.tick());
        (self.removed).remove(keys, &mut self.simulation.physics, newest_kept);
    }

    /// Detects that a call or a hook has replaced the simulation or its state. If the clock is not at the expected real
    /// time, it was replaced too, and continues from now.
    fn detect_replaced_simulation(&mut self, expected_real_time: Duration) {
        // A recovery must not remove a body that the game removed in a later or in another state.
        self.removed.forget_alive(&self.simulation.physics);
        if self.publisher.detect_replaced(&mut self.simulation) {
            self.removed.clear();
            if self.real_time() != expected_real_time {
                self.simulation.set_real_time(self.now);
            }
        }
    }

    /// Answers questions without a step. Their scene queries find all changes since the last step.
    fn answer_between_steps(&mut self) {
        if !self.unanswered.is_empty() {
            self.simulation.with_fresh_queries(|simulation| {
                for query in self.unanswered.drain(..) {
                    answer(query, simulation, own(&mut self.outgoing.failures));
                }
            });
        }
    }

    /// Adds the present state to the mail, unless a view would display the same. If the game has read no mail for long,
    /// this state lists all bodies, so that the mailbox can drop the changes that wait before it.
    fn publish(&mut self) {
        self.outgoing.reading = self.reading();
        if self.outgoing.begin_again_if_unread(self.now) {
            self.publisher.start_over();
        }
        let update = self.publisher.publish(&mut self.simulation);
        self.outgoing.states.extend(update);
    }

    /// Reads the clock, for the view. After a panic, its speed is 0, and frames run on to the newest state.
    fn reading(&self) -> ClockReading {
        let mut reading = ClockReading::of(&self.simulation);
        if self.panicked.is_some() {
            (reading.speed, reading.is_rolling_back) = (0.0, false);
        }
        reading
    }

    /// Puts the mail into the mailbox. If the game is using it, returns when to try again, in real time.
    fn hand_over(&mut self) -> Option<Duration> {
        self.outgoing.is_stopped = self.panicked.is_some();
        (self.mailbox).put(&mut self.outgoing, &self.settings, self.now)
    }
}
