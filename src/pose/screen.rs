//! What is shown of states that come from another thread.

use slotmap::SecondaryMap;

use crate::key::BodyKey;
use crate::rapier::math::Pose;

use super::poses::Poses;

/// The pose of every body as it was last shown, and what changed then.
#[derive(Debug, Default)]
pub(crate) struct Screen {
    shown: SecondaryMap<BodyKey, Pose>,
    moved: Vec<(BodyKey, Pose)>,
    removed: Vec<BodyKey>,
    /// The simulation and the frame of the poses that were shown last, and how often bodies had been removed by then.
    frame: (u64, u64),
    removals: u64,
    /// Kept for its memory.
    buffer: Vec<Pose>,
}

impl Screen {
    /// Shows `poses` at `alpha`. They are those of `frame`: which simulation's, and its number.
    pub fn show(&mut self, poses: &Poses, frame: (u64, u64), alpha: f32) {
        self.moved.clear();
        self.removed.clear();
        let last = std::mem::replace(&mut self.frame, frame);
        let is_other = last.0 != frame.0;
        let removals = std::mem::replace(&mut self.removals, poses.removals());
        if is_other || removals != poses.removals() {
            let gone = self.shown.keys().filter(|key| !poses.contains(*key));
            self.removed.extend(gone);
            for key in &self.removed {
                self.shown.remove(*key);
            }
        }
        let since = (!is_other).then_some(last.1);
        for (key, pose) in poses.poses_since(since, alpha, &mut self.buffer) {
            if self.shown.insert(key, pose) != Some(pose) {
                self.moved.push((key, pose));
            }
        }
    }

    /// The body of this key was to come. If it is not shown now, it never will be, and is gone.
    pub fn settle(&mut self, key: BodyKey) {
        if !self.shown.contains_key(key) {
            self.removed.push(key);
        }
    }

    pub fn pose(&self, key: BodyKey) -> Option<Pose> {
        self.shown.get(key).copied()
    }

    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        &self.moved
    }

    pub fn removed(&self) -> &[BodyKey] {
        &self.removed
    }
}
