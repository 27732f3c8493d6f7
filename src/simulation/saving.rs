//! The simulation as bytes: the written format, and the checks of bytes that are read.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bytes::{LoadError, SaveError, StateType, read, write};
use crate::physics::Physics;
use crate::pose::{GeneralSmoothing, Origin};
use crate::screen::Screen;
use crate::time::Clock;

use super::report::Frame;
use super::simulation::Simulation;
use super::steps::Steps;

#[derive(Serialize, Deserialize)]
struct SavedSimulation<'a> {
    clock: Cow<'a, Clock>,
    physics: Cow<'a, Physics>,
    frame: Frame,
    /// The origin of the displayed coordinates.
    origin: Option<Origin>,
    resimulated: u64,
    smoothing: GeneralSmoothing,
}

/// Requires the feature `serde`. Fails when [`Simulation::save`] fails, with the text of its [`SaveError`].
impl Serialize for Simulation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.check_savable().map_err(S::Error::custom)?;
        if self.steps.rollback.is_some() || !self.knows_physics() {
            // The next call of the loop would end a finished rollback, or take over an assigned state. The bytes hold
            // the state with which it would continue.
            let mut copy = self.clone();
            copy.finish_last_step();
            return copy.serialize(serializer);
        }
        let written = SavedSimulation {
            clock: Cow::Borrowed(&self.steps.clock),
            physics: Cow::Borrowed(&self.physics),
            frame: self.frame,
            origin: self.screen.origin(),
            resimulated: self.run.resimulated,
            smoothing: GeneralSmoothing {
                smoothing: self.smoothing,
                correction: self.correction,
            },
        };
        written.serialize(serializer)
    }
}

/// Requires the feature `serde`. Fails if the parts of the state contradict each other.
impl<'de> Deserialize<'de> for Simulation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = SavedSimulation::deserialize(deserializer)?;
        let (time, alpha) = (written.frame.time.as_secs_f64(), written.frame.alpha);
        if !(0.0..=1.0).contains(&alpha) || written.clock.due() > 0 {
            return Err(D::Error::custom(
                "the frame displays no moment of a step, or has not ended",
            ));
        }
        let mut simulation = Self {
            steps: Steps {
                clock: written.clock.into_owned(),
                rollback: None,
            },
            frame: written.frame,
            smoothing: written.smoothing.smoothing,
            correction: written.smoothing.correction,
            screen: Screen::loaded(written.frame.number, time, alpha, written.origin),
            ..Self::default()
        };
        // This marks the state as the loop's own. To a state that the game has assigned, the next picture would jump.
        simulation.replace_physics(written.physics.into_owned());
        // If no picture was displayed, the first one reports shifts of the origin since this state.
        simulation.screen.begin_at(simulation.physics.origin);
        simulation.run.resimulated = written.resimulated;
        // Invalid bytes may hold a clock whose tick or time is not that of the state.
        simulation.follow_tick();
        Ok(simulation)
    }
}

/// # States as bytes
///
/// The module [`saving`](crate::saving) says what the bytes hold. [`Simulation`] also implements serde's traits, for
/// your own format.
impl Simulation {
    /// Returns the state as bytes, to be read by [`load`](Self::load). Call it after a frame with a step.
    ///
    /// # Errors
    /// [`SaveError`]
    pub fn save(&self) -> Result<Vec<u8>, SaveError> {
        self.check_savable()?;
        write(StateType::Simulation, Physics::layout(), self)
    }

    /// Reads a state that was written by [`save`](Self::save) of the same build. Its first frame lists every body in
    /// [`moved`](Self::moved).
    ///
    /// # Errors
    /// [`LoadError`]
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        read(StateType::Simulation, Physics::layout(), bytes)
    }

    /// Returns an error in a frame, while steps are still to be resimulated, or if bytes could not hold the state.
    fn check_savable(&self) -> Result<(), SaveError> {
        let is_within_frame = self.open_report.is_some() || self.steps_to_resimulate() > 0;
        // A panic of Rapier may leave both open, and is reported first, because only its remedy ends them.
        if is_within_frame && !self.physics.is_poisoned {
            return Err(SaveError::WithinFrame);
        }
        self.physics.check_savable()
    }
}
