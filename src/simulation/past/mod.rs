//! The past: the state before each of the last steps, its events, and the poses.

// The poses of earlier ticks.
mod poses;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::OnceLock;

use crate::events::{Events, SharedEvents};
use crate::key::BodyKey;
use crate::physics::Physics;
use crate::pose::{Pair, Pairs};
use crate::time::{ExactTime, Step};

/// Why a simulation cannot go back in time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// The state of that tick is not kept, or no longer kept.
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

fn advice(kept: &Range<u64>) -> String {
    if kept.is_empty() {
        return "no states are kept; call `keep` before the run".into();
    }
    format!(
        "choose a tick in {kept:?} (with an interval, only every n-th is kept), or `keep` more ticks before the next run"
    )
}

/// One entry per step, oldest first and without a gap, as far back as the limits allow.
///
/// Entries may lie ahead of a simulation that went back in time. The next step replaces them.
#[derive(Default)]
pub(super) struct Past {
    kept: Kept,
    entries: VecDeque<Entry>,
    /// Whether no step leads to the next state: its snapshot is then kept at any tick.
    is_detached: bool,
    /// No rollback will go back to before this tick, except to take account of inputs that are known now.
    confirmed: u64,
    /// The first tick after a shift of the origin in the last step that was begun.
    shifted: Option<u64>,
}

/// The limits of the states and poses that a simulation keeps, for [`Simulation::keep`](crate::Simulation::keep). The
/// default keeps nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// How many steps a rollback or a rewind can go back: 0, none, by default. The state before each of these steps is
    /// kept.
    pub ticks: u64,
    /// Keep only states whose tick is a multiple of this. The default is 1, and 0 counts as 1. It is at most `ticks`.
    ///
    /// It reduces the memory, and the time that saving adds to a step, by that factor. A rollback to a tick between two
    /// states goes back to the earlier state. The steps from there on are resimulated too, so repeat in them what your
    /// game did the first time. It also keeps the state at its own tick, where the next rollback may begin. [`rewind`](crate::Simulation::rewind) and [`world_at`](crate::Simulation::world_at)
    /// only accept the ticks of kept states.
    pub interval: u64,
    /// The maximum size of all kept states together: no limit by default. The oldest are discarded first. The size of a
    /// state is estimated from the sizes of Rapier's sets. The heap memory of
    /// [resources](crate::Physics::resources) does not count.
    pub bytes: usize,
    /// How many of the last states' poses are kept for [`pose_at`](crate::Simulation::pose_at). The default and the
    /// minimum are two.
    ///
    /// More than two states cost 180 bytes per state of a moving body. Each moving body is then also read in every
    /// step, not just in the last one of a frame. The limits of kept states do not shorten this history.
    pub poses: u64,
}

impl Default for Kept {
    fn default() -> Self {
        Self {
            ticks: 0,
            interval: 1,
            bytes: usize::MAX,
            poses: 2,
        }
    }
}

/// A tick, and the step that ran from there.
struct Entry {
    tick: u64,
    snapshot: Option<Box<Snapshot>>,
    motion: Motion,
    /// `None` for the state that a rewind has left.
    record: Option<Record>,
}

/// The state before a step.
struct Snapshot {
    state: Physics,
    /// Whether no step led to it.
    is_detached: bool,
    /// Its size, once somebody has asked for it.
    bytes: OnceLock<usize>,
}

impl Snapshot {
    fn bytes(&self) -> usize {
        *self.bytes.get_or_init(|| self.state.bytes())
    }
}

/// A step as it ran.
#[derive(Clone)]
pub(super) struct Record {
    pub step: Step,
    /// The simulated time at its end.
    pub end: ExactTime,
    /// The events, while snapshots are kept.
    pub events: SharedEvents,
}

/// A copy has the same limits and is empty.
impl Clone for Past {
    fn clone(&self) -> Self {
        Self {
            kept: self.kept,
            ..Self::default()
        }
    }
}

/// # Limits
impl Past {
    /// Keeps this from now on. The present tick is `here`.
    pub fn keep(&mut self, kept: Kept, here: u64) {
        self.kept = kept;
        if !self.keeps_poses() {
            let motions = self.entries.iter_mut().map(|entry| &mut entry.motion);
            motions.for_each(|motion| *motion = Motion::default());
        }
        self.cut(here);
    }

    pub fn kept(&self) -> Kept {
        self.kept
    }

    pub fn keeps_snapshots(&self) -> bool {
        self.kept.ticks > 0
    }

    pub fn is_on(&self) -> bool {
        self.keeps_snapshots() || self.keeps_poses()
    }

    /// Returns whether the poses of this tick will be needed.
    pub fn needs_poses(&self, tick: u64, requested: Option<u64>) -> bool {
        self.keeps_poses() || self.has_snapshot_due(tick, requested)
    }

    /// Returns whether a snapshot is due at this tick. The interval is at most the limit in ticks.
    ///
    /// While steps are resimulated after a rollback to the `requested` tick, one is also due there, because the next
    /// rollback probably goes to that tick or to a later one. If the game has confirmed a later tick, only that one is
    /// due.
    fn has_snapshot_due(&self, tick: u64, requested: Option<u64>) -> bool {
        let interval = self.kept.interval.clamp(1, self.kept.ticks.max(1));
        let is_due = match requested {
            Some(requested) if requested < self.confirmed => tick == self.confirmed,
            _ => tick.is_multiple_of(interval) || requested == Some(tick),
        };
        self.keeps_snapshots() && is_due
    }

    /// Discards the oldest snapshots and poses that the limits do not allow at tick `here`, and steps without either.
    fn cut(&mut self, here: u64) {
        while let Some(oldest) = self.first_snapshot(0) {
            let next = self.first_snapshot(oldest + 1);
            let left = self.entries.len() - next.unwrap_or(self.entries.len());
            let is_too_large = || self.kept.bytes < usize::MAX && self.bytes() > self.kept.bytes;
            if (left as u64) < self.kept.ticks && !is_too_large() {
                break;
            }
            self.entries[oldest].snapshot = None;
        }
        let old = self.cut_poses(here);
        let unused = self.first_snapshot(0).unwrap_or(old).min(old);
        self.entries.drain(..unused);
    }

    /// Records that no rollback will go back to before this tick, except to take account of inputs that are known now.
    pub fn confirm(&mut self, tick: u64) {
        self.confirmed = self.confirmed.max(tick);
    }

    /// Discards all snapshots before the last one from which a rollback to the confirmed tick can begin.
    fn drop_confirmed(&mut self, here: u64) {
        if let Some(nearest) = self.nearest(self.confirmed.min(here)) {
            for entry in self.entries.iter_mut().take_while(|it| it.tick < nearest) {
                entry.snapshot = None;
            }
        }
    }
}

/// # Snapshots
impl Past {
    /// Returns the index of the first entry with a snapshot, from index `from` on.
    fn first_snapshot(&self, from: usize) -> Option<usize> {
        (from..self.entries.len()).find(|place| self.entries[*place].snapshot.is_some())
    }

    /// Returns the ticks from the oldest snapshot on.
    pub fn rewindable(&self) -> Range<u64> {
        let oldest = self.first_snapshot(0);
        oldest.map_or(0..0, |place| self.entries[place].tick..self.end())
    }

    /// Returns the estimated size of all snapshots.
    pub fn bytes(&self) -> usize {
        let snapshots = self
            .entries
            .iter()
            .filter_map(|entry| entry.snapshot.as_ref());
        // A state that was read may claim any size.
        snapshots.fold(0, |sum: usize, it| sum.saturating_add(it.bytes()))
    }

    /// Returns the snapshot of that tick.
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
        self.confirmed = 0;
    }

    /// Begins a step. The game may have begun it before and not finished it. After a rollback it went back to the
    /// `requested` tick.
    pub fn begin_step(
        &mut self,
        step: Step,
        end: ExactTime,
        state: &Physics,
        requested: Option<u64>,
    ) {
        let tick = step.tick;
        self.shifted = None;
        let is_due = self.is_detached
            || self.first_snapshot(0).is_none()
            || self.snapshot(tick).is_some()
            || self.has_snapshot_due(tick, requested);
        let record = Record {
            step,
            end,
            events: SharedEvents::default(),
        };
        self.push(state, is_due && self.keeps_snapshots(), Some(record));
        if requested.is_none() && self.confirmed > 0 {
            self.drop_confirmed(tick);
        }
        self.cut(tick);
    }

    /// Adds the state that a rewind leaves, so that you can go forwards to it again.
    ///
    /// The limits do not apply until the next step, so this entry displaces no other.
    pub fn push_end(&mut self, state: &Physics) {
        self.push(state, true, None);
    }

    /// Records that the simulation went back to this tick to stay there.
    pub fn rewind(&mut self, tick: u64) {
        self.confirmed = self.confirmed.min(tick);
    }

    /// Adds an entry, which replaces all entries from its tick on.
    fn push(&mut self, state: &Physics, has_snapshot: bool, record: Option<Record>) {
        let tick = state.tick();
        self.take_from(tick);
        if self.end() != tick {
            self.entries.clear();
        }
        let snapshot = has_snapshot.then(|| {
            let mut state = state.clone();
            if record.is_some() {
                // The step receives all pending forces. In the copy they wait for it, even during a pause.
                state.forces.end_frame();
            }
            Box::new(Snapshot {
                state,
                is_detached: std::mem::take(&mut self.is_detached),
                bytes: OnceLock::new(),
            })
        });
        let known = state.pairs_of_step().filter(|_| self.keeps_poses());
        self.entries.push_back(Entry {
            tick,
            snapshot,
            record,
            motion: Motion::new(known),
        });
    }

    /// Ends the step of this tick. `events` contains its events.
    pub fn end_step(&mut self, tick: u64, events: &Events) {
        if self.keeps_snapshots()
            && let Some(record) = self.entry_mut(tick).and_then(|it| it.record.as_mut())
        {
            record.events = events.shared();
        }
        self.cut(tick + 1);
    }

    /// Records that another state replaces the one of this tick, which had these poses.
    pub fn replace_state(&mut self, pairs: &Pairs, tick: u64) {
        self.take_from(tick);
        self.is_detached = true;
        self.replace_poses(pairs, tick);
    }

    /// Takes the steps from `tick` up to the `present`, to be resimulated, and the state before the first of them.
    pub fn take(&mut self, tick: u64, present: u64) -> Option<(Physics, VecDeque<Record>)> {
        let mut taken = self.take_from(tick);
        let first = taken.front_mut()?.snapshot.take()?;
        let steps = taken.into_iter().filter(|entry| entry.tick < present);
        let steps = steps.filter_map(|entry| entry.record).collect();
        self.is_detached = first.is_detached;
        Some((first.state, steps))
    }

    fn take_from(&mut self, tick: u64) -> VecDeque<Entry> {
        self.entries.split_off(self.place(tick))
    }

    /// Returns the tick after the newest entry.
    fn end(&self) -> u64 {
        let newest = self.entries.back().map(|entry| entry.tick);
        newest.map_or(0, |tick| tick.saturating_add(1))
    }

    /// Returns the index of the first entry of this tick or a later one.
    fn place(&self, tick: u64) -> usize {
        let first = self.entries.front().map_or(0, |entry| entry.tick);
        let place = usize::try_from(tick.saturating_sub(first)).unwrap_or(usize::MAX);
        place.min(self.entries.len())
    }

    fn entry(&self, tick: u64) -> Option<&Entry> {
        let entry = self.entries.get(self.place(tick));
        entry.filter(|entry| entry.tick == tick)
    }

    fn entry_mut(&mut self, tick: u64) -> Option<&mut Entry> {
        let place = self.place(tick);
        let entry = self.entries.get_mut(place);
        entry.filter(|entry| entry.tick == tick)
    }
}

/// The motion of bodies before and in a step.
///
/// A body at rest is in no list: its pose is the start of its next motion.
#[derive(Clone, Default)]
pub(super) struct Motion {
    /// The motion in the previous step, of all bodies that may have moved in it, or `None` if unknown.
    pub moved: Option<Vec<(BodyKey, Pair)>>,
    /// Poses that were replaced in this step or after it without a motion. Earlier ticks lead to these poses.
    pub replaced: Option<Box<Pairs>>,
}

impl Motion {
    /// Creates the motion that led to these pairs.
    pub fn new(pairs: Option<&Pairs>) -> Self {
        Self {
            moved: pairs.map(|pairs| pairs.moved().collect()),
            ..Self::default()
        }
    }

    /// Returns the list of moved bodies, unless this tick leads to poses that were replaced.
    pub fn unreplaced(&mut self) -> Option<&mut Vec<(BodyKey, Pair)>> {
        let is_replaced = self.replaced.is_some();
        self.moved.as_mut().filter(|_| !is_replaced)
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
            past.keep(kept, 0);
        };
        keep(&mut past, 1, 0, 0);
        assert!(past.is_on());
        keep(&mut past, 0, usize::MAX, 2);
        assert!(!past.is_on());
        keep(&mut past, 0, 0, 3);
        assert!(past.is_on());
    }
}
