//! The poses of earlier ticks, as they were right after the step that led there.

use crate::key::BodyKey;
use crate::physics::{PastEdits, Physics};
use crate::pose::{Pair, Pairs, StepPaths};

use super::{Past, StepPoses};

/// # Limit
impl Past {
    pub fn poses(&self) -> u64 {
        self.kept.poses.saturating_sub(1).max(1)
    }

    pub(super) fn keeps_poses(&self) -> bool {
        self.poses() > 1
    }

    /// Discards the poses beyond the limit at tick `here`. Returns the number of entries without poses.
    pub(super) fn cut_poses(&mut self, here: u64) -> usize {
        let old = self.place(here.saturating_add(1).saturating_sub(self.poses()));
        let entries = self.entries.range_mut(..old).rev();
        for entry in entries.take_while(|entry| entry.motion.moved.is_some()) {
            entry.motion = StepPoses::default();
        }
        old
    }
}

/// # Changes between and in steps
impl Past {
    fn motion_mut(&mut self, tick: u64) -> Option<&mut StepPoses> {
        self.entry_mut(tick).map(|entry| &mut entry.motion)
    }

    fn motion_before(&mut self, tick: u64) -> Option<&mut StepPoses> {
        let keeps_poses = self.keeps_poses();
        let before = tick.checked_sub(1).filter(|_| keeps_poses);
        self.motion_mut(before?)
    }

    /// Applies edits of the game to the poses before `tick`, the first tick that they affect.
    pub fn apply_edits(&mut self, edits: PastEdits, tick: u64) {
        if edits.is_cut {
            self.clear();
        }
        if let Some(replaced) = edits.replaced {
            self.shifted = Some(tick);
            self.keep_replaced(replaced, tick);
        }
    }

    pub fn replace_poses(&mut self, pairs: &Pairs, tick: u64) {
        if self.keeps_poses() {
            self.keep_replaced(Box::new(pairs.clone()), tick);
        }
    }

    fn keep_replaced(&mut self, pairs: Box<Pairs>, tick: u64) {
        self.keep_edited(&pairs);
        if let Some(before) = self.motion_before(tick) {
            before.replaced.get_or_insert(pairs);
        }
    }

    /// Keeps the poses of bodies at rest that were edited since the step began. Called right before the step runs.
    pub fn keep_edited(&mut self, pairs: &Pairs) {
        if let Some(moved) = self
            .motion_mut(pairs.tick())
            .and_then(StepPoses::unreplaced)
        {
            moved.add_missing(pairs.edited());
        }
    }

    /// Aborts the step of this tick, so that the game's changes in it belong to the time before it. No step would
    /// repeat a shift of the origin, so it clears the past.
    pub fn abort_step(&mut self, tick: u64) {
        if self.shifted == tick.checked_add(1) {
            return self.clear();
        }
        let aborted = self.motion_mut(tick).map(std::mem::take);
        if let Some(StepPoses { moved, replaced }) = aborted
            && let Some(before) = self.motion_before(tick)
        {
            if let Some(known) = before.unreplaced() {
                // The game may have changed the previous poses of bodies that rested until then.
                let rested = |(key, pair): (_, Pair)| (key, Pair::at_rest(pair.previous));
                known.add_missing(moved.iter().flat_map(StepPaths::iter).map(rested));
            }
            before.replaced = before.replaced.take().or(replaced);
        }
    }
}

/// # Look-up
impl Past {
    /// Returns the poses of a body before and after the step that led to `tick`. `physics` is the present.
    pub fn pair<'a>(&'a self, physics: &'a Physics, key: BodyKey, tick: u64) -> Option<Pair> {
        let (mut pairs, edits) = (&physics.pairs, &physics.running.past_edits);
        let present = physics.tick();
        if tick == present && !(edits.replaced.is_some() && physics.current_step().is_some()) {
            return pairs.of_step(key);
        }
        let is_kept = tick <= present && tick.saturating_add(self.poses()) > present;
        if !is_kept || edits.is_cut || !physics.world.keys.was_inserted_by(key, tick) {
            return None;
        }
        let steps = |from, to| self.entries.range(self.place(from)..self.place(to));
        let mut end = present.saturating_add(1);
        pairs = edits.replaced.as_deref().unwrap_or(pairs);
        for step in steps(tick, end) {
            if let Some(replaced) = &step.motion.replaced
                && replaced.tick() <= present
            {
                (pairs, end) = (replaced, step.tick.saturating_add(1));
                break;
            }
        }
        let last = pairs.of_step(key)?;
        if tick == present {
            return Some(last);
        }
        let moved = self.entry(tick)?.motion.moved.as_ref()?;
        if let Some((pose, _)) = pairs.rest(key).filter(|(_, since)| *since <= tick) {
            return Some(Pair::at_rest(pose));
        }
        // A body that keeps moving stays in its row.
        let likely = pairs.moving_index(key);
        moved.get(key, likely).or_else(|| {
            // The body was at rest until it moved again.
            let mut later =
                steps(tick.saturating_add(1), end).filter_map(|step| step.motion.moved.as_ref());
            let next = later.find_map(|moved| moved.get(key, likely));
            Some(Pair::at_rest(next.unwrap_or(last).previous))
        })
    }
}
