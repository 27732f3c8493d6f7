//! Begins and runs a step, and runs several steps at once for a preview.

use std::sync::Arc;

use crate::events::{Event, SharedEvents};
use crate::key::Id;
use crate::time::{ExactTime, Step};
use rapier::dynamics::{ImpulseJoint, Multibody, MultibodyLink, RigidBody, SoftBody};
use rapier::geometry::{Collider, ContactManifold, ContactPair, SolverContact};
use rapier::math::{Pose, Real, SPATIAL_DIM};
use rapier::pipeline::{PhysicsHooks, PhysicsWorld};

use super::{Physics, Running, Stage, StepAtHand};

/// The result of a step.
#[derive(Clone)]
pub(crate) struct StepRecord {
    pub step: Step,
    pub end: ExactTime,
    pub events: SharedEvents,
    /// The number of values of force generators that were ignored because they were not finite.
    pub rejected_forces: u64,
}

/// # A step
impl Physics {
    /// Begins a step, which ends at the exact time `end`: applies the targets of kinematic bodies.
    pub(crate) fn begin_step(&mut self, step: Step, end: ExactTime) {
        self.targets.apply(&mut self.world, step);
        self.rate = end.rate();
        self.running.stage = Stage::Before(StepAtHand { step, end });
    }

    /// Runs the current step, if there is one.
    pub(crate) fn run_step(&mut self, hooks: &dyn PhysicsHooks) -> Option<StepRecord> {
        let Stage::Before(at_hand) = self.running.stage else {
            return None;
        };
        let StepAtHand { step, end } = at_hand;
        self.detect_edits();
        let mut edited = std::mem::take(&mut self.edits.edited_since_step);
        // `apply_forces` searches this list.
        edited.sort_unstable();
        // The centres are noted before `apply_forces`, which recomputes changed masses and so may move the centres.
        if !edited.is_empty() {
            self.note_centers(&edited);
        }
        let rejected_forces = self.apply_forces(&edited);
        let may_wake = if self.world.is_translated() {
            self.may_wake_otherwise(&edited)
        } else {
            Vec::new()
        };
        {
            // Poses are read after the forces, because a Hermite curve begins with the velocity after impulses.
            span!("take_poses");
            if self.needs_preparation() {
                self.prepare_for_edits();
            }
            (self.pairs).begin_step(&self.world, step.tick, step.dt, &self.smoothing);
        }
        // If Rapier panics in `world.step`, the state stays poisoned, without a current step.
        self.running.stage = Stage::Idle;
        self.is_poisoned = true;
        if Arc::get_mut(&mut self.events).is_none() {
            // A frame has yet to display the events of the last step in this list, so this step takes another one.
            self.events = self.running.changes.events.empty_list();
        }
        let events = Arc::make_mut(&mut self.events);
        events.clear();
        (self.world).step(
            step,
            &may_wake,
            hooks,
            &mut self.event_log,
            events,
            self.origin,
        );
        self.running.stage = Stage::After(at_hand);
        self.is_poisoned = false;
        self.forces.end_step(&mut self.world.rapier);
        self.targets.end_step(&mut self.world, step);
        (self.tick, self.time) = (step.tick.saturating_add(1), end);
        if !edited.is_empty() {
            self.renew_contacts_where_center_moved(&edited);
        }
        span!("take_poses");
        let sleep =
            (self.pairs).end_step(&self.world, self.tick, step.dt, &self.smoothing, &edited);
        // The list keeps its memory.
        edited.clear();
        self.edits.edited_since_step = edited;
        if !sleep.is_empty() {
            // Sleep changes come last in the order of events.
            let change = |(body, is_asleep)| Event::of_sleep(step.tick, body, is_asleep);
            Arc::make_mut(&mut self.events).extend(sleep.into_iter().map(change));
        }
        Some(StepRecord {
            step,
            end,
            events: Arc::clone(&self.events),
            rejected_forces,
        })
    }
}

/// # Previews
impl Physics {
    /// Returns the state after `steps` more steps.
    ///
    /// The steps run on a copy, at the rate of the next step as of the last frame or, in a hook, of its step. At this
    /// rate, they equal those of the loop bit for bit. `before_step` is called before each of them, with real times of
    /// zero: pass your game's hook, with a clone of an input queue, because a drained sample is gone. Rapier's own
    /// hooks are not called. In the hook before a step, the copy lacks the forces that the hook has added. A body on its
    /// way to a target may differ by rounding after a shift of the origin, a portal or a new translation there, and
    /// follows the target even if the hook has set its next position.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # let mut physics = evenstep::Physics::new();
    /// # let ball = physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let mut path = Vec::new();
    /// let landed = physics.preview(30, |physics, step| {
    ///     if step.tick == 0 {
    ///         physics.apply_impulse(ball, Vector::Y).unwrap(); // the throw
    ///     }
    ///     path.push(physics.body(ball).unwrap().translation());
    /// });
    /// assert!(path[1].y > 0.0 && landed.tick() == 30 && physics.tick() == 0);
    /// ```
    ///
    /// # Panics
    /// If Rapier panics, or panicked in an earlier step, and within [`resource_scope`](Self::resource_scope).
    #[must_use]
    pub fn preview(&self, steps: u64, mut before_step: impl FnMut(&mut Self, Step)) -> Self {
        // In a hook, the copy begins in the hook's step: `detect_edits` resumes the targets of that step for bodies
        // that the hook has moved.
        let mut copy = self.clone_with(Running {
            stage: self.running.stage,
            ..Running::default()
        });
        copy.detect_edits();
        for _ in 0..steps {
            // This aborts or ends any step: the hook's, the previous one, or that of a value which `before_step` has
            // assigned.
            copy.leave_loop();
            copy.assert_sound();
            let start = copy.time;
            let end = start.after_step(copy.rate);
            let step = Step::of_preview(copy.tick, [start, end]);
            copy.begin_step(step, end);
            // An assignment in the hook aborts the step, as in the loop. The new state may be in an equal step, but lacks
            // this number.
            let run_number = Some(Id::default().number());
            copy.running.run_number = run_number;
            before_step(&mut copy, step);
            if copy.running.run_number == run_number {
                copy.run_step(&());
            }
        }
        copy.assert_sound();
        // As at the end of a frame: bodies at rest cost nothing in later steps of the copy.
        copy.remove_resting_movers();
        // With zero `steps`, the copy is still in the step of the hook.
        copy.abort_step();
        // Like a clone, the result belongs to no simulation, and has no changes to display.
        copy.running = Running::default();
        copy
    }

    /// Panics if Rapier has panicked in a step.
    fn assert_sound(&self) {
        assert!(
            !self.is_poisoned,
            "Rapier panicked in the step of tick {}: drop this value",
            self.tick
        );
    }
}

impl Physics {
    /// Estimates the memory of a snapshot, in bytes, from the numbers of Rapier's bodies, colliders, joints, contacts and
    /// particles.
    pub(crate) fn bytes(&self) -> usize {
        let PhysicsWorld {
            bodies,
            colliders,
            impulse_joints,
            multibody_joints,
            soft_bodies,
            narrow_phase,
            ..
        } = &self.world.rapier;
        let manifolds = (narrow_phase.contact_pairs()).flat_map(ContactPair::manifolds);
        let contacts: usize = manifolds
            .map(|manifold| {
                let solved = manifold.data.solver_contacts.len();
                BYTES_PER_MANIFOLD + solved * BYTES_PER_CONTACT
            })
            .sum();
        // A state from forged bytes may claim any number of bodies, so these sizes must not overflow. Contacts are
        // counted one by one.
        let counted = [
            bodies.len().saturating_mul(BYTES_PER_BODY),
            colliders.len().saturating_mul(BYTES_PER_COLLIDER),
            impulse_joints
                .len()
                .saturating_mul(size_of::<ImpulseJoint>()),
        ];
        let multibodies = multibody_joints.multibodies().map(bytes_of_multibody);
        let soft = soft_bodies.iter().map(|(_, it)| bytes_of_soft_body(it));
        let counted = counted.into_iter().chain(multibodies).chain(soft);
        counted.fold(contacts, usize::saturating_add)
    }
}

/// Returns the size of a multibody: its links, each with a matrix of its motion, and six matrices of masses.
fn bytes_of_multibody(multibody: &Multibody) -> usize {
    let (links, freedoms) = (multibody.links().count(), multibody.ndofs());
    let per_freedom = links.saturating_mul(SPATIAL_DIM);
    let numbers = freedoms.saturating_mul(per_freedom.saturating_add(freedoms.saturating_mul(6)));
    let of_links = links.saturating_mul(2 * size_of::<MultibodyLink>());
    of_links.saturating_add(numbers.saturating_mul(size_of::<Real>()))
}

/// Returns the size of a soft body. What belongs to its boundary takes about twice as much as its particles.
fn bytes_of_soft_body(body: &SoftBody) -> usize {
    3 * size_of_val(body.particles()) + size_of_val(body.edges()) + size_of_val(body.cells())
}

// The extra bytes beyond the size of each type were measured with a counting allocator.

/// Includes the body's poses, its key and its entry in the islands.
const BYTES_PER_BODY: usize = size_of::<RigidBody>() + 12 * size_of::<Pose>() + 316;
/// Includes the collider's leaf in the broad phase.
const BYTES_PER_COLLIDER: usize = size_of::<Collider>() + 500;
/// Includes the contact pair, because most pairs have one manifold.
const BYTES_PER_MANIFOLD: usize = size_of::<ContactManifold>() + size_of::<ContactPair>() + 100;
/// Includes the solver's copies of the contact.
const BYTES_PER_CONTACT: usize = 4 * size_of::<SolverContact>();
