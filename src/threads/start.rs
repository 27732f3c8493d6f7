//! The start of a thread.

use std::io;
use std::thread::{Builder, JoinHandle};

/// The work of a thread, with the value that it returns when it ends.
pub(super) type Work<T> = Box<dyn FnOnce() -> T + Send>;

/// Starts a thread for the physics, if the system has threads.
pub(super) fn spawn<T: Send + 'static>(work: Work<T>) -> io::Result<JoinHandle<T>> {
    Builder::new().name("physics".into()).spawn(work)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulation::{Hooks, Kept, Simulation};
    use crate::threads::worker::tests::flyer;
    use crate::threads::{Overlap, Runner, RunnerSettings};
    use crate::{BodyKey, Correction};
    use rapier::math::{Pose, Vector};
    use std::time::Duration;

    /// Replaces [`spawn`] in a browser.
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

    /// Returns what a simulation displays in some frames, with their numbers.
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
