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

/// How a [`Runner`] hands over what it does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunnerSettings {
    /// How far in the past frames are shown, beyond the one step that interpolation takes: in steps, 0.5 by default.
    ///
    /// A step that takes longer than this is late, and the frames until it comes [starve](View::is_starved). On
    /// two shared cores at 60 Hz, steps of 1 ms starved 2.3 % of the frames with 0.2 and none with 0.5; steps of
    /// 11 ms 18 % with 0.5 and 0.1 % with 1. For your machine:
    /// `cargo run --release --all-features --example threads_report -- --seconds 8`.
    ///
    /// It does not adapt by itself. A slack that follows the longest wait of the last two seconds was tried on recorded
    /// runs of 20 s, against a fixed one with the same mean delay: it starved 0.00 % of the frames, not 0.04 %, with
    /// steps of 1 ms; 0.00 %, not 0.08 %, with one of 30 ms among them every 1.6 s; 3.94 %, not 3.98 %, with steps of
    /// 11 ms and some of 30 ms; and clearly fewer only where steps of 11 ms grew longer for a while: 0.45 %, not 2.05 %.
    /// A single long step made it 1.4 steps later for seconds: for such steps there is [`starved`](Self::starved).
    pub slack: f32,
    /// What a starved frame shows: the newest state, by default.
    pub starved: Starved,
    /// The most commands and queries that wait for the next step: 256 by default. Of new bodies, 1,024 at most.
    pub commands: usize,
    /// Of how many steps with events these are kept until they are taken: 1,000 by default. The oldest are
    /// dropped and [counted](Runner::lost_events).
    pub events: usize,
    /// How far physics may be behind the wall clock before it gives the time up, which is then
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

/// What a frame shows whose state has not come yet: for [`RunnerSettings::starved`].
///
/// Either way [`View::is_starved`] says so, and once the state has come the frames go on at the
/// [delay](RunnerSettings::slack) that they had: time does not go back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Starved {
    /// The newest state as it is: the picture stands, and then jumps ahead to where it would have been.
    #[default]
    Hold,
    /// Beyond the newest state, each body with the velocity that it has there, as
    /// [`Smoothing::Extrapolate`](crate::Smoothing::Extrapolate) does: the picture goes on.
    ///
    /// Once the state has come, each body is where it truly is at that time. It jumps to there by what it was off:
    /// under an acceleration a, by a · t² at most for a time t beyond the state; at a contact, or where a kinematic body
    /// has come to its end, by |v| · t. A body that rests, is disabled or has [`Smoothing::Latest`](crate::Smoothing::Latest)
    /// stays. In a pause, and after a panic, nothing is shown that is not so: the frames go back to the newest state.
    ///
    /// Each hand-over takes longer by a look at each body that moves.
    Extrapolate {
        /// How far beyond the newest state, in steps: 60 at most. There the picture stands.
        most: f32,
    },
}

/// A setting in steps, by whatever means it was made: from 0 to 60.
fn steps(set: f32) -> f64 {
    // What is no number is none.
    if set > 0.0 { set.min(60.0).into() } else { 0.0 }
}

/// What went wrong on the physics' thread: from [`Runner::failures`].
#[non_exhaustive]
pub enum Failure<E> {
    /// A hook failed. The step that it failed in front of was not made; the game goes on.
    Hook {
        /// The tick of the frame's step.
        tick: u64,
        /// What it gave.
        error: E,
    },
    /// A hook, a command or Rapier panicked. The physics stands: [`recover`](Runner::recover) or
    /// [`stop`](Runner::stop). What was shown last stays.
    Panic {
        /// The tick of the step.
        tick: u64,
        /// What the panic was given.
        payload: Box<dyn Any + Send>,
    },
    /// A question panicked, to which there is no answer then. The game goes on.
    Question {
        /// The number of steps made.
        tick: u64,
        /// What the panic was given.
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

/// Why a command was not taken. It is handed back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError<T> {
    /// As many wait as may: see [`RunnerSettings::commands`].
    #[error("the queue of commands is full")]
    Full(T),
    /// The thread has ended.
    #[error("the physics' thread has ended")]
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

/// What a question to the physics will be answered: from [`Runner::ask`].
#[derive(Debug)]
pub struct Answer<T>(Receiver<(u64, T)>);

impl<T> Answer<T> {
    /// The answer, with the number of steps made when it was given; `None` as long as there is none. Also if
    /// there never will be: the step or the question panicked, or the thread has ended.
    #[must_use]
    pub fn get(&self) -> Option<(u64, T)> {
        self.0.try_recv().ok()
    }

    /// Waits for the answer; `None` if there never will be one, or none within `most`.
    #[must_use]
    pub fn wait(&self, most: Duration) -> Option<(u64, T)> {
        self.0.recv_timeout(most).ok()
    }
}

/// A simulation on a thread of its own, which steps it by the wall clock. With the feature `threads`.
///
/// Neither waits for the other: a slow step costs no frame, and a slow frame no step. What is shown is one step and a
/// [slack](RunnerSettings::slack) in the past. Use it where a step takes so long that it costs frames; otherwise a
/// [`Simulation`] in the game's loop is simpler and shows half a step more of the present.
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
/// With the feature `hecs`, `entities::Entities` keeps a world's components at what is shown, as it does for a
/// [`Simulation`]: call its `sync` after each [`frame`](Self::frame). The example `threaded` is such a game.
///
/// # Levels
/// [`spawn`](Self::spawn) is for what comes while the game runs: before each step as many bodies as there may be
/// [commands](RunnerSettings::commands). A level of thousands is loaded while there is no thread. It waits for the
/// step at hand and no longer, the keys are there at once, and no time passes meanwhile; take the
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
/// // All of it goes by one command.
/// runner.send(Command::RemoveAll(level))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Without a stop, a [`call`](Self::call) inserts as many bodies as it likes in one step, and sends their keys through a
/// channel of its own.
///
/// # What runs where
/// The [`Hooks`] run on the physics' thread, before and after each step. The game's thread [sends](Self::send)
/// commands, which are run at the start of the next step in the order sent, and [asks](Self::ask) questions,
/// which see every command sent before. In a [pause](Command::Pause) both are done at once.
///
/// Each step is a frame of the simulation. Its [`Stepping`](crate::Stepping) is set to fixed, and its limits of
/// frame time, steps and budget to none: see [`RunnerSettings::max_lag`].
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
    /// If the system gives no thread.
    #[must_use]
    pub fn new(simulation: Simulation, hooks: H, settings: RunnerSettings) -> Self {
        let (mut runner, mut physics) = Self::without_thread(simulation, hooks, settings);
        let clock = runner.clock;
        let thread = Builder::new().name("physics".into()).spawn(move || {
            run(&mut physics, clock);
            physics.into_parts()
        });
        runner.thread = Some(thread.expect("the system has a thread to give"));
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

    /// Once a frame: what is to be shown now.
    pub fn frame(&mut self) -> &View<H::Error> {
        let now = self.clock.now();
        self.view.update(&self.mailbox, now);
        &self.view
    }

    /// What the last [`frame`](Self::frame) has shown, once more.
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

    /// Sends a function, to be called at the start of the next step with the simulation and the hooks: for whatever
    /// there is no [`Command`] for.
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
    /// [`SendError`]; the question is gone.
    pub fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Simulation) -> T + Send + 'static,
    ) -> Result<Answer<T>, SendError<()>> {
        let (answer, receiver) = sync_channel(1);
        let query = Box::new(move |simulation: &Simulation| {
            // Who has dropped the receiver does not want to know.
            let _ = answer.send((simulation.tick(), question(simulation)));
        });
        let sent = self.order(Order::Query(query));
        sent.map_err(|error| error.map(drop))?;
        Ok(Answer(receiver))
    }

    /// After a panic: goes on from the state before the step in which it happened, if that is kept
    /// ([`Simulation::set_rewind_limits`]). What waited for that step is gone.
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

    /// The events of all steps since this was asked last, each once, with the tick of its step.
    pub fn events(&mut self) -> Vec<(u64, Events)> {
        self.view.take_events(&self.mailbox, None)
    }

    /// [`events`](Self::events) of the steps that the last frame has reached: a sound then comes with its
    /// picture, and not up to two steps before. (Rapier finds the collisions of a step at its beginning.)
    pub fn shown_events(&mut self) -> Vec<(u64, Events)> {
        let shown = self.view.tick();
        self.view.take_events(&self.mailbox, Some(shown))
    }

    /// How many events were dropped, as nobody took them.
    #[must_use]
    pub fn lost_events(&self) -> u64 {
        self.view.lost_events()
    }

    /// How many failures were dropped, as nobody took them.
    #[must_use]
    pub fn lost_failures(&self) -> u64 {
        self.view.lost_failures()
    }

    /// How many bodies were not inserted, as their key was lost.
    #[must_use]
    pub fn lost_spawns(&self) -> u64 {
        self.view.lost_spawns()
    }

    /// How much real time was dropped, as physics was too far behind.
    #[must_use]
    pub fn dropped(&self) -> Duration {
        self.view.dropped()
    }

    /// What went wrong since this was asked last. Of the last 1,000 failures; those before are
    /// [counted](Self::lost_failures).
    pub fn failures(&mut self) -> Vec<Failure<H::Error>> {
        self.view.take_failures(&self.mailbox)
    }

    /// Ends the thread after the step at hand, and gives back what was given to it.
    ///
    /// # Panics
    /// If the thread has panicked where no hook and no step was running, which is a defect here.
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
    /// Ends the thread after the step at hand.
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
    fn who_has_ended_is_never_full() {
        let (sender, orders) = orders(1);
        drop(orders);
        for i in 0..3 {
            assert!(matches!(sender.send(i), Err(SendError::Ended(_))));
        }
    }
}
