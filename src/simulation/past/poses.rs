//! The poses of earlier ticks, as they were right after the step that led there.

use crate::key::BodyKey;
use crate::physics::{OriginShifts, Physics};
use crate::pose::{Pair, Pairs, StepPaths};

use super::{Past, StepPoses};

/// # Limit
impl Past {
    /// Returns the number of last ticks of which both poses of each body are kept, at least one: the present. The limit
    /// counts the pose before the first of them, too.
    pub fn ticks_with_poses(&self) -> u64 {
        self.limits.poses.saturating_sub(1).max(1)
    }

    pub(super) fn keeps_poses(&self) -> bool {
        self.ticks_with_poses() > 1
    }

    /// Discards the poses beyond the limit. `here` is the present tick. Returns the number of entries without poses.
    pub(super) fn discard_old_poses(&mut self, here: u64) -> usize {
        let old_len = self.index_of(
            here.saturating_add(1)
                .saturating_sub(self.ticks_with_poses()),
        );
        // Entries before one without poses have lost theirs in earlier calls.
        let entries = self.entries.range_mut(..old_len).rev();
        for entry in entries.take_while(|entry| entry.motion.paths.is_some()) {
            entry.motion = StepPoses::default();
        }
        old_len
    }
}

/// # Changes between and in steps
impl Past {
    fn motion_mut(&mut self, tick: u64) -> Option<&mut StepPoses> {
        self.entry_mut(tick).map(|entry| &mut entry.motion)
    }

    /// Returns the motion of the tick before this one, or `None` if no poses are kept.
    fn motion_before(&mut self, tick: u64) -> Option<&mut StepPoses> {
        let keeps_poses = self.keeps_poses();
        let before = tick.checked_sub(1).filter(|_| keeps_poses);
        self.motion_mut(before?)
    }

    /// Applies shifts of the origin. `tick` is the first tick that has the new coordinates.
    pub fn apply_shifts(&mut self, shifts: OriginShifts, tick: u64) {
        // No resimulated step would repeat a shift between steps, so no earlier state leads to the present.
        if shifts.any_between_steps {
            self.clear();
        }
        // A resimulated step repeats its shift. Earlier ticks keep their coordinates.
        if let Some(replaced) = shifts.poses_before_shift {
            self.shifted_from = Some(tick);
            self.keep_replaced(replaced, tick);
        }
    }

    /// Keeps the poses of a state that another one replaces at this tick.
    pub fn replace_poses(&mut self, pairs: &Pairs, tick: u64) {
        if self.keeps_poses() {
            self.keep_replaced(Box::new(pairs.clone()), tick);
        }
    }

    /// Keeps the poses that this tick had before they were replaced, because the paths of earlier ticks lead to these.
    /// If they are replaced again, the first ones stay.
    fn keep_replaced(&mut self, pairs: Box<Pairs>, tick: u64) {
        self.keep_edited_poses(&pairs);
        // The tick before is the last one that leads to them.
        if let Some(before) = self.motion_before(tick) {
            before.replaced.get_or_insert(pairs);
        }
    }

    /// Keeps the poses before the edit of bodies that were edited since the step began. Bodies that moved have a path
    /// already, so this adds bodies that were at rest. Called before the step runs or its poses are replaced.
    pub fn keep_edited_poses(&mut self, pairs: &Pairs) {
        if let Some(paths) = self
            .motion_mut(pairs.tick())
            .and_then(StepPoses::continued_paths)
        {
            paths.add_missing(pairs.paths_before_edits());
        }
    }

    /// Aborts the step of this tick. The game's changes in it stay, and belong to the time before the step. So no step
    /// would repeat a shift of the origin, which clears the past.
    pub fn abort_step(&mut self, tick: u64) {
        // The aborted step has shifted the origin. The new coordinates begin at the tick after it.
        if self.shifted_from == tick.checked_add(1) {
            return self.clear();
        }
        let aborted = self.motion_mut(tick).map(std::mem::take);
        if let Some(StepPoses { paths, replaced }) = aborted
            && let Some(before) = self.motion_before(tick)
        {
            if let Some(paths_before) = before.continued_paths() {
                // Bodies without a path in the step before were at rest where their aborted path begins. The game may
                // have changed that pose in the state itself.
                let at_rest = |(key, pair): (_, Pair)| (key, Pair::at_rest(pair.previous));
                paths_before.add_missing(paths.iter().flat_map(StepPaths::iter).map(at_rest));
            }
            // As in `keep_replaced`, the first replaced poses stay.
            before.replaced = before.replaced.take().or(replaced);
        }
    }
}

/// # Look-up
impl Past {
    /// Returns the poses of a body before and after the step that led to `tick`. `physics` is the present.
    ///
    /// A body has no path in a step in which it rested. Its pose is then where it has rested since, or where its next
    /// path begins. If a correction or a shift of the origin has replaced poses after `tick`, only the steps up to the
    /// replaced poses count.
    pub fn pair<'a>(&'a self, physics: &'a Physics, key: BodyKey, tick: u64) -> Option<Pair> {
        let mut pairs = &physics.pairs;
        let present = physics.tick();
        if tick == present && !physics.is_shifted_since_step() {
            return pairs.of_step(key);
        }
        let is_kept = tick <= present && tick.saturating_add(self.ticks_with_poses()) > present;
        if !is_kept || !physics.world.keys.was_inserted_by(key, tick) {
            return None;
        }
        let entries = |from, to| self.entries.range(self.index_of(from)..self.index_of(to));
        // Finds the last poses to which the tick leads, and the end of the ticks that lead there.
        let mut end = present.saturating_add(1);
        let before_shift = physics.running.origin_shifts.poses_before_shift.as_deref();
        pairs = before_shift.unwrap_or(pairs);
        for entry in entries(tick, end) {
            // After a rewind, entries may lie ahead of the present.
            if let Some(replaced) = &entry.motion.replaced
                && replaced.tick() <= present
            {
                (pairs, end) = (replaced, entry.tick.saturating_add(1));
                break;
            }
        }
        let last = pairs.of_step(key)?;
        // After a shift of the origin in this step, these are the poses before the shift.
        if tick == present {
            return Some(last);
        }
        let paths = self.entry(tick)?.motion.paths.as_ref()?;
        if let Some((pose, _)) = pairs.resting_since(key).filter(|(_, since)| *since <= tick) {
            return Some(Pair::at_rest(pose));
        }
        // A body that keeps moving mostly keeps its index, which saves a search.
        let likely = pairs.moving_index(key);
        paths.get(key, likely).or_else(|| {
            // The body was at rest until it moved again.
            let mut later = entries(tick.saturating_add(1), end)
                .filter_map(|entry| entry.motion.paths.as_ref());
            let next = later.find_map(|paths| paths.get(key, likely));
            Some(Pair::at_rest(next.unwrap_or(last).previous))
        })
    }
}
