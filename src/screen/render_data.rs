//! Data for renderers that blend on the GPU or need the motion between two pictures.

use rapier::math::{Pose, Vector};

use crate::dim::is_near;
use crate::dim::parts::{PoseFloats, pose_floats};
use crate::key::BodyKey;
use crate::key::Id;

use super::{Displayed, Moved, Screen};
use crate::pose::Movers;

/// Holds a picture's data for renderers that blend poses on the GPU or draw motion vectors.
///
/// Returned by [`Simulation::render_data`](crate::Simulation::render_data), if
/// [`keeps_render_data`](crate::Simulation::keeps_render_data) is set.
///
/// # Blending on the GPU
/// Give each body a slot in a buffer of poses on the GPU. If bodies are already displayed when you begin, write their
/// poses once. Then in each frame:
///
/// 1. If [`keys_version`](Self::keys_version) has changed, upload the slots of [`keys`](Self::keys).
/// 2. If [`pairs_version`](Self::pairs_version) has changed, upload [`previous`](Self::previous) and
///    [`current`](Self::current). They change once per step, and after an edit.
/// 3. Blend the pairs at [`alpha`](Self::alpha) into the slots, with [`BLEND_WGSL`](crate::render::BLEND_WGSL).
/// 4. Write the poses of [`overrides`](Self::overrides) into their slots.
///
/// The slots then hold the [`pose`](crate::Simulation::pose) of each body, except for rounding. All other slots keep
/// their poses. If you skip a frame, write the poses of the bodies that have [changed
/// since](crate::Simulation::changes_since) as overrides.
///
/// # Motion vectors
/// [`moved_from`](Self::moved_from) has the previous picture's pose of each body in
/// [`moved`](crate::Simulation::moved). All other bodies have not moved. If a body [`jumped`](Self::jumped), that is
/// its new pose, so its motion vector is zero. If the GPU itself keeps the previous poses, overwrite those of the
/// bodies that jumped with the new ones.
#[derive(Clone, Debug, Default)]
pub struct RenderData {
    keys: Vec<BodyKey>,
    previous: Vec<PoseFloats>,
    current: Vec<PoseFloats>,
    alpha: f32,
    /// The version of the movers that the pairs were copied from, or `None` if they may belong to another state.
    copied: Option<u64>,
    pairs_version: u64,
    keys_version: u64,
    wide: Vec<bool>,
    overrides: Vec<(BodyKey, Pose)>,
    moved_from: Vec<Pose>,
    jumped: Vec<BodyKey>,
    jumping: Vec<BodyKey>,
    has_all_jumped: bool,
}

/// # Pairs of poses
impl RenderData {
    /// Returns the bodies that moved, or may have moved, in the displayed step. The pairs are in the same order.
    #[must_use]
    pub fn keys(&self) -> &[BodyKey] {
        &self.keys
    }

    /// Returns the poses before the displayed step, in world space. The array has no gaps, so bytemuck's `cast_slice`
    /// can view it as bytes.
    #[must_use]
    pub fn previous(&self) -> &[PoseFloats] {
        &self.previous
    }

    /// Returns the poses after the displayed step, like [`previous`](Self::previous).
    #[must_use]
    pub fn current(&self) -> &[PoseFloats] {
        &self.current
    }

    /// Returns the fraction of the displayed step, from 0 to 1, at which to blend the pairs.
    #[must_use]
    pub fn alpha(&self) -> f32 {
        self.alpha
    }

    /// Returns a number that changes whenever [`previous`](Self::previous) or [`current`](Self::current) change.
    #[must_use]
    pub fn pairs_version(&self) -> u64 {
        self.pairs_version
    }

    /// Returns a number that changes whenever [`keys`](Self::keys) change.
    #[must_use]
    pub fn keys_version(&self) -> u64 {
        self.keys_version
    }

    /// Returns the bodies whose displayed pose is not the blend of their pair, with that pose, each once.
    ///
    /// These are bodies with a [`Smoothing`](crate::Smoothing) other than `Interpolate`, with a centre of mass away
    /// from their origin, with a visual error, or with a turn by more than 45 degrees in the step, and bodies that came
    /// to rest or whose pose at rest changed.
    #[must_use]
    pub fn overrides(&self) -> &[(BodyKey, Pose)] {
        &self.overrides
    }
}

/// # Motion between two pictures
impl RenderData {
    /// Returns the previous picture's poses of the bodies in [`moved`](crate::Simulation::moved), in the same order.
    /// They are in the coordinates of this picture, even if the [origin was shifted](crate::Frame::origin_shift).
    #[must_use]
    pub fn moved_from(&self) -> &[Pose] {
        &self.moved_from
    }

    /// Returns the bodies in [`moved`](crate::Simulation::moved) that jumped since the previous picture: they are new,
    /// were teleported, went through a portal, or were corrected without [smoothing](crate::Simulation::correction).
    /// After another state was assigned or restored, it returns all of them.
    #[must_use]
    pub fn jumped(&self) -> &[BodyKey] {
        &self.jumped
    }
}

impl RenderData {
    pub(super) fn repeat(&mut self) {
        self.moved_from.clear();
        self.jumped.clear();
    }

    pub(super) fn clear_overrides(&mut self) {
        self.overrides.clear();
    }

    pub(super) fn expect_another_state(&mut self) {
        self.copied = None;
    }

    pub(super) fn jump_all(&mut self) {
        self.has_all_jumped = true;
    }

    pub(super) fn add_override(&mut self, key: BodyKey, pose: Pose) {
        self.overrides.push((key, pose));
    }

    pub(super) fn add_moved(&mut self, from: Pose, origin_shift: Vector) {
        self.moved_from.push(from.append_translation(-origin_shift));
    }

    /// Copies the pairs, if they have changed. All overrides among bodies at rest are known by now.
    pub(super) fn show(&mut self, movers: &Movers, alpha: f32) {
        self.alpha = alpha;
        // A body that comes to rest with a visual error is listed twice. The last pose counts.
        self.overrides.reverse();
        self.overrides.sort_by_key(|(key, _)| *key);
        self.overrides.dedup_by_key(|(key, _)| *key);
        if self.copied.replace(movers.version()) == Some(movers.version()) {
            return;
        }
        self.pairs_version = Id::default().number();
        if self.keys != movers.keys() {
            self.keys_version = Id::default().number();
            self.keys.clear();
            self.keys.extend_from_slice(movers.keys());
        }
        self.previous.clear();
        self.current.clear();
        self.wide.clear();
        for [previous, current] in movers.all_poses() {
            self.previous.push(pose_floats(previous));
            self.current.push(pose_floats(current));
            self.wide.push(!is_near(previous, current));
        }
    }
}

impl Screen {
    pub(super) fn set_render_data(&mut self, is_kept: bool) {
        if !is_kept {
            self.render_data = None;
        } else if self.render_data.is_none() {
            self.render_data = Some(Box::default());
        }
    }

    pub(crate) fn render_data(&self) -> Option<&RenderData> {
        self.render_data.as_deref()
    }

    pub(super) fn note_jump(&mut self, key: BodyKey) {
        if let Some(data) = &mut self.render_data {
            data.jumping.push(key);
        }
    }

    pub(super) fn list_overrides(&mut self, movers: &Movers, start: usize, poses: &[Pose]) {
        if let Some(data) = &mut self.render_data {
            for (index, pose) in (start..).zip(poses) {
                let has_error = self.marks[index].has_error;
                if data.wide[index] || has_error || movers.uses_trajectory(index) {
                    data.add_override(self.shown[index].0, *pose);
                }
            }
        }
    }

    pub(super) fn finish_render_data(&mut self) {
        let Some(mut data) = self.render_data.take() else {
            return;
        };
        let mut jumped = std::mem::take(&mut data.jumping);
        if std::mem::take(&mut data.has_all_jumped) {
            jumped.clear();
            jumped.extend(self.moved().iter().map(|(key, _)| *key));
        }
        jumped.sort_unstable();
        jumped.dedup();
        jumped.retain(|key| {
            let index = self.index_in_moved(*key);
            if let Some(index) = index {
                data.moved_from[index] = self.moved()[index].1;
            }
            index.is_some()
        });
        data.jumped = jumped;
        self.render_data = Some(data);
    }

    fn index_in_moved(&self, key: BodyKey) -> Option<usize> {
        let index = match *self.bodies.get(key)? {
            Displayed::Moving(index) if matches!(self.moved, Moved::AllShown(_)) => index,
            Displayed::Moving(index) => self.marks[index].moved_at as usize,
            Displayed::Resting { moved_at, .. } => moved_at as usize,
        };
        let listed = self.moved().get(index)?;
        (listed.0 == key).then_some(index)
    }
}
