//! The present that a rollback or a correction has replaced, and how the picture continues from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::key::BodyKey;
use crate::physics::Physics;
use crate::pose::{Change, Changes, Origin, Pairs, Scope, Smoothing, SmoothingSettings};
use crate::step::{Insertion, World};

use super::simulation::Simulation;

/// The present that a correction or a rollback has replaced: the first rollback, if others began before it ended.
#[derive(Clone)]
pub(super) struct OldPresent {
    pub pairs: Pairs,
    pub origin: Origin,
    pub changes: Changes,
    /// The settings of single bodies.
    pub smoothing: Arc<SmoothingSettings>,
    /// The bodies that were inserted in steps that a rollback can resimulate.
    insertions: Vec<(BodyKey, Insertion)>,
}

impl OldPresent {
    /// Takes the parts of the present that the rollback replaces. `oldest` is the tick of the oldest kept state, after
    /// which resimulated steps may insert other bodies.
    pub fn new(mut physics: Physics, oldest: u64) -> Self {
        // The pairs and the changes then have what the game has edited since the last step.
        physics.detect_edits();
        Self {
            insertions: physics.world.insertions_after(oldest).collect(),
            pairs: physics.pairs,
            origin: physics.origin,
            changes: physics.running.changes,
            smoothing: physics.smoothing,
        }
    }

    /// Returns whether the present had this body, and not another one with its key.
    pub fn has(&self, key: BodyKey, world: &World) -> bool {
        let insertion = self.insertions.iter().find(|(it, _)| *it == key);
        self.pairs.get(key).is_some()
            && insertion.is_none_or(|(_, it)| world.insertion(key) == Some(*it))
    }

    /// Returns the bodies that were inserted after the step `first` and that `world` lacks. Their keys may belong to
    /// other bodies there, because the resimulated steps inserted bodies in another order.
    fn lost_insertions(&self, world: &World, first: u64) -> BTreeMap<BodyKey, Insertion> {
        let later = self.insertions.iter().filter(|(_, it)| it.tick > first);
        let lost = later.filter(|(key, it)| world.insertion(*key) != Some(*it));
        lost.copied().collect()
    }

    /// Takes the changes of single bodies that the next picture must not apply as they are, and returns how it displays
    /// these bodies instead. The new run, the resimulated steps from `first` on, lacks the bodies in `lost`.
    fn take_exceptions(
        &mut self,
        physics: &Physics,
        lost: &BTreeMap<BodyKey, Insertion>,
        first: u64,
    ) -> Exceptions {
        let world = &physics.world;
        let new_changes = physics.running.changes.list.iter();
        let teleported_again: BTreeSet<_> = (new_changes.filter_map(Change::teleport))
            .map(|(key, _)| key)
            .collect();
        // The old present lacks these bodies: the new run has not removed them, or has inserted them. No picture has
        // displayed the latter, so they get no error.
        let not_removed =
            (world.keys.iter().map(|(key, _)| key)).filter(|key| self.pairs.get(*key).is_none());
        let mut exceptions = Exceptions {
            without_error: lost.keys().copied().collect(),
            from_displayed: not_removed.collect(),
            displayed_smoothing: BTreeMap::new(),
        };
        let Exceptions {
            without_error,
            from_displayed,
            displayed_smoothing,
        } = &mut exceptions;
        // The changes are in the order in which they were made.
        self.changes.list.retain(|change| match *change {
            // `differences` adds these again where a body's smoothing differs from the one that was displayed last.
            Change::Retimed(key, before) => {
                displayed_smoothing.entry(key).or_insert(before);
                false
            }
            // The state after the step `first` is the first one that the new run has computed. A teleport to it or to a
            // later one has happened only in the first run.
            Change::Teleported(key, tick) | Change::Transformed(key, _, _, tick)
                if tick > first
                    && !teleported_again.contains(&key)
                    && !without_error.contains(&key) =>
            {
                from_displayed.insert(key);
                false
            }
            // An earlier rollback has taken back the insertion of this body, and this one has inserted it again.
            Change::KeyReused(key, Some(it)) if world.insertion(key) == Some(it) => false,
            Change::Teleported(key, _) | Change::KeyReused(key, _) => {
                without_error.insert(key);
                true
            }
            // A portal turns the displayed error, and the difference adds to it. The game's requests remain.
            _ => true,
        });
        exceptions
    }
}

/// The bodies that do not simply get the difference between the old and the new present as a visual error.
struct Exceptions {
    /// Bodies that jump: the game has teleported them in both runs, or their key belonged to another body.
    without_error: BTreeSet<BodyKey>,
    /// Bodies whose teleport or removal has not happened in the new run. Their error begins where they are displayed,
    /// because no picture has displayed them where the old present had them.
    from_displayed: BTreeSet<BodyKey>,
    /// The smoothing with which the last picture has displayed bodies whose smoothing was changed since.
    displayed_smoothing: BTreeMap<BodyKey, Smoothing>,
}

/// # The picture after a rollback or a correction
impl Simulation {
    /// Lets the next picture display the present state, which has replaced `old_present`. Bodies are displayed at first
    /// where the old present had them: the difference becomes their visual error, and decays.
    ///
    /// A body gets no error if the game has teleported it in both runs, or if its key belonged to another body. That
    /// can happen to keys of bodies that were inserted after the step `first`, from which on steps were resimulated. If
    /// these steps have taken back a teleport or a removal, the error begins where the body is displayed.
    pub(super) fn correct_picture(&mut self, mut old_present: OldPresent, first: u64) {
        self.physics.detect_edits();
        let lost = old_present.lost_insertions(&self.physics.world, first);
        let exceptions = old_present.take_exceptions(&self.physics, &lost, first);
        let differences = self.physics.pairs.differences(
            &old_present.pairs,
            &exceptions.displayed_smoothing,
            self.alphas_to_compare(),
            self.physics.origin.offset_from(&old_present.origin),
        );
        let Exceptions {
            without_error,
            from_displayed,
            ..
        } = &exceptions;
        let is_exception =
            |key: &BodyKey| without_error.contains(key) || from_displayed.contains(key);
        let differences = differences.filter(|(key, _)| !is_exception(key));
        let differences: Vec<_> = differences.flat_map(|(_, changes)| changes).collect();
        let from_displayed = from_displayed.difference(without_error);
        let from_displayed = from_displayed.map(|key| Change::TakenBack(*key));
        // If the next picture would have jumped to the old present, no picture has displayed a state to continue from.
        let jumps = old_present.changes.scope == Scope::Unrelated;
        let errors = differences
            .into_iter()
            .chain(from_displayed)
            .filter(|_| !jumps);
        let reused = (lost.into_iter()).map(|(key, it)| Change::KeyReused(key, Some(it)));
        let changes = reused.chain(errors);
        // The picture compares all bodies, because any may have changed.
        (self.physics).continue_changes(old_present.changes, Scope::All, changes);
    }

    /// Returns two alphas, between which the next picture compares an old and a new state of this tick. They are equal
    /// if its alpha is known, because the last picture displayed this step. Another picture, or a view on another
    /// thread, may have any alpha.
    fn alphas_to_compare(&self) -> [f32; 2] {
        let has_same_tick = self.frame.tick == self.physics.tick();
        match self.screen.alpha() {
            Some(alpha) if has_same_tick => [alpha; 2],
            // At 1, `Extrapolate` would display the state alone, and not the end of the next step.
            _ => [0.0, 1.0_f32.next_down()],
        }
    }
}
