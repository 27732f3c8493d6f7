//! All that a step depends on, but for the time: what is saved, and what a rollback puts back.

use crate::id::Id;
use crate::key::BodyKey;
use crate::pose::{ErrorChange, Origin, Pairs, PoseLog};
use crate::resources::Resources;
use crate::step::{EventLog, Forces, Targets, World};
use crate::time::Step;
use rapier::dynamics::{ImpulseJoint, RigidBody};
use rapier::geometry::{Collider, ContactManifold, ContactPair, SolverContact};
use rapier::math::Pose;
use rapier::pipeline::PhysicsWorld;

#[derive(Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct State {
    /// A snapshot and bytes have no step at hand.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub stage: StepStage,
    pub world: World,
    pub targets: Targets,
    pub forces: Forces,
    pub event_log: EventLog,
    pub pairs: Pairs,
    pub origin: Origin,
    /// For the next picture.
    pub log: PoseLog,
    /// A copy is another state: whoever displays it compares all bodies.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub epoch: Id,
    pub edits: Edits,
    /// Of types that only the game knows.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub resources: Resources,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum StepStage {
    /// No step was begun.
    #[default]
    Idle,
    /// The game is at work on this step, which Rapier has not made.
    Before(Step),
    /// Rapier is at work on the step. The stage stays if it panics: the world is then in an unknown state.
    Poisoned,
    /// The game reacts to the step, until it asks for the next one.
    After,
}

/// What the game may have changed through Rapier's own types since it was last looked at.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Edits {
    pub bodies: Vec<BodyKey>,
    /// Whether that may be any body, or its removal.
    pub all: bool,
    /// Sleeping bodies that the next step wakes.
    pub woken: Vec<BodyKey>,
    /// Whether that may be any sleeping body.
    pub any_woken: bool,
}

impl State {
    pub fn new(physics: PhysicsWorld) -> Self {
        Self {
            stage: StepStage::default(),
            world: World::new(physics),
            targets: Targets::default(),
            forces: Forces::default(),
            event_log: EventLog::default(),
            pairs: Pairs::default(),
            origin: Origin::default(),
            log: PoseLog::default(),
            epoch: Id::default(),
            edits: Edits::default(),
            resources: Resources::default(),
        }
    }

    /// Takes the log for a reader that has displayed the state `displayed` before. The counts stay: they are the frame's.
    pub fn take_log(&mut self, displayed: u64) -> PoseLog {
        let counts = self.log.counts;
        let fresh = PoseLog {
            counts,
            ..PoseLog::default()
        };
        let mut log = std::mem::replace(&mut self.log, fresh);
        log.epoch = self.epoch.number();
        if log.epoch == displayed {
            // A body may have come to rest in a frame that displayed nothing, and have been removed after it.
            let removed = std::mem::take(&mut log.removed);
            log.drop_rest_of(&removed);
            log.removed = removed;
        } else {
            log.rest = self.pairs.resting().collect();
        }
        log
    }

    /// Begins the log of a state that replaces `left`, of which only what its log says of visual errors and removals holds.
    pub fn continue_log(&mut self, left: PoseLog, errors: impl IntoIterator<Item = ErrorChange>) {
        self.log = PoseLog {
            rest: Vec::new(),
            ..left
        };
        self.log.errors.extend(errors);
    }

    /// About how many bytes of memory it takes, by the sizes of Rapier's sets.
    pub fn bytes(&self) -> usize {
        let PhysicsWorld {
            bodies,
            colliders,
            impulse_joints,
            narrow_phase,
            ..
        } = &self.world.physics;
        let manifolds = (narrow_phase.contact_pairs()).flat_map(ContactPair::manifolds);
        let contacts: usize = manifolds
            .map(|manifold| {
                let solved = manifold.data.solver_contacts.len();
                BYTES_PER_MANIFOLD + solved * BYTES_PER_CONTACT
            })
            .sum();
        // What was read may say any length of these.
        let counted = [
            bodies.len().saturating_mul(BYTES_PER_BODY),
            colliders.len().saturating_mul(BYTES_PER_COLLIDER),
            impulse_joints
                .len()
                .saturating_mul(size_of::<ImpulseJoint>()),
        ];
        counted.into_iter().fold(contacts, usize::saturating_add)
    }
}

// What each takes beside its own size was measured with an allocator that counts.

/// With its poses, its key and its place in the islands.
const BYTES_PER_BODY: usize = size_of::<RigidBody>() + 12 * size_of::<Pose>() + 316;
/// With its leaf in the broad phase.
const BYTES_PER_COLLIDER: usize = size_of::<Collider>() + 500;
/// With its pair, of which most have one.
const BYTES_PER_MANIFOLD: usize = size_of::<ContactManifold>() + size_of::<ContactPair>() + 100;
/// As the solver has it.
const BYTES_PER_CONTACT: usize = 4 * size_of::<SolverContact>();
