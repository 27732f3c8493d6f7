//! A renderer that draws from the data of frames alone, as one that blends on the GPU does. It checks the laws of that data.

use evenstep::BodyKey;
use evenstep::rapier::math::{Pose, Rotation, Vector};
use evenstep::render::{PoseFloats, RenderData, interpolate};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub struct Renderer {
    /// The poses that are drawn.
    slots: BTreeMap<BodyKey, Pose>,
    /// What was uploaded, and its versions.
    keys: Vec<BodyKey>,
    pairs: Vec<[Pose; 2]>,
    keys_version: Option<u64>,
    pairs_version: Option<u64>,
    /// How many poses were blended from pairs alone.
    pub blended: u64,
}

impl Renderer {
    /// Draws a frame from its data and lists, and compares each body with its displayed pose. `origin_shift` is how far the
    /// origin moved since the last frame.
    pub fn draw(
        &mut self,
        data: &RenderData,
        (moved, removed): (&[(BodyKey, Pose)], &[BodyKey]),
        origin_shift: Vector,
        pose: impl Fn(BodyKey) -> Option<Pose>,
    ) {
        let last = self.slots.clone();
        self.upload(data);
        for key in removed {
            self.slots.remove(key);
        }
        for (key, [previous, current]) in self.keys.iter().zip(&self.pairs) {
            let blend = interpolate(previous, current, data.alpha());
            self.slots.insert(*key, blend);
        }
        let excepted: BTreeSet<_> = data.overrides().iter().map(|(key, _)| key).collect();
        assert_eq!(
            excepted.len(),
            data.overrides().len(),
            "a body is listed twice"
        );
        self.slots.extend(data.overrides().iter().copied());
        self.blended += (self.keys.len() as u64).saturating_sub(data.overrides().len() as u64);
        for (key, drawn) in &self.slots {
            assert_eq!(Some(*drawn), pose(*key), "{key:?}");
        }
        for (key, pose) in moved {
            assert_eq!(self.slots.get(key), Some(pose), "{key:?}");
        }
        check_motion(data, moved, &last, origin_shift);
    }

    fn upload(&mut self, data: &RenderData) {
        assert_eq!(data.keys().len(), data.previous().len());
        assert_eq!(data.keys().len(), data.current().len());
        if self.keys_version.replace(data.keys_version()) != Some(data.keys_version()) {
            self.keys = data.keys().to_vec();
        }
        if self.pairs_version.replace(data.pairs_version()) != Some(data.pairs_version()) {
            let pairs = data.previous().iter().zip(data.current());
            let pairs = pairs.map(|(previous, current)| [previous, current].map(to_pose));
            self.pairs = pairs.collect();
        }
        assert_eq!(self.keys, data.keys());
    }
}

/// Checks where bodies came from since the last frame.
fn check_motion(
    data: &RenderData,
    moved: &[(BodyKey, Pose)],
    last: &BTreeMap<BodyKey, Pose>,
    origin_shift: Vector,
) {
    assert_eq!(data.moved_from().len(), moved.len());
    let jumped: BTreeSet<_> = data.jumped().iter().collect();
    assert_eq!(jumped.len(), data.jumped().len(), "a body is listed twice");
    let is_moved = |key: &&BodyKey| moved.iter().any(|(moved, _)| moved == *key);
    assert!(jumped.iter().all(is_moved));
    for ((key, pose), from) in moved.iter().zip(data.moved_from()) {
        if jumped.contains(key) {
            assert_eq!(from, pose, "{key:?}");
        } else {
            let last = last.get(key).expect("a new body has jumped");
            assert_eq!(*from, last.append_translation(-origin_shift), "{key:?}");
        }
    }
}

#[cfg(not(dim2))]
fn to_pose([x, y, z, w, at @ .., _]: &PoseFloats) -> Pose {
    Pose::from_parts(Vector::from_array(*at), Rotation::from_xyzw(*x, *y, *z, *w))
}

#[cfg(dim2)]
fn to_pose([re, im, at @ ..]: &PoseFloats) -> Pose {
    let rotation = Rotation::from_cos_sin_unchecked(*re, *im);
    Pose::from_parts(Vector::from_array(*at), rotation)
}
