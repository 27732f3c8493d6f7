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
    /// Draws a frame from its data and lists, and compares each body with its displayed pose. Without data, the
    /// frame has only lists.
    pub fn draw(
        &mut self,
        data: Option<RenderData<'_>>,
        (moved, removed): (&[(BodyKey, Pose)], &[BodyKey]),
        pose: impl Fn(BodyKey) -> Option<Pose>,
    ) {
        let last = self.slots.clone();
        for key in removed {
            self.slots.remove(key);
        }
        if let Some(data) = data {
            self.blend(data);
            check_motion(data, moved, &last);
        } else {
            self.slots.extend(moved.iter().copied());
        }
        for (key, drawn) in &self.slots {
            assert_eq!(Some(*drawn), pose(*key), "{key:?}");
        }
        for (key, pose) in moved {
            assert_eq!(self.slots.get(key), Some(pose), "{key:?}");
        }
    }

    fn blend(&mut self, data: RenderData<'_>) {
        self.upload(data);
        for (key, [previous, current]) in self.keys.iter().zip(&self.pairs) {
            let blend = interpolate(previous, current, data.alpha());
            self.slots.insert(*key, blend);
        }
        let overrides: BTreeMap<_, _> = data.overrides().collect();
        assert_eq!(
            overrides.len(),
            data.overrides().count(),
            "a body is listed twice"
        );
        self.blended += (self.keys.len() as u64).saturating_sub(overrides.len() as u64);
        self.slots.extend(overrides);
    }

    fn upload(&mut self, data: RenderData<'_>) {
        assert_eq!(data.keys().len(), data.pairs().len());
        if self.keys_version.replace(data.keys_version()) != Some(data.keys_version()) {
            self.keys = data.keys().to_vec();
        }
        if self.pairs_version.replace(data.pairs_version()) != Some(data.pairs_version()) {
            let pairs = data.pairs().map(|pair| pair.map(|pose| to_pose(&pose)));
            self.pairs = pairs.collect();
        }
        assert_eq!(self.keys, data.keys());
    }
}

/// Checks which bodies jumped since the last frame: a body that did not has moved from its last pose.
fn check_motion(data: RenderData<'_>, moved: &[(BodyKey, Pose)], last: &BTreeMap<BodyKey, Pose>) {
    let jumped: BTreeSet<_> = data.jumped().iter().collect();
    assert_eq!(jumped.len(), data.jumped().len(), "a body is listed twice");
    let is_moved = |key: &&BodyKey| moved.iter().any(|(moved, _)| moved == *key);
    assert!(jumped.iter().all(is_moved));
    for (key, _) in moved {
        assert!(
            jumped.contains(key) || last.contains_key(key),
            "a new body has jumped"
        );
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
