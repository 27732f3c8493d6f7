//! Saving with serde: the written format, and the checks of bytes that are read.

use std::borrow::Cow;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::canonical_nan::CanonicalNan;
use crate::key::ForceGeneratorKey;
use crate::pose::{GeneralSmoothing, Screen};
use crate::step::ForceGenerator;
use crate::time::Clock;

use super::frame::Frame;
use super::root::{Between, Simulation};
use crate::physics::{Physics, Stage};

/// Why a state cannot be written to bytes. You can still clone it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SaveError {
    /// A frame is open: call `end_frame`. Or steps are [to be resimulated](Simulation::steps_to_resimulate): run them,
    /// or [`rewind`](Simulation::rewind) to the tick that [`Physics::tick`] returns.
    #[error(
        "a simulation cannot be saved within a frame or a rollback: call `end_frame` first, and run the steps that are to \
         be resimulated"
    )]
    WithinFrame,
    /// Rapier panicked in a step, so its world is in an unknown state: [rewind](Simulation::rewind) the simulation, or
    /// assign [a sound state](Physics#the-state-as-a-value).
    #[error(
        "Rapier panicked in a step, so its world is in an unknown state: rewind the simulation, or assign a sound state to \
         its `physics`, before you save it"
    )]
    Panicked,
    /// Since the last step, Rapier's world was borrowed mutably, a body with joints was removed, or the origin was
    /// shifted. Or the simulation was created from a world with bodies, and no step has run since. Rapier does not
    /// write changes of joints and soft bodies before a step has processed them: save right after a frame with a step.
    #[error("Rapier's world was changed since the last step: save right after a frame with a step")]
    ChangedSinceStep,
    /// A force generator has a function without a name: see [`ForceGenerator::named`](crate::ForceGenerator::named).
    #[error("the custom force {0:?} has no name: create it with `ForceGenerator::named`")]
    UnnamedForce(ForceGeneratorKey),
    /// Rapier's world contains something that cannot be serialised.
    #[error(
        "a part of Rapier's world cannot be written, most likely a custom shape: \
         use Rapier's own shapes, or keep a clone"
    )]
    NotWritable,
}

/// The parts of a simulation that are written. No frame is open.
#[derive(Serialize, Deserialize)]
struct SavedSimulation<'a> {
    clock: Cow<'a, Clock>,
    physics: Cow<'a, Physics>,
    frame: Frame,
    between: Between,
    smoothing: GeneralSmoothing,
    screen: Cow<'a, Option<Screen>>,
}

/// Requires the feature `serde`. Fails when [`Simulation::save`] fails, with the text of its [`SaveError`].
impl Serialize for Simulation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.check_savable().map_err(S::Error::custom)?;
        if self.redo.is_some() || !self.knows_physics() {
            // Write the state with which the next call of the loop would continue.
            let mut copy = self.clone();
            copy.notice_physics();
            copy.release_redo();
            return copy.serialize(serializer);
        }
        let written = SavedSimulation {
            clock: Cow::Borrowed(&self.clock),
            physics: Cow::Borrowed(&self.physics),
            frame: self.frame,
            between: self.between,
            smoothing: GeneralSmoothing {
                smoothing: self.smoothing,
                correction: self.correction,
            },
            screen: Cow::Borrowed(&self.screen),
        };
        written.serialize(CanonicalNan(serializer))
    }
}

/// Requires the feature `serde`. Fails if the parts of the state contradict each other.
impl<'de> Deserialize<'de> for Simulation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = SavedSimulation::deserialize(deserializer)?;
        let physics = written.physics.into_owned();
        let mut simulation = Self {
            clock: written.clock.into_owned(),
            known: physics.epoch.number(),
            physics,
            frame: written.frame,
            between: written.between,
            smoothing: written.smoothing.smoothing,
            correction: written.smoothing.correction,
            screen: written.screen.into_owned(),
            ..Self::default()
        };
        if !simulation.is_consistent() {
            return Err(D::Error::custom(
                "the parts of the state contradict each other",
            ));
        }
        Ok(simulation)
    }
}

impl Simulation {
    pub(crate) fn check_savable(&self) -> Result<(), SaveError> {
        if self.is_in_frame || self.steps_to_resimulate() > 0 {
            return Err(SaveError::WithinFrame);
        }
        if self.physics.stage == Stage::Poisoned {
            return Err(SaveError::Panicked);
        }
        if self.physics.world.has_unwritten_changes {
            return Err(SaveError::ChangedSinceStep);
        }
        let mut custom = self.physics.forces.custom_forces();
        match custom.find(|(_, force)| force.name().is_none()) {
            Some((key, _)) => Err(SaveError::UnnamedForce(key)),
            None => Ok(()),
        }
    }

    /// Returns whether no code of evenstep panics for the state that was read. Parts of the state that only Rapier
    /// reads are not checked here.
    fn is_consistent(&mut self) -> bool {
        if self.physics.tick() != self.clock.tick() {
            return false;
        }
        let keys = &self.physics.world.keys;
        self.physics.world.is_consistent()
            && self.physics.pairs.is_consistent(keys)
            && self.screen.as_ref().is_none_or(Screen::is_consistent)
            && self.physics.log.is_finite()
            && self.physics.targets.index(keys)
    }

    pub(crate) fn bind_forces(&mut self, force: impl FnMut(&str) -> Option<ForceGenerator>) {
        self.physics.forces.bind(force);
    }
}
