//! The visual errors of bodies: how they begin, grow and decay.

use std::collections::BTreeMap;

use rapier::math::Pose;

use crate::key::BodyKey;
use crate::pose::{
    Change, Movers, Origin, Pair, Smoothing, SmoothingSettings, VisualError, Weights, difference,
    turned, turned_from, with_error,
};

use super::{Displayed, PictureContext, Screen, ShownError};

/// An error that begins once the body's path is known.
pub(super) enum ErrorStart {
    From(Pose, Origin),
    Retimed(Smoothing),
}

impl Screen {
    pub fn error(&self, key: BodyKey) -> Option<&Pose> {
        let error = &self.errors.get(&key)?.error.pose;
        (*error != Pose::IDENTITY).then_some(error)
    }

    pub fn errors_len(&self) -> usize {
        self.errors.len()
    }

    /// Ends all errors.
    pub(super) fn end_errors(&mut self) {
        let keys: Vec<_> = self.errors.keys().copied().collect();
        for key in keys {
            self.set_error(key, VisualError::default());
        }
    }

    /// Applies these changes to the visual errors. Returns those that [`start_errors`](Self::start_errors) measures,
    /// once the picture has its movers.
    pub(super) fn change_errors(
        &mut self,
        changes: &[Change],
        settings: &SmoothingSettings,
    ) -> BTreeMap<BodyKey, ErrorStart> {
        let mut starts = BTreeMap::new();
        for change in changes {
            match *change {
                Change::Offset(key, by) => self.add_error(key, &by, settings),
                Change::From(key, pose, origin) => {
                    starts.insert(key, ErrorStart::From(pose, origin));
                }
                Change::Retimed(key, before) => {
                    let retimed = ErrorStart::Retimed(before);
                    starts.entry(key).or_insert(retimed);
                }
                Change::Turned(key, by, origin) => {
                    self.jumped.push(key);
                    if let Some(ErrorStart::From(pose, before)) = starts.get_mut(&key) {
                        (*pose, *before) = turned_from((*pose, *before), &by, origin);
                    }
                    if let Some(ShownError { mut error, .. }) = self.errors.get(&key).copied() {
                        error.pose = turned(&error.pose, by.rotation);
                        self.set_error(key, error);
                    }
                }
                Change::Cut(key) | Change::KeyReused(key) => {
                    self.jumped.push(key);
                    starts.remove(&key);
                    if self.errors.contains_key(&key) {
                        self.set_error(key, VisualError::default());
                    }
                }
            }
        }
        starts
    }

    fn add_error(&mut self, key: BodyKey, by: &Pose, settings: &SmoothingSettings) {
        let before = self.errors.get(&key).map(|it| it.error);
        let correction = settings.correction_of(key);
        let (error, jumps) = correction.added(&before.unwrap_or_default(), by);
        if jumps {
            self.jumped.push(key);
        }
        self.set_error(key, error);
    }

    #[inline(never)]
    pub(super) fn start_errors(
        &mut self,
        starts: BTreeMap<BodyKey, ErrorStart>,
        movers: &Movers,
        weights: &Weights,
        context: &PictureContext,
    ) {
        for (key, start) in starts {
            let (pair, is_new) = match self.bodies.get(key) {
                Some(Displayed::Moving(index)) => {
                    (movers.pair(*index), self.marks[*index].is_unreported)
                }
                Some(Displayed::Resting { pose, .. }) => (Pair::at_rest(*pose), false),
                None => continue,
            };
            let own = pair.weighted(weights);
            let error = match start {
                ErrorStart::From(pose, origin) => {
                    let pose = pose.append_translation(-context.origin.offset_from(&origin));
                    difference(&pose, &own)
                }
                // No frame has displayed a new body at another time.
                ErrorStart::Retimed(_) if is_new => continue,
                ErrorStart::Retimed(before) => {
                    let before = pair.weighted_as(before, weights);
                    difference(&self.with_error(key, before), &own)
                }
            };
            let correction = context.smoothing.correction_of(key);
            self.set_error(key, correction.begun(&error));
            self.show_error_at_rest(key);
        }
    }

    /// Displays a body at rest with the error that was just set, and reports it in `moved` if that changes its pose. A
    /// moving body gets its error in the blend.
    pub(super) fn show_error_at_rest(&mut self, key: BodyKey) {
        let Some(Displayed::Resting { pose, .. }) = self.bodies.get(key) else {
            return;
        };
        let now = self.with_error(key, *pose);
        let Some(offset) = self.errors.get_mut(&key) else {
            return;
        };
        let before = std::mem::replace(&mut offset.shown, now);
        if now != before {
            self.report_resting(key, now);
        }
    }

    /// Sets the visual error. A body at rest keeps its displayed pose until the next frame.
    pub(super) fn set_error(&mut self, key: BodyKey, error: VisualError) {
        let shown = match self.pose(key) {
            Some(shown) => shown,
            // The saved game has displayed it.
            None if self.is_loaded() => Pose::default(),
            None => return,
        };
        if let Some(Displayed::Moving(index)) = self.bodies.get(key) {
            self.marks[*index].has_error = error.pose != Pose::IDENTITY;
        }
        self.errors.insert(key, ShownError { error, shown });
    }

    pub(super) fn with_error(&self, key: BodyKey, pose: Pose) -> Pose {
        self.error(key)
            .map_or(pose, |error| with_error(error, &pose))
    }

    pub(super) fn add_errors(&self, start: usize, poses: &mut [Pose]) {
        for (index, pose) in (start..).zip(poses) {
            if self.marks[index].has_error {
                *pose = self.with_error(self.shown[index].0, *pose);
            }
        }
    }

    pub(super) fn decay(&mut self, context: &PictureContext) {
        let mut errors = std::mem::take(&mut self.errors);
        errors.retain(|key, ShownError { error, shown }| {
            let correction = context.smoothing.correction_of(*key);
            *error = correction.decayed(error, context.elapsed);
            let has_error = error.pose != Pose::IDENTITY;
            let Some(body) = self.bodies.get(*key) else {
                // A body at rest is listed later in this frame.
                return has_error && self.is_loaded();
            };
            let now = match body {
                Displayed::Moving(index) => {
                    self.marks[*index].has_error = has_error;
                    *shown
                }
                Displayed::Resting { pose, .. } if has_error => with_error(&error.pose, pose),
                Displayed::Resting { pose, .. } => *pose,
            };
            let before = std::mem::replace(shown, now);
            if now != before {
                self.report_resting(*key, now);
            }
            has_error
        });
        self.errors = errors;
    }
}
