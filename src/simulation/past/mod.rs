//! The past: the state before each of the last steps, its events, and the poses.

// The poses of earlier ticks.
mod poses;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::OnceLock;

use crate::physics::{Physics, StepRecord};
use crate::pose::{Pairs, StepPaths};

/// Why a simulation cannot go back in time. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// The state of that tick is not kept.
    #[error("the state of tick {tick} is not kept: {}", advice(.kept))]
    NotKept {
        /// The requested tick.
        tick: u64,
        /// See [`Simulation::rewindable`](crate::Simulation::rewindable).
        kept: Range<u64>,
    },
    /// A frame is open: end it first.
    #[error("a frame is open: call `end_frame` first")]
    WithinFrame,
}

/// Returns the cure for the error, which depends on the ticks whose states are kept.
fn advice(kept: &Range<u64>) -> String {
    if kept.is_empty() {
        return "no states are kept; call `keep` before the run".into();
    }
    format!(
        "choose a tick in {kept:?} (with an interval, only every n-th is kept), or `keep` more ticks before the next run"
    )
}

/// One entry per step, oldest first and without a gap. After a rewind, entries may lie ahead of the simulation, until
/// the next step replaces them.
#[derive(Default)]
pub(super) struct Past {
    limits: Kept,
    entries: VecDeque<Entry>,
    /// No later rollback will go back to before this tick.
    confirmed_tick: u64,
    /// The first tick in the coordinates after a shift of the origin, if the last step that was begun has shifted it.
    shifted_from: Option<u64>,
}

/// The limits of the states and poses that a simulation [keeps](crate::Simulation::keep).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// At least how many steps a rollback or a rewind can go back: 0, none, by default.
    pub ticks: u64,
    /// Keep only the first state, and those whose tick is a multiple of this, at most `ticks`. The default is 1, and 0
    /// counts as 1.
    ///
    /// An interval divides the memory, and the time that saving adds to a step. A rollback to a tick between two states
    /// resimulates from the earlier one, so repeat in these steps what your game did the first time, and keeps the
    /// state at its own tick. [`rewind`](crate::Simulation::rewind) and [`world_at`](crate::Simulation::world_at)
    /// accept only kept ticks and the present.
    pub interval: u64,
    /// The maximum size of all kept states together, in bytes: no limit by default. The oldest are discarded first. The
    /// size is an estimate without [resources](crate::Physics::resources). A [`rewind`](crate::Simulation::rewind)
    /// keeps one more state until the next step.
    pub bytes: usize,
    /// How many of the last states' poses are kept for [`pose_at`](crate::Simulation::pose_at), whatever the limits of
    /// states: two by default and at least. Each further state costs up to 200 bytes per moving body.
    pub poses: u64,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            ticks: 0,
            interval: 1,
            bytes: usize::MAX,
            // The two that a state has of each body anyway.
            poses: 2,
        }
    }
}

/// A tick of the past, and the step that begins there.
struct Entry {
    tick: u64,
    /// The state before the step.
    snapshot: Option<Box<Snapshot>>,
    motion: StepPoses,
    /// The result of the step, or `None` before it has run.
    record: Option<StepRecord>,
}

struct Snapshot {
    state: Physics,
    bytes: OnceLock<usize>,
}

impl Snapshot {
    fn bytes(&self) -> usize {
        *self.bytes.get_or_init(|| self.state.bytes())
    }
}

impl Clone for Past {
    /// Returns an empty past with the same limits, so that a copied simulation does not copy every snapshot.
    fn clone(&self) -> Self {
        Self {
            limits: self.limits,
            ..Self::default()
        }
    }
}

/// # Limits
impl Past {
    /// Sets the limits, and discards what is beyond them. `here` is the present tick. `requested` is that of
    /// [`begin_step`](Self::begin_step).
    pub fn set_limits(&mut self, limits: Kept, here: u64, requested: Option<u64>) {
        self.limits = limits;
        if !self.keeps_poses() {
            // The call below would leave the poses of the present tick and, after a rewind, of later ones.
            let motions = self.entries.iter_mut().map(|entry| &mut entry.motion);
            motions.for_each(|motion| *motion = StepPoses::default());
        }
        self.discard_beyond_limits(here, requested.unwrap_or(here));
    }

    pub fn kept(&self) -> Kept {
        self.limits
    }

    pub fn keeps_snapshots(&self) -> bool {
        self.limits.ticks > 0
    }

    pub fn is_on(&self) -> bool {
        self.keeps_snapshots() || self.keeps_poses()
    }

    /// Returns whether a snapshot is due at this tick. In a rollback, `requested` is the tick to which the game wants
    /// to go back. A snapshot is also due at that tick, because the next rollback may begin there. If that tick is
    /// before the confirmed one, a snapshot is due only at the confirmed tick, and at the first one if none is kept.
    fn has_snapshot_due(&self, tick: u64, requested: Option<u64>) -> bool {
        let interval = self.limits.interval.clamp(1, self.limits.ticks.max(1));
        // A rollback that has taken the only snapshot may start over.
        let has_none = self.first_snapshot(0).is_none();
        let is_due = match requested {
            // Every later rollback can begin at the confirmed tick, so one snapshot is enough.
            Some(requested) if requested < self.confirmed_tick => tick == self.confirmed_tick,
            _ => tick.is_multiple_of(interval) || requested == Some(tick),
        };
        // A step that begins again replaces its entry, so the new entry needs a snapshot if the old one had one.
        self.keeps_snapshots() && (has_none || is_due || self.snapshot(tick).is_some())
    }

    /// Discards snapshots, poses and entries beyond the limits. `here` is the present tick. Snapshots from `end` on, to
    /// which a rewind or a rollback has gone back, do not count.
    fn discard_beyond_limits(&mut self, here: u64, end: u64) {
        while let Some(oldest) = self.first_snapshot(0) {
            let next = self.first_snapshot(oldest + 1);
            let next = next.unwrap_or(self.entries.len());
            // How many entries before `end` would remain without the oldest snapshot.
            let len_without = self.index_of(end).saturating_sub(next);
            // Without a limit, the size is not estimated, which takes time.
            let is_too_large =
                || self.limits.bytes < usize::MAX && self.bytes() > self.limits.bytes;
            if (len_without as u64) < self.limits.ticks && !is_too_large() {
                break;
            }
            self.entries[oldest].snapshot = None;
        }
        // Entries at the front that have neither a snapshot nor poses are not needed any more.
        let without_poses = self.discard_old_poses(here);
        let first_snapshot = self.first_snapshot(0).unwrap_or(without_poses);
        self.entries.drain(..first_snapshot.min(without_poses));
    }

    /// Records that later rollbacks do not go back to before this tick.
    pub fn confirm(&mut self, tick: u64) {
        self.confirmed_tick = self.confirmed_tick.max(tick);
    }

    /// Discards the snapshots before the one from which a rollback to the confirmed tick begins. `here` is the present
    /// tick.
    fn drop_confirmed(&mut self, here: u64) {
        if let Some(nearest) = self.nearest(self.confirmed_tick.min(here)) {
            self.drop_snapshots_before(nearest);
        }
    }

    fn drop_snapshots_before(&mut self, tick: u64) {
        for entry in self.entries.iter_mut().take_while(|it| it.tick < tick) {
            entry.snapshot = None;
        }
    }
}

/// # Snapshots
impl Past {
    /// Returns the index of the first entry with a snapshot, from the index `from` on.
    fn first_snapshot(&self, from: usize) -> Option<usize> {
        (from..self.entries.len()).find(|index| self.entries[*index].snapshot.is_some())
    }

    pub fn rewindable(&self) -> Range<u64> {
        self.oldest().map_or(0..0, |oldest| oldest..self.end())
    }

    /// Returns the tick of the oldest kept state.
    pub fn oldest(&self) -> Option<u64> {
        let oldest = self.first_snapshot(0)?;
        Some(self.entries[oldest].tick)
    }

    /// Returns the estimated size of all snapshots together, in bytes.
    pub fn bytes(&self) -> usize {
        let snapshots = self
            .entries
            .iter()
            .filter_map(|entry| entry.snapshot.as_ref());
        // A state that was read may claim any size.
        snapshots.fold(0, |sum: usize, it| sum.saturating_add(it.bytes()))
    }

    pub fn snapshot(&self, tick: u64) -> Option<&Physics> {
        let snapshot = self.entry(tick)?.snapshot.as_ref()?;
        Some(&snapshot.state)
    }

    /// Returns the tick of the last snapshot up to this tick.
    pub fn nearest(&self, tick: u64) -> Option<u64> {
        let mut entries = self.entries.iter().rev();
        let nearest = entries.find(|it| it.snapshot.is_some() && it.tick <= tick);
        nearest.map(|entry| entry.tick)
    }
}

/// # Steps
impl Past {
    pub fn clear(&mut self) {
        self.entries.clear();
        self.confirmed_tick = 0;
    }

    /// Begins the step of this tick, from this state, perhaps not for the first time. `requested` is the tick to which
    /// the game wants to go back, if the step is resimulated.
    pub fn begin_step(&mut self, tick: u64, state: &Physics, requested: Option<u64>) {
        // This step has not shifted the origin yet.
        self.shifted_from = None;
        let snapshot = self.has_snapshot_due(tick, requested).then(|| {
            let mut state = state.clone();
            // The step receives all pending forces. In the copy they wait for it, even during a pause.
            state.forces.keep_pending();
            state
        });
        self.push(state, snapshot);
        // A rollback keeps older states until it ends, because the game may go back further before then.
        if requested.is_none() && self.confirmed_tick > 0 {
            self.drop_confirmed(tick);
        }
        // A rollback may start over, even if the confirmed tick would push the snapshot for that out of the limits.
        self.discard_beyond_limits(tick, requested.unwrap_or(tick.saturating_add(1)));
    }

    /// Keeps the state from which a rewind goes back, so that the game can go forwards to it again. Nothing else is
    /// discarded.
    pub fn push_end(&mut self, state: &Physics) {
        self.push(state, Some(state.clone()));
    }

    /// Follows a rewind to this tick, which takes back a confirmation of later ones.
    pub fn rewind(&mut self, tick: u64) {
        self.confirmed_tick = self.confirmed_tick.min(tick);
    }

    /// Adds an entry for the tick of this state, in place of this and all later entries.
    fn push(&mut self, state: &Physics, snapshot: Option<Physics>) {
        let tick = state.tick();
        self.split_off(tick);
        // Entries have no gap, so earlier ones that do not lead here are discarded.
        if self.end() != tick {
            self.entries.clear();
        }
        let snapshot = snapshot.map(|state| {
            Box::new(Snapshot {
                state,
                bytes: OnceLock::new(),
            })
        });
        let pairs = self.keeps_poses().then_some(&state.pairs);
        self.entries.push_back(Entry {
            tick,
            snapshot,
            motion: StepPoses::new(pairs),
            record: None,
        });
    }

    /// Records the result of a step, for a rollback that resimulates it, and discards what is then beyond the limits,
    /// also of poses. `requested` is that of [`begin_step`](Self::begin_step).
    pub fn end_step(&mut self, record: &StepRecord, requested: Option<u64>) {
        let tick = record.step.tick;
        if self.keeps_snapshots()
            && let Some(entry) = self.entry_mut(tick)
        {
            entry.record = Some(record.clone());
        }
        let here = tick.saturating_add(1);
        self.discard_beyond_limits(here, requested.unwrap_or(here));
    }

    /// Records that another state replaces the state of this tick, whose poses were `pairs`. No earlier state leads to
    /// the new one, so no rollback goes back further.
    pub fn replace_state(&mut self, pairs: &Pairs, tick: u64) {
        // The steps of the old state from here on are discarded.
        self.split_off(tick);
        self.drop_snapshots_before(tick);
        self.confirm(tick);
        self.replace_poses(pairs, tick);
    }

    /// Takes the entries from `tick` on. Returns the snapshot of `tick`, and the results of the steps from there up to
    /// the `present`. Callers make sure that there is such a snapshot. Without one it returns `None`.
    pub fn take_steps(
        &mut self,
        tick: u64,
        present: u64,
    ) -> Option<(Physics, VecDeque<StepRecord>)> {
        let mut taken = self.split_off(tick);
        let first = taken.front_mut()?.snapshot.take()?;
        // After a rewind, entries may lie ahead of the present.
        let steps = taken.into_iter().filter(|entry| entry.tick < present);
        // Only the entry of the current step lacks a record. That step begins again.
        let steps = steps.filter_map(|entry| entry.record).collect();
        Some((first.state, steps))
    }

    /// Removes and returns the entries from `tick` on.
    fn split_off(&mut self, tick: u64) -> VecDeque<Entry> {
        self.entries.split_off(self.index_of(tick))
    }

    /// Returns the tick after the newest entry, or 0 if there is none.
    fn end(&self) -> u64 {
        let newest = self.entries.back().map(|entry| entry.tick);
        newest.map_or(0, |tick| tick.saturating_add(1))
    }

    /// Returns the index of the first entry from this tick on, or the number of entries if there is none.
    fn index_of(&self, tick: u64) -> usize {
        let first = self.entries.front().map_or(0, |entry| entry.tick);
        let index = usize::try_from(tick.saturating_sub(first)).unwrap_or(usize::MAX);
        index.min(self.entries.len())
    }

    fn entry(&self, tick: u64) -> Option<&Entry> {
        let entry = self.entries.get(self.index_of(tick));
        entry.filter(|entry| entry.tick == tick)
    }

    fn entry_mut(&mut self, tick: u64) -> Option<&mut Entry> {
        let index = self.index_of(tick);
        let entry = self.entries.get_mut(index);
        entry.filter(|entry| entry.tick == tick)
    }
}

/// The poses at a tick.
#[derive(Clone, Default)]
pub(super) struct StepPoses {
    /// The paths in the step that led to the tick, or `None` if they are unknown.
    pub paths: Option<StepPaths>,
    /// The poses at the next tick before another state replaced them or the origin was shifted. Earlier ticks lead to
    /// these.
    pub replaced: Option<Box<Pairs>>,
}

impl StepPoses {
    /// Returns the paths of the step that led to these poses, or no paths if no poses are kept.
    fn new(pairs: Option<&Pairs>) -> Self {
        Self {
            paths: pairs.map(Pairs::step_paths),
            ..Self::default()
        }
    }

    /// Returns the paths, unless the poses of the next tick were replaced and do not continue them.
    pub fn continued_paths(&mut self) -> Option<&mut StepPaths> {
        let is_replaced = self.replaced.is_some();
        self.paths.as_mut().filter(|_| !is_replaced)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_is_off_without_limits_for_states_or_poses() {
        let mut past = Past::default();
        assert!(!past.is_on());
        let keep = |past: &mut Past, ticks, bytes, poses| {
            let kept = Kept {
                ticks,
                bytes,
                poses,
                ..Kept::default()
            };
            past.set_limits(kept, 0, None);
        };
        keep(&mut past, 1, 0, 0);
        assert!(past.is_on());
        keep(&mut past, 0, usize::MAX, 2);
        assert!(!past.is_on());
        keep(&mut past, 0, 0, 3);
        assert!(past.is_on());
    }
}
