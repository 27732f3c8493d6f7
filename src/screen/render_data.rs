//! Data for renderers that blend on the GPU or need the motion between two pictures.

use rapier::math::Pose;

use crate::dim::is_near;
use crate::dim::parts::{PoseFloats, pose_floats};
use crate::key::BodyKey;

use super::{Displayed, MovedList, Screen};
use crate::pose::Movers;

/// A frame's poses for renderers that blend them on the GPU or draw motion vectors.
///
/// # Blending on the GPU
/// Give each body a slot in a buffer on the GPU, and write its pose once. Then in each frame:
///
/// 1. If [`keys_version`](Self::keys_version) has changed, upload the slots of [`keys`](Self::keys).
/// 2. If [`pairs_version`](Self::pairs_version) has changed, upload [`pairs`](Self::pairs).
/// 3. Blend the pairs at [`alpha`](Self::alpha) into the slots, with [`BLEND_WGSL`](crate::render::BLEND_WGSL).
/// 4. Write the poses of [`overrides`](Self::overrides) into their slots.
///
/// If a frame has no data, write the poses of [`moved`](crate::Simulation::moved) instead. After skipped frames, write
/// those [changed since](crate::Simulation::changes_since).
///
/// # Motion vectors
/// Keep a copy of the previous frame's poses. If the [origin was shifted](crate::Frame::origin_shift), move the copies
/// with it. Then, for the bodies that [`jumped`](Self::jumped), overwrite the copies with the new poses.
#[derive(Clone, Copy, Debug)]
pub struct RenderData<'a> {
    screen: &'a Screen,
    movers: &'a Movers,
    alpha: f32,
}

/// # Pairs of poses
impl<'a> RenderData<'a> {
    /// Returns the bodies that may have moved in the displayed step.
    #[must_use]
    pub fn keys(self) -> &'a [BodyKey] {
        self.movers.keys()
    }

    /// Returns the poses before and after the displayed step of each body in [`keys`](Self::keys), in the same order
    /// and in world space.
    #[must_use]
    pub fn pairs(self) -> impl ExactSizeIterator<Item = [PoseFloats; 2]> + 'a {
        let pairs = self.movers.all_poses();
        pairs.map(|pair| pair.map(pose_floats))
    }

    /// Returns the fraction of the displayed step, from 0 to 1, at which to blend the pairs.
    #[must_use]
    pub fn alpha(self) -> f32 {
        self.alpha
    }

    /// Returns a number that changes whenever [`pairs`](Self::pairs) change.
    #[must_use]
    pub fn pairs_version(self) -> u64 {
        self.movers.poses_version()
    }

    /// Returns a number that changes whenever [`keys`](Self::keys) change.
    #[must_use]
    pub fn keys_version(self) -> u64 {
        self.movers.order()
    }

    /// Returns the bodies whose displayed pose is not the blend of their pair, with that pose, each once: those with a
    /// [`Smoothing`](crate::Smoothing) other than `Interpolate`, with a centre of mass away from their origin, with a
    /// visual error, or with a turn by more than 45 degrees in the step, and those that came to rest or whose pose at
    /// rest changed.
    pub fn overrides(self) -> impl Iterator<Item = (BodyKey, Pose)> + 'a {
        let Self { screen, movers, .. } = self;
        // `moving` and `marks` are in the order of the movers.
        let moving = screen.moving.iter().zip(&screen.marks);
        let moving = moving.zip(movers.all_poses()).enumerate();
        // A path may be curved by its smoothing or centre of mass. The GPU blends wide turns inexactly.
        let moving = moving.filter(move |(index, ((_, marks), [previous, current]))| {
            marks.has_error || movers.may_need_trajectory(*index) || !is_near(previous, current)
        });
        let moving = moving.map(|(_, ((shown, _), _))| *shown);
        moving.chain(screen.moved_at_rest())
    }
}

/// # Motion between two pictures
impl<'a> RenderData<'a> {
    /// Returns the bodies in [`moved`](crate::Simulation::moved) that jumped since the previous frame: they are new,
    /// were teleported, went through a portal, or were corrected without [smoothing](crate::Simulation::correction).
    /// After another state was assigned or restored, or after a long time
    /// [without frames](crate::threads::Runner#without-frames), returns all of them.
    #[must_use]
    pub fn jumped(self) -> &'a [BodyKey] {
        &self.screen.jumped
    }
}

impl Screen {
    /// Returns the data of this picture, or `None` if these movers have changed since they were displayed, or if this
    /// screen has displayed nothing.
    pub(crate) fn render_data<'a>(&'a self, movers: &'a Movers) -> Option<RenderData<'a>> {
        let (version, alpha) = self.displayed?;
        (version == Some(movers.poses_version())).then_some(RenderData {
            screen: self,
            movers,
            alpha,
        })
    }

    /// Returns the bodies in `moved` that are at rest.
    fn moved_at_rest(&self) -> impl Iterator<Item = (BodyKey, Pose)> {
        let moved = match &self.moved {
            // The list is exactly the moving bodies.
            MovedList::AllMoving(_) => &[],
            MovedList::Listed(moved) => &moved[..],
        };
        let is_at_rest = |key| matches!(self.bodies.get(key), Some(Displayed::Resting { .. }));
        moved
            .iter()
            .copied()
            .filter(move |(key, _)| is_at_rest(*key))
    }

    /// Sorts the bodies that jumped in this picture, without duplicates and without bodies that did not move. If the
    /// state does not continue the displayed one, all moved bodies have jumped.
    pub(super) fn finish_jumps(&mut self, have_all_jumped: bool) {
        let mut jumped = std::mem::take(&mut self.jumped);
        if have_all_jumped {
            jumped.clear();
            jumped.extend(self.moved().iter().map(|(key, _)| *key));
        }
        jumped.sort_unstable();
        jumped.dedup();
        jumped.retain(|key| self.is_in_moved(*key));
        self.jumped = jumped;
    }

    /// Returns whether `moved` lists the body in this frame.
    fn is_in_moved(&self, key: BodyKey) -> bool {
        let index = match self.bodies.get(key) {
            Some(Displayed::Moving(_)) if matches!(self.moved, MovedList::AllMoving(_)) => {
                return true;
            }
            Some(Displayed::Moving(index)) => self.marks[*index].moved_index,
            Some(Displayed::Resting { moved_index, .. }) => *moved_index,
            None => return false,
        };
        // The index may be of an earlier frame.
        let listed = self.moved().get(index as usize);
        listed.is_some_and(|(listed, _)| *listed == key)
    }
}
