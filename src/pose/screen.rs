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
    /// The frame of the poses that were shown last, and how often bodies had been removed by then; `None` if nothing
    /// follows from that.
    frame: Option<u64>,
    removals: Option<u64>,
    /// Kept for its memory.
    buffer: Vec<Pose>,
}

impl Screen {
    /// Shows `poses`, which are those of `frame`, at `alpha`.
    pub fn show(&mut self, poses: &Poses, frame: u64, alpha: f32) {
        self.moved.clear();
        self.removed.clear();
        if self.removals.replace(poses.removals()) != Some(poses.removals()) {
            let gone = self.shown.keys().filter(|key| !poses.contains(*key));
            self.removed.extend(gone);
            for key in &self.removed {
                self.shown.remove(*key);
            }
        }
        let since = self.frame.replace(frame);
        for (key, pose) in poses.poses_since(since, alpha, &mut self.buffer) {
            if self.shown.insert(key, pose) != Some(pose) {
                self.moved.push((key, pose));
            }
        }
    }

    /// The next poses may be those of another simulation.
    pub fn forget_frames(&mut self) {
        (self.frame, self.removals) = (None, None);
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
