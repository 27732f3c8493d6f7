//! The state as bytes: the written format, and the checks of bytes that are read.

use std::borrow::Cow;
use std::sync::OnceLock;

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use twox_hash::XxHash3_64;

use crate::bytes::{Layout, LoadError, SaveError, StateType, read, read_fingerprint, write};
use crate::events::EventLog;
use crate::forces::Forces;
use crate::pose::{Origin, Pairs, SmoothingSettings};
use crate::step::{Targets, World};
use crate::time::{ExactTime, Rate};
use rapier::dynamics::RigidBodyBuilder;
use rapier::geometry::ColliderBuilder;

use super::{Edits, Physics};

/// The parts of a state that are written.
#[derive(Serialize, Deserialize)]
struct SavedPhysics<'a> {
    tick: u64,
    time: ExactTime,
    rate: Rate,
    world: Cow<'a, World>,
    targets: Cow<'a, Targets>,
    forces: Cow<'a, Forces>,
    event_log: Cow<'a, EventLog>,
    pairs: Cow<'a, Pairs>,
    origin: Origin,
    smoothing: Cow<'a, SmoothingSettings>,
    edits: Cow<'a, Edits>,
}

/// Requires the feature `serde`. Fails when [`Physics::save`] fails, with the text of its [`SaveError`].
impl Serialize for Physics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.check_savable().map_err(S::Error::custom)?;
        if self.current_step().is_some() {
            // A copy holds nothing of the current step.
            return self.clone().serialize(serializer);
        }
        let written = SavedPhysics {
            tick: self.tick,
            time: self.time,
            rate: self.rate,
            world: Cow::Borrowed(&self.world),
            targets: Cow::Borrowed(&self.targets),
            forces: Cow::Borrowed(&self.forces),
            event_log: Cow::Borrowed(&self.event_log),
            pairs: Cow::Borrowed(&self.pairs),
            origin: self.origin,
            smoothing: Cow::Borrowed(&self.smoothing),
            edits: Cow::Borrowed(&self.edits),
        };
        written.serialize(serializer)
    }
}

/// Requires the feature `serde`. Fails if the parts of the state contradict each other.
impl<'de> Deserialize<'de> for Physics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let written = SavedPhysics::deserialize(deserializer)?;
        let physics = Self {
            tick: written.tick,
            time: written.time,
            rate: written.rate,
            world: written.world.into_owned(),
            targets: written.targets.into_owned(),
            forces: written.forces.into_owned(),
            event_log: written.event_log.into_owned(),
            pairs: written.pairs.into_owned(),
            origin: written.origin,
            smoothing: written.smoothing.into_owned().into(),
            edits: written.edits.into_owned(),
            ..Self::default()
        };
        // No code of evenstep panics for a consistent state. Parts that only Rapier reads are not checked.
        let keys = &physics.world.keys;
        let is_consistent = physics.world.is_consistent()
            && physics.pairs.is_consistent(keys)
            && physics.targets.are_of(keys)
            && (physics.smoothing.keys()).all(|key| keys.handle(key).is_some());
        if is_consistent {
            Ok(physics)
        } else {
            Err(D::Error::custom(
                "the parts of the state contradict each other",
            ))
        }
    }
}

/// # States as bytes
///
/// A client can [adopt](crate::Simulation::correct) or [assign](Physics#the-state-as-a-value) a server's state. For a
/// saved game, use [`Simulation::save`](crate::Simulation::save), which adds the clock. See [`saving`](crate::saving)
/// for guarantees and limits.
///
/// The bytes hold what a clone of the state holds, except the [resources](Self::resources) and the events of the last
/// step. `Physics` also implements serde's traits, for your own format.
impl Physics {
    /// Returns the state as bytes, to be read by [`load`](Self::load).
    ///
    /// # Errors
    /// [`SaveError`]
    ///
    /// # Panics
    /// Within [`resource_scope`](Physics::resource_scope) in the hook before a step.
    pub fn save(&self) -> Result<Vec<u8>, SaveError> {
        self.check_savable()?;
        write(StateType::Physics, Self::layout(), self)
    }

    /// Reads a state that was written by [`save`](Self::save) of the same build.
    ///
    /// # Errors
    /// [`LoadError`]
    pub fn load(bytes: &[u8]) -> Result<Self, LoadError> {
        read(StateType::Physics, Self::layout(), bytes)
    }

    /// Returns an error if bytes could not hold this state.
    pub(crate) fn check_savable(&self) -> Result<(), SaveError> {
        if self.is_poisoned {
            return Err(SaveError::Panicked);
        }
        // Rapier does not write changes of joints and soft bodies that no step has seen.
        if self.world.has_unstepped_changes {
            return Err(SaveError::ChangedSinceStep);
        }
        Ok(())
    }

    /// Returns a number for the layout of saved bytes, to refuse those of a build with other features of Rapier, which
    /// add fields to its types. It is a hash of the bytes of a state with two balls at one position. Of the state after
    /// two steps, which has their contact, only the size counts, because not every platform computes the same bits.
    pub(crate) fn layout() -> Layout {
        static LAYOUT: OnceLock<Layout> = OnceLock::new();
        *LAYOUT.get_or_init(|| {
            let mut sample = Self::default();
            for _ in 0..2 {
                sample.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
            }
            let before = postcard::to_stdvec(&sample).unwrap_or_default();
            let sample = sample.preview(2, |_, _| ());
            let after = postcard::to_stdvec(&sample).unwrap_or_default();
            (XxHash3_64::oneshot(&before) ^ after.len() as u64).to_le_bytes()
        })
    }
}

/// Returns the [`fingerprint`](crate::saving::fingerprint()) of the machine that [saved](crate::Simulation::save) a
/// [`Simulation`](crate::Simulation) or a [`Physics`](crate::Physics). If it differs, the run may continue differently
/// here.
///
/// # Errors
/// The errors of [`Simulation::load`](crate::Simulation::load), except [`LoadError::OtherType`] and
/// [`LoadError::Contents`].
pub fn fingerprint_of(bytes: &[u8]) -> Result<u64, LoadError> {
    read_fingerprint(Physics::layout(), bytes)
}
