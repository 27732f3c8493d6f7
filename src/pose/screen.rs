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
    /// The frame of the poses that were shown last, and how often bodies had been removed by then.
    frame: u64,
    removals: u64,
    /// Of which simulation they were.
    simulation: u64,
    /// Kept for its memory.
    buffer: Vec<Pose>,
}

impl Screen {
    /// Shows `poses`, which are those of `frame`, at `alpha`. Where another `simulation` is shown than before, its frames
    /// and removals say nothing about what was shown.
    pub fn show(&mut self, poses: &Poses, simulation: u64, frame: u64, alpha: f32) {
        self.moved.clear();
        self.removed.clear();
        let is_other = std::mem::replace(&mut self.simulation, simulation) != simulation;
        let removals = std::mem::replace(&mut self.removals, poses.removals());
        if is_other || removals != poses.removals() {
            let gone = self.shown.keys().filter(|key| !poses.contains(*key));
            self.removed.extend(gone);
            for key in &self.removed {
                self.shown.remove(*key);
            }
        }
        let since = std::mem::replace(&mut self.frame, frame);
        let since = (!is_other).then_some(since);
        for (key, pose) in poses.poses_since(since, alpha, &mut self.buffer) {
            if self.shown.insert(key, pose) != Some(pose) {
                self.moved.push((key, pose));
            }
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
