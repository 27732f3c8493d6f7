//! The simulation on a thread of its own, by the wall clock: the only place here that reads one.

// What is asked of it.
mod command;
// What comes from it.
mod mailbox;
// The same for hooks that stay on the game's thread.
mod overlap;
// What waits for it.
mod orders;
// What it does.
mod physics;
// What the two threads share.
mod sync;
// What is shown of it.
mod view;
// All of it with entities.
#[cfg(all(test, feature = "hecs"))]
mod with_hecs;

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use crate::key::BodyKey;
use crate::rapier::dynamics::RigidBody;
use crate::rapier::geometry::Collider;
use crate::simulation::{Hooks, Simulation};
use crate::step::Events;

pub use command::{Call, Command};
use mailbox::Mailbox;
use orders::{OrderSender, orders};
pub use overlap::Overlap;
use physics::{Order, Physics};
pub use view::View;

/// Settings of a [`Runner`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct RunnerSettings {
    /// How far in the past frames are shown, beyond the one step that interpolation needs: in steps, 0.5 by default.
    ///
    /// A step that takes longer than this is late, and the frames until it arrives [starve](View::is_starved). On
    /// two shared cores at 60 Hz, steps of 1 ms starved 2.3 % of the frames with 0.2 and none with 0.5; steps of
    /// 11 ms 18 % with 0.5 and 0.1 % with 1. For your machine:
    /// `cargo run --release --all-features --example threads_report -- --seconds 8`.
    ///
    /// It does not adapt by itself. A slack that follows the longest wait of the last two seconds was tried on recorded
    /// runs of 20 s, against a fixed one with the same mean delay: it starved 0.00 % of the frames, not 0.04 %, with
    /// steps of 1 ms; 0.00 %, not 0.08 %, with one of 30 ms among them every 1.6 s; 3.94 %, not 3.98 %, with steps of
    /// 11 ms and some of 30 ms; and clearly fewer only where steps of 11 ms grew longer for a while: 0.45 %, not 2.05 %.
    /// A single long step delayed it by 1.4 steps for seconds: for such steps there is [`starved`](Self::starved).
    pub slack: f32,
    /// What a starved frame shows: the newest state, by default.
    pub starved: Starved,
    /// The capacity of the queue of commands and questions: 256 by default. At most 1,024 of them may be new bodies.
    pub commands: usize,
    /// For how many steps events are kept until they are read: 1,000 by default. Older ones are
    /// dropped and [counted](Runner::lost_events).
    pub events: usize,
    /// How far physics may be behind the wall clock before that time is dropped and
    /// [counted](Runner::dropped): 250 ms by default.
    pub max_lag: Duration,
}

impl Default for RunnerSettings {
    fn default() -> Self {
        Self {
            slack: 0.5,
            starved: Starved::Hold,
            commands: 256,
            events: 1_000,
            max_lag: Duration::from_millis(250),
        }
    }
}

impl RunnerSettings {
    /// How many steps in the past frames are shown.
    fn delay(&self) -> f64 {
        1.0 + steps(self.slack)
    }

    /// How many steps beyond the newest state a starved frame may be.
    fn most_beyond(&self) -> f64 {
        match self.starved {
            Starved::Hold => 0.0,
            Starved::Extrapolate { most } => steps(most),
        }
    }

    /// How many states are handed over: those on both sides of the delay, and one more for a reader that is late.
    fn states(&self) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "from 1 to 61")]
        #[expect(clippy::cast_sign_loss, reason = "from 1 to 61")]
        let delay = self.delay().ceil() as usize;
        delay + 2
    }
}

/// What a frame shows while its state is late: for [`RunnerSettings::starved`].
///
/// Either way [`View::is_starved`] reports it. Once the state has arrived, the frames continue at the same
/// [delay](RunnerSettings::slack): time does not go back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Starved {
    /// The newest state: the picture stands still, and then jumps ahead.
    #[default]
    Hold,
    /// Beyond the newest state, each body by its velocity there, as
    /// [`Smoothing::Extrapolate`](crate::Smoothing::Extrapolate) does: the picture keeps moving.
    ///
    /// Once the state has arrived, each body is shown where it truly is at that time. It jumps there by its error:
    /// at most a · t² under an acceleration a, for a time t beyond the state; |v| · t at a contact, or where a kinematic
    /// body has stopped. A body that rests, is disabled or has [`Smoothing::Latest`](crate::Smoothing::Latest)
    /// stays. In a pause, and after a panic, the frames go back to the newest state.
    ///
    /// It makes each hand-over slower, as the velocity of each moving body is read.
    Extrapolate {
        /// How far beyond the newest state, in steps: 60 at most. There the picture stops.
        most: f32,
    },
}

/// A setting in steps, limited to 0 to 60.
fn steps(set: f32) -> f64 {
    // NaN is 0.
    if set > 0.0 { set.min(60.0).into() } else { 0.0 }
}

/// What went wrong on the physics' thread: from [`Runner::failures`].
#[non_exhaustive]
pub enum Failure<E> {
    /// A hook failed. Its step was not made; the game goes on.
    Hook {
        /// The tick of the frame's step.
        tick: u64,
        /// The hook's error.
        error: E,
    },
    /// A hook, a command or Rapier panicked. Physics has stopped: call [`recover`](Runner::recover) or
    /// [`stop`](Runner::stop). The last frame stays on the screen.
    Panic {
        /// The tick of the step.
        tick: u64,
        /// The payload of the panic.
        payload: Box<dyn Any + Send>,
    },
    /// A question panicked, so it has no answer. The game goes on.
    Question {
        /// The number of steps made.
        tick: u64,
        /// The payload of the panic.
        payload: Box<dyn Any + Send>,
    },
}

impl<E: fmt::Debug> fmt::Debug for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook { tick, error } => write!(f, "Hook {{ tick: {tick}, error: {error:?} }}"),
            Self::Panic { tick, .. } => write!(f, "Panic {{ tick: {tick}, .. }}"),
            Self::Question { tick, .. } => write!(f, "Question {{ tick: {tick}, .. }}"),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hook { tick, error } => {
                write!(f, "a hook failed in the step of tick {tick}: {error}")
            }
            Self::Panic { tick, payload } => write!(
                f,
                "physics panicked in the step of tick {tick}{}: call `recover` or `stop`",
                message(&**payload)
            ),
            Self::Question { tick, payload } => write!(
                f,
                "a question panicked after {tick} steps{}",
                message(&**payload)
            ),
        }
    }
}

/// What a panic says, if it says it in words.
fn message(payload: &(dyn Any + Send)) -> String {
    let words = (payload.downcast_ref::<&str>().copied())
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    words.map_or_else(String::new, |words| format!(" ({words})"))
}

/// Why a command was not accepted. It contains the command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError<T> {
    /// The queue is full: see [`RunnerSettings::commands`].
    #[error(
        "the queue of commands is full: send fewer in a frame, or raise `RunnerSettings::commands`"
    )]
    Full(T),
    /// The thread has ended.
    #[error("the physics thread has ended: `failures` says why, `stop` returns the simulation")]
    Ended(T),
}

impl<T> SendError<T> {
    /// The same of something else that is handed back.
    fn map<U>(self, change: impl FnOnce(T) -> U) -> SendError<U> {
        match self {
            Self::Full(refused) => SendError::Full(change(refused)),
            Self::Ended(refused) => SendError::Ended(change(refused)),
        }
    }
}

/// A question to the physics, which gets the simulation after the step in which it is answered.
type Query = Box<dyn FnOnce(&Simulation) + Send>;

/// The answer to a question, once there is one: from [`Runner::ask`].
#[derive(Debug)]
pub struct Answer<T>(Receiver<(u64, T)>);

impl<T> Answer<T> {
    /// The answer, with the number of steps made when it was given; `None` as long as there is none, also if
    /// there will never be one: the step or the question panicked, or the thread has ended.
    #[must_use]
    pub fn get(&self) -> Option<(u64, T)> {
        self.0.try_recv().ok()
    }

    /// Waits for the answer, at most this long; `None` if there is none by then, or will never be one.
    #[must_use]
    pub fn wait(&self, most: Duration) -> Option<(u64, T)> {
        self.0.recv_timeout(most).ok()
    }
}

/// A simulation on a thread of its own, which steps it by the wall clock. With the feature `threads`.
///
/// Neither waits for the other: a slow step costs no frame, and a slow frame no step. Frames are shown one step and a
/// [slack](RunnerSettings::slack) in the past. Use it where a step takes so long that it costs frames; otherwise a
/// [`Simulation`] in the game's loop is simpler and has less latency.
///
/// ```
/// use evenstep::rapier3d::prelude::*;
/// use evenstep::{Hooks, Runner, RunnerSettings, Simulation};
///
/// struct Game;
/// impl Hooks for Game {
///     type Error = std::convert::Infallible;
/// }
///
/// let mut runner = Runner::new(Simulation::default(), Game, RunnerSettings::default());
/// let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
/// let key = runner.spawn(body, [ColliderBuilder::ball(0.5)])?;
/// // In the game's loop, once a frame:
/// while runner.frame().pose(key).is_none() {
///     std::thread::yield_now(); // draw the frame
/// }
/// let (simulation, _) = runner.stop();
/// assert!(simulation.body(key).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Entities
/// With the feature `hecs`, `entities::Entities` keeps a world's components up to date, as it does for a
/// [`Simulation`]: call its `sync` after each [`frame`](Self::frame). The example `threaded` is such a game.
///
/// # Levels
/// [`spawn`](Self::spawn) is for single bodies while the game runs: before each step at most as many as the queue of
/// [commands](RunnerSettings::commands) holds. To load a level of thousands, stop the thread and start it again. That
/// waits for the current step only, the keys are known at once, and no simulated time passes; read the
/// [events](Self::events) first.
///
/// ```
/// # use evenstep::rapier3d::prelude::*;
/// # use evenstep::{BodyKey, Command, Hooks, Runner, RunnerSettings, Simulation};
/// # struct Game;
/// # impl Hooks for Game {
/// #     type Error = std::convert::Infallible;
/// # }
/// # let settings = RunnerSettings::default();
/// # let runner = Runner::new(Simulation::default(), Game, settings);
/// let (mut simulation, game) = runner.stop();
/// let at = |x: f32| RigidBodyBuilder::fixed().translation(Vector::X * x);
/// let level: Vec<BodyKey> = (0..5_000u16)
///     .map(|i| simulation.insert(at(f32::from(i)), ColliderBuilder::ball(0.5)))
///     .collect();
/// let runner = Runner::new(simulation, game, settings);
/// // One command removes all of it.
/// runner.send(Command::RemoveAll(level))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Without a stop, a [`call`](Self::call) may insert any number of bodies in one step, and send their keys through a
/// channel of its own.
///
/// # What runs where
/// The [`Hooks`] run on the physics' thread, before and after each step. The game's thread [sends](Self::send)
/// commands, which are run at the start of the next step in the order sent, and [asks](Self::ask) questions,
/// which see every command sent before. In a [pause](Command::Pause) both are done at once.
///
/// Each step is a frame of the simulation. The simulation's [`Stepping`](crate::Stepping) and its limits of frame time,
/// steps and budget have no effect here: see [`RunnerSettings::max_lag`].
///
/// # Recording
/// A `Recorder` (with the feature `serde`) belongs to the hooks:
/// [`before_frame`](Hooks::before_frame) records the frame, [`before_step`](Hooks::before_step) the input,
/// [`after_step`](Hooks::after_step) the step. Commands are not recorded: send what changes the
/// simulation as input, through a channel that the hooks read.
///
/// # Determinism
/// The same commands in the same steps make the same bits as a simulation in one thread. In which step a
/// command runs depends on when it is sent; where runs must be equal, send input by tick and let the hooks take
/// it ([`TickQueue`](crate::TickQueue)).
#[derive(Debug)]
pub struct Runner<H: Hooks>
where
    H::Error: Send,
{
    /// `None` once it is to end.
    orders: Option<OrderSender<Order<H>>>,
    thread: Option<JoinHandle<(Simulation, H)>>,
    mailbox: Arc<Mailbox<H::Error>>,
    view: View<H::Error>,
    clock: WallClock,
}

impl<H: Hooks> fmt::Debug for Order<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command) => command.fmt(f),
            Self::Query(_) => f.write_str("Query"),
            Self::Recover => f.write_str("Recover"),
        }
    }
}

/// The wall clock, as the simulation's real time.
#[derive(Clone, Copy, Debug)]
struct WallClock {
    start: Instant,
    at_start: Duration,
}

impl WallClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "a thread of its own is a host's own loop"
    )]
    fn new(at_start: Duration) -> Self {
        let start = Instant::now();
        Self { start, at_start }
    }

    fn now(&self) -> Duration {
        self.at_start.saturating_add(self.start.elapsed())
    }
}

impl<H> Runner<H>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    /// Starts a thread that steps `simulation` from now on.
    ///
    /// # Panics
    /// If the system cannot start a thread.
    #[must_use]
    pub fn new(simulation: Simulation, hooks: H, settings: RunnerSettings) -> Self {
        let (mut runner, mut physics) = Self::without_thread(simulation, hooks, settings);
        let clock = runner.clock;
        let thread = Builder::new().name("physics".into()).spawn(move || {
            run(&mut physics, clock);
            physics.into_parts()
        });
        runner.thread = Some(thread.expect("the system starts a thread for the physics"));
        runner
    }

    /// Both sides.
    fn without_thread(
        simulation: Simulation,
        hooks: H,
        settings: RunnerSettings,
    ) -> (Self, Physics<H>) {
        let mut view = View::new(settings, simulation.frame().number);
        for (key, _) in simulation.bodies() {
            let pose = simulation.pose(key).expect("it is there");
            view.expect(key, pose);
        }
        let mailbox = Arc::new(Mailbox::default());
        let clock = WallClock::new(simulation.clock().real_time());
        let (sender, orders) = orders(settings.commands);
        let physics = Physics::new(simulation, hooks, settings, Arc::clone(&mailbox), orders);
        let runner = Self {
            orders: Some(sender),
            thread: None,
            mailbox,
            view,
            clock,
        };
        (runner, physics)
    }

    /// Call once a frame: what to show now.
    pub fn frame(&mut self) -> &View<H::Error> {
        let now = self.clock.now();
        self.view.update(&self.mailbox, now);
        &self.view
    }

    /// What the last [`frame`](Self::frame) has shown.
    #[must_use]
    pub fn view(&self) -> &View<H::Error> {
        &self.view
    }

    /// The real time of the simulation's clock: for the stamps of an [`InputQueue`](crate::InputQueue).
    #[must_use]
    pub fn now(&self) -> Duration {
        self.clock.now()
    }

    /// Sends a command, to be run at the start of the next step.
    ///
    /// # Errors
    /// [`SendError`], with the command.
    pub fn send(&self, command: Command<H>) -> Result<(), SendError<Command<H>>> {
        self.order(Order::Command(command)).map_err(|error| {
            error.map(|order| match order {
                Order::Command(command) => command,
                _ => unreachable!("it is the order that was given"),
            })
        })
    }

    /// Sends a function, to be called at the start of the next step with the simulation and the hooks: for everything that
    /// has no [`Command`].
    ///
    /// # Errors
    /// [`SendError`], with the function in its command.
    pub fn call(
        &self,
        call: impl FnOnce(&mut Simulation, &mut H) + Send + 'static,
    ) -> Result<(), SendError<Command<H>>> {
        self.send(Command::Call(Box::new(call)))
    }

    /// Inserts a body with its colliders in the next step. Its key can be used in commands at once.
    ///
    /// If the simulation is replaced or rewound before that step, the key is lost and the body is not inserted,
    /// which is [counted](Self::lost_spawns).
    ///
    /// # Errors
    /// [`SendError`], with the command, which has no key then: to try again, spawn its body again. For thousands
    /// at once see [Levels](Self#levels).
    pub fn spawn<C: Into<Collider>>(
        &mut self,
        body: impl Into<RigidBody>,
        colliders: impl IntoIterator<Item = C>,
    ) -> Result<BodyKey, SendError<Command<H>>> {
        let body = Box::new(body.into());
        let pose = *body.position();
        let mut command = Command::Spawn {
            key: BodyKey::default(),
            body,
            colliders: colliders.into_iter().map(Into::into).collect(),
        };
        let Some(reserved) = self.view.take_key(&self.mailbox) else {
            return Err(SendError::Full(command));
        };
        if let Command::Spawn { key, .. } = &mut command {
            *key = reserved;
        }
        match self.send(command) {
            Ok(()) => {
                self.view.expect(reserved, pose);
                Ok(reserved)
            }
            Err(mut error) => {
                self.view.give_key_back(reserved);
                let (SendError::Full(command) | SendError::Ended(command)) = &mut error;
                if let Command::Spawn { key, .. } = command {
                    *key = BodyKey::default();
                }
                Err(error)
            }
        }
    }

    /// Asks a question of the simulation as it is after the next step, or in a pause at once: a ray cast, an overlap
    /// test, a saved state (`Simulation::clone`). Every command that was sent before has been run by then.
    ///
    /// # Errors
    /// [`SendError`]; the question is lost.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Simulation) -> T + Send + 'static,
    ) -> Result<Answer<T>, SendError<()>> {
        let (answer, receiver) = sync_channel(1);
        let query = Box::new(move |simulation: &Simulation| {
            // The receiver may have been dropped: nobody waits for the answer.
            let _ = answer.send((simulation.tick(), question(simulation)));
        });
        let sent = self.order(Order::Query(query));
        sent.map_err(|error| error.map(drop))?;
        Ok(Answer(receiver))
    }

    /// After a panic: continues from the state before the step in which it happened, or after a panic in a command from the
    /// newest state before it. Without such a state ([`Simulation::set_rewind_limits`]) physics stays stopped. The
    /// commands of that step are lost.
    ///
    /// # Errors
    /// [`SendError`].
    pub fn recover(&self) -> Result<(), SendError<()>> {
        let sent = self.order(Order::Recover);
        sent.map_err(|error| error.map(drop))
    }

    fn order(&self, order: Order<H>) -> Result<(), SendError<Order<H>>> {
        match &self.orders {
            Some(orders) => orders.send(order),
            None => Err(SendError::Ended(order)),
        }
    }

    /// The events of all steps since the last call, each once, with the tick of its step.
    pub fn events(&mut self) -> Vec<(u64, Events)> {
        self.view.take_events(&self.mailbox, None)
    }

    /// The [`events`](Self::events) of the steps that the last frame has reached: so a sound is heard with its
    /// picture, not up to two steps before. (Rapier finds the collisions of a step at its beginning.)
    pub fn shown_events(&mut self) -> Vec<(u64, Events)> {
        let shown = self.view.tick();
        self.view.take_events(&self.mailbox, Some(shown))
    }

    /// How many events were dropped because nobody read them.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.view.lost_events()
    }

    /// How many failures were dropped because nobody read them.
    #[must_use]
    pub fn lost_failures(&self) -> u64 {
        self.view.lost_failures()
    }

    /// How many bodies were not inserted because their key was lost: see [`spawn`](Self::spawn).
    #[must_use]
    pub fn lost_spawns(&self) -> u64 {
        self.view.lost_spawns()
    }

    /// How much real time was dropped because physics was too far behind.
    #[must_use]
    pub fn dropped(&self) -> Duration {
        self.view.dropped()
    }

    /// The failures since the last call, at most the last 1,000; older ones are
    /// [counted](Self::lost_failures).
    pub fn failures(&mut self) -> Vec<Failure<H::Error>> {
        self.view.take_failures(&self.mailbox)
    }

    /// Ends the thread after the current step. Returns the simulation and the hooks.
    ///
    /// # Panics
    /// If the thread has panicked where no hook and no step was running, which is a bug in this crate.
    #[must_use]
    pub fn stop(mut self) -> (Simulation, H) {
        self.orders = None;
        let thread = self.thread.take().expect("only this takes it");
        match thread.join() {
            Ok(ended) => ended,
            Err(payload) => std::panic::resume_unwind(payload),
        }
    }
}

impl<H: Hooks> Drop for Runner<H>
where
    H::Error: Send,
{
    /// Ends the thread after the current step.
    fn drop(&mut self) {
        self.orders = None;
        if let Some(thread) = self.thread.take() {
            // A panic there was reported by now, or is the game's to ask for.
            let _ = thread.join();
        }
    }
}

/// The thread: until nobody can send orders any more.
fn run<H: Hooks>(physics: &mut Physics<H>, clock: WallClock) {
    while physics.orders.fetch() {
        // To an absolute time, so that what each wait is late does not add up.
        let next = physics.run_until(clock.now());
        let most = next.map(|next| next.saturating_sub(clock.now()));
        if !physics.orders.wait(most) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_say_what_went_wrong_where() {
        let failures: [Failure<&str>; 4] = [
            Failure::Hook {
                tick: 12,
                error: "no more arrows",
            },
            Failure::Panic {
                tick: 12,
                payload: Box::new("oh no"),
            },
            Failure::Question {
                tick: 12,
                payload: Box::new(String::from("of no use")),
            },
            Failure::Question {
                tick: 12,
                payload: Box::new(1),
            },
        ];
        let texts = failures.map(|failure| failure.to_string());
        assert_eq!(
            texts[0],
            "a hook failed in the step of tick 12: no more arrows"
        );
        assert_eq!(
            texts[1],
            "physics panicked in the step of tick 12 (oh no): call `recover` or `stop`"
        );
        assert_eq!(texts[2], "a question panicked after 12 steps (of no use)");
        assert_eq!(texts[3], "a question panicked after 12 steps");
    }

    #[test]
    fn who_has_ended_is_never_full() {
        let (sender, orders) = orders(1);
        drop(orders);
        for i in 0..3 {
            assert!(matches!(sender.send(i), Err(SendError::Ended(_))));
        }
    }
}
