//! The start of the physics thread, its failures, and those of sending to it.

use std::any::Any;
use std::fmt;
use std::io;
use std::thread::{Builder, JoinHandle};

/// A failure on the physics thread, from [`Runner::failures`](super::Runner::failures).
#[non_exhaustive]
pub enum Failure<E> {
    /// A hook failed. Physics continues. Unless it was the [`after_step`](crate::Hooks::after_step) of this step, the
    /// step was not run, its time is dropped, and the next step has the same tick.
    Hook {
        /// The tick of the frame's step.
        tick: u64,
        /// The hook's error.
        error: E,
    },
    /// A hook, a call or Rapier panicked. Physics has stopped: call [`recover`](super::Runner::recover) or
    /// [`stop`](super::Runner::stop).
    Panic {
        /// The tick of the frame's step. If a step that runs again has panicked, it is the present tick.
        tick: u64,
        /// The payload of the panic.
        payload: Box<dyn Any + Send>,
    },
    /// A question panicked. Physics continues.
    Ask {
        /// The tick of the next step.
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
            Self::Ask { tick, .. } => write!(f, "Ask {{ tick: {tick}, .. }}"),
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
            Self::Ask { tick, payload } => write!(
                f,
                "a question panicked after {tick} steps{}: it has no answer, physics continues",
                message(&**payload)
            ),
        }
    }
}

/// Returns the message of a panic as ` (message)`, or an empty string if the payload is not text.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = (payload.downcast_ref::<&str>().copied())
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.map_or_else(String::new, |text| format!(" ({text})"))
}

/// Why an order to the physics thread was rejected, with the function of [`Runner::call`](super::Runner::call) or
/// [`Runner::spawn`](super::Runner::spawn).
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum SendError<T> {
    /// The queue is full: see [`RunnerSettings::call_capacity`](super::RunnerSettings::call_capacity).
    #[error(
        "the queue of calls is full: send fewer per frame, or raise `RunnerSettings::call_capacity`"
    )]
    Full(T),
    /// The last frame found physics [stopped](super::View::is_stopped) after a panic.
    #[error("physics has stopped after a panic: call `recover` before you send more, or `stop`")]
    Stopped(T),
    /// The runner's [`Worker`](super::Worker) was dropped. If the runner has a thread, this is a bug in this crate, and
    /// [`Runner::stop`](super::Runner::stop) panics with the cause.
    #[error(
        "the worker was dropped, or a bug in evenstep has ended the physics thread: `stop` panics with its cause"
    )]
    Ended(T),
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Stopped(_) => "Stopped(..)",
            Self::Ended(_) => "Ended(..)",
        })
    }
}

impl<T> SendError<T> {
    /// Returns the error with its rejected value converted.
    pub(super) fn map<U>(self, convert: impl FnOnce(T) -> U) -> SendError<U> {
        match self {
            Self::Full(rejected) => SendError::Full(convert(rejected)),
            Self::Stopped(rejected) => SendError::Stopped(convert(rejected)),
            Self::Ended(rejected) => SendError::Ended(convert(rejected)),
        }
    }
}

/// The system starts no thread, as in a browser. Contains the unchanged simulation of
/// [`Runner::new`](super::Runner::new), with its hooks, or of [`Overlap::new`](super::Overlap::new).
#[derive(thiserror::Error)]
#[error(
    "the system starts no thread for the physics: step the simulation that this error contains on the game's thread"
)]
pub struct StartError<T> {
    /// The arguments in a box, because moving a result that contains a whole simulation would be expensive.
    given: Box<T>,
    source: io::Error,
}

impl<T> fmt::Debug for StartError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartError")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl<T> StartError<T> {
    pub(super) fn new(given: T, source: io::Error) -> Self {
        let given = Box::new(given);
        Self { given, source }
    }

    /// Returns the arguments: the simulation and, for a [`Runner`](super::Runner), its hooks.
    #[must_use]
    pub fn into_given(self) -> T {
        *self.given
    }
}

/// The whole work of a thread, with its result.
pub(super) type Work<T> = Box<dyn FnOnce() -> T + Send>;

/// Starts a physics thread.
pub(super) fn spawn<T: Send + 'static>(work: Work<T>) -> io::Result<JoinHandle<T>> {
    Builder::new().name("physics".into()).spawn(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Hooks, Kept, Simulation};
    use crate::testing::flyer;
    use crate::threads::{Overlap, Runner, RunnerSettings};
    use crate::{BodyKey, Correction};
    use rapier::math::{Pose, Vector};
    use std::error::Error;
    use std::time::Duration;

    #[test]
    fn a_start_error_reports_its_cause_and_the_remedy() {
        let error = StartError::new(Game(7), io::Error::other("no more threads"));
        let text = error.to_string();
        assert!(
            text.ends_with("step the simulation that this error contains on the game's thread")
        );
        assert_eq!(error.source().unwrap().to_string(), "no more threads");
        assert!(format!("{error:?}").ends_with(", .. }"), "{error:?}");
    }

    #[test]
    fn failure_messages_report_the_cause_and_the_tick() {
        let failures: [Failure<&str>; 4] = [
            Failure::Hook {
                tick: 12,
                error: "no more arrows",
            },
            Failure::Panic {
                tick: 12,
                payload: Box::new("oh no"),
            },
            Failure::Ask {
                tick: 12,
                payload: Box::new(String::from("of no use")),
            },
            Failure::Ask {
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
        let question =
            "a question panicked after 12 steps (of no use): it has no answer, physics continues";
        assert_eq!(texts[2], question);
        assert_eq!(texts[3], question.replace(" (of no use)", ""));
    }

    fn refuse<T>(_: Work<T>) -> io::Result<JoinHandle<T>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    #[derive(Debug, PartialEq)]
    struct Game(u32);

    impl Hooks for Game {
        type Error = std::convert::Infallible;
    }

    /// Returns a simulation between two steps, whose body is displayed beside its position after a rollback.
    fn with_visual_error() -> Simulation {
        let (mut simulation, key) = flyer();
        simulation.keep(Kept {
            ticks: 10,
            ..Kept::default()
        });
        simulation.correction = Correction::default();
        simulation.advance(Duration::from_millis(37), |_, _| ());
        let resimulated = simulation.resimulate(1, |physics, _| {
            physics.apply_impulse(key, Vector::Y * 0.01).unwrap();
        });
        resimulated.unwrap();
        simulation
    }

    fn frames(mut simulation: Simulation) -> Vec<(u64, Vec<(BodyKey, Pose)>)> {
        let mut frame = |millis| {
            let frame = simulation.advance(Duration::from_millis(millis), |_, _| ());
            (frame.number, simulation.moved().to_vec())
        };
        [0, 3, 7, 20, 400, 1].map(&mut frame).into()
    }

    #[test]
    fn a_failed_start_returns_the_simulation_and_the_game_unchanged() {
        let simulation = with_visual_error();
        let id = simulation.timeline();
        let error = Overlap::start(simulation, refuse).unwrap_err();
        let simulation = error.into_given();
        assert_eq!(simulation.timeline(), id);
        let settings = RunnerSettings::default();
        let error = Runner::start(simulation, Game(7), settings, refuse).unwrap_err();
        let (simulation, game) = error.into_given();
        assert_eq!((simulation.timeline(), game), (id, Game(7)));
        assert_eq!(frames(simulation), frames(with_visual_error()));
    }
}
