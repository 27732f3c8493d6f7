//! Everything that one step passes to the next, as a value.

// The methods of `Physics` have the same order in its documentation as these modules: what most games need is first.

// New states.
mod construction;
// Bodies and their keys.
mod bodies;
// The colliders of a new body.
mod colliders;
// Teleports, targets and shifts of the origin.
mod placing;
// Forces for one step, lasting forces, and gravity.
mod forces;
// The current step, and the events of the last one.
mod readings;
// The smoothing of single bodies.
mod smoothing;
// Detects the game's changes through Rapier's types, for the display.
mod edits;
// The game's values in the state.
mod resources;
// The parts of a state that exist only while a simulation runs it.
mod running;
// A step, from its beginning to its end, and the size of a snapshot.
mod steps;
// The state as bytes.
#[cfg(feature = "serde")]
mod saving;
// A hash of the state.
#[cfg(feature = "checksum")]
mod checksum;

#[cfg(feature = "serde")]
pub use saving::fingerprint_of;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::events::{EventLog, SharedEvents};
use crate::forces::Forces;
use crate::key::BodyKey;
use crate::pose::{Origin, Pairs, SmoothingSettings};
use crate::step::{ContactParts, Targets, World};
use crate::time::{ExactTime, Rate};
use rapier::math::Vector;

pub use colliders::Colliders;
pub use forces::VectorError;
pub use resources::Resources;
pub(crate) use running::{OriginShifts, Running, Stage, StepAtHand};
pub(crate) use steps::StepRecord;

/// The state of a simulation: Rapier's world, and everything else that one step passes to the next.
///
/// A [`Simulation`](crate::Simulation) holds it in its field `physics`, and hooks get it for each step.
///
/// # Choosing access
/// | to | use | cost |
/// | --- | --- | --- |
/// | read one body | [`body`](Self::body) | none |
/// | change one body | [`body_mut`](Self::body_mut) | a check of the body |
/// | teleport or move one body | [Placing](Self#placing) | the same |
/// | move the origin of the world | [`shift_origin`](Self::shift_origin) | a check of every body |
/// | queries, debug-render | [`rapier`](Self::rapier) | none |
/// | character controllers, vehicles | [`query_pipeline_mut`](Self::query_pipeline_mut) | none |
/// | gravity | [`set_gravity`](Self::set_gravity) | a read of every body |
/// | joints, parameters | [`rapier_mut_except_bodies`](Self::rapier_mut_except_bodies) | a read of the links of all multibodies |
/// | wake all bodies | [`wake_up_all`](Self::wake_up_all) | a read of every body |
/// | several bodies at once | [`rapier_mut_for`](Self::rapier_mut_for) | a check of each listed body |
/// | anything else in Rapier | [`rapier_mut`](Self::rapier_mut) | a check of every body |
///
/// # The state as a value
/// A clone is a snapshot. If you assign it, the simulation continues from it bit for bit.
///
/// A snapshot holds Rapier's world, tick and time, all that you have set through these methods except a pause and
/// `show_from`, the events of the last step, and the [`Resources`](crate::Resources). It lacks Rapier's quarantine list
/// and the counters of Rapier's pipeline. A clone in the hook before a step has no current step, and lacks the forces
/// that were added for it.
///
/// An assignment changes tick and time, but no setting. It clears the [past](crate::Simulation#back-in-time) and drops
/// steps to be resimulated. The next frame's [`moved`](crate::Simulation::moved) and
/// [`removed`](crate::Simulation::removed) list the differences. Keys of bodies that were inserted after the snapshot
/// are dead, until the same steps create them again. Taking the value out with `std::mem::take` and putting it back has
/// no effect. A value that a hook has taken out still has the hook's step: forces that you add to it are discarded with
/// that step.
///
/// An assignment in a hook aborts the current step, and the other due steps of the frame continue with the new value.
pub struct Physics {
    tick: u64,
    time: ExactTime,
    rate: Rate,
    pub(crate) world: World,
    pub(crate) targets: Targets,
    pub(crate) forces: Forces,
    event_log: EventLog,
    events: SharedEvents,
    pub(crate) pairs: Pairs,
    pub(crate) origin: Origin,
    pub(crate) smoothing: Arc<SmoothingSettings>,
    edits: Edits,
    pub(crate) resources: Resources,
    /// Whether Rapier has panicked in a step, so that its world is in an unknown state.
    pub(crate) is_poisoned: bool,
    pub(crate) running: Running,
}

/// Changes that the game may have made since edits were last detected.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Edits {
    /// Bodies that may have been changed or removed.
    pub to_check: Vec<BodyKey>,
    /// Colliders that may have been changed since the last step, and what their contacts depended on before. It does
    /// not matter how often edits are detected until the next step.
    #[cfg_attr(feature = "serde", serde(with = "crate::slots::map_as_list"))]
    pub colliders_before: BTreeMap<(u32, u32), ContactParts>,
    /// Bodies that may have been changed since the last step. It does not matter how often edits are detected until the
    /// next step.
    pub edited_since_step: Vec<BodyKey>,
    /// The centres of mass of bodies that the game may have changed through Rapier's world since the last step, before
    /// that.
    #[cfg_attr(feature = "serde", serde(with = "crate::slots::map_as_list"))]
    pub centers_before: BTreeMap<BodyKey, Vector>,
    /// While a step runs, the centres of mass of `edited_since_step` before it.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub centers: Vec<Vector>,
    /// Whether any body may be changed or removed.
    pub check_all: bool,
    /// Whether joints, or anything else that belongs to no body, may have been changed since the last step.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub may_joints_change: bool,
    /// Sleeping bodies that the next step wakes.
    pub woken: Vec<BodyKey>,
    /// Whether any body at rest may move in the next step.
    pub any_may_wake: bool,
}

impl Physics {
    /// Returns a copy for a copy of the simulation, in the same step.
    pub(crate) fn clone_in_step(&self) -> Self {
        self.clone_with(self.running.copy())
    }

    /// Returns a copy of the state, with `running` as the parts that exist only while a simulation runs it.
    fn clone_with(&self, running: Running) -> Self {
        Self {
            forces: self.forces.clone(),
            world: self.world.clone(),
            targets: self.targets.clone(),
            event_log: self.event_log.clone(),
            events: self.events.clone(),
            // If the copy shared these lists, the next step of the original would have to copy them.
            pairs: self.pairs.unshared(),
            smoothing: Arc::clone(&self.smoothing),
            edits: self.edits.clone(),
            resources: self.resources.clone(),
            running,
            ..*self
        }
    }
}

impl Default for Physics {
    /// Returns the same as [`Physics::new`].
    fn default() -> Self {
        Self::new()
    }
}

impl Clone for Physics {
    /// Returns a [snapshot](Physics#the-state-as-a-value).
    ///
    /// # Panics
    /// Within [`resource_scope`](Physics::resource_scope).
    fn clone(&self) -> Self {
        let mut copy = self.clone_with(Running::default());
        if self.current_step().is_some() {
            // The copy has no current step. Targets of that step wait for a later one, and bodies that the hook has
            // inserted exist already.
            copy.targets.abort_step();
            copy.world.keys.date_back_insertions(copy.tick);
        }
        copy
    }
}

/// # In a loop
impl Physics {
    pub(crate) fn exact_time(&self) -> ExactTime {
        self.time
    }

    /// Returns the first tick whose poses change with an edit at this moment.
    pub(crate) fn first_tick_after_edit(&self) -> u64 {
        (self.tick).saturating_add(self.current_step().is_some().into())
    }

    /// Sets the rate of the next step, for previews. In a step it is the rate of that step.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Returns the length of the last step, in seconds, or of the next one before the first.
    pub(crate) fn dt(&self) -> f32 {
        if self.has_stepped() {
            self.time.dt()
        } else {
            self.rate.dt()
        }
    }

    /// Returns the same as [`dt`](Self::dt), in `f64`.
    pub(crate) fn dt_f64(&self) -> f64 {
        if self.has_stepped() {
            self.time.dt_f64()
        } else {
            self.rate.dt_f64()
        }
    }

    fn has_stepped(&self) -> bool {
        self.time.dt() > 0.0
    }

    /// Gives the state another tick. All bodies count as inserted at this tick, and no teleport as later than it,
    /// because no rollback can go back to before the renumbering.
    pub(crate) fn renumber(&mut self, tick: u64) {
        self.tick = tick;
        self.pairs.set_tick(tick);
        self.world.keys.set_tick(tick);
        self.running.changes.forget_ticks();
    }
}

/// # The thread pool
#[cfg(feature = "parallel")]
impl Physics {
    pub(crate) fn pool(&self) -> Option<Arc<rayon::ThreadPool>> {
        self.world.rapier.thread_pool()
    }

    pub(crate) fn set_pool_if_none(&mut self, pool: Option<Arc<rayon::ThreadPool>>) {
        if pool.is_some() && self.pool().is_none() {
            self.world.rapier.set_thread_pool(pool);
        }
    }
}

impl fmt::Debug for Physics {
    /// Writes sizes, not contents.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Physics")
            .field("tick", &self.tick)
            .field("time", &self.time())
            .field("bodies", &self.world.rapier.bodies.len())
            .field("colliders", &self.world.rapier.colliders.len())
            .finish_non_exhaustive()
    }
}
