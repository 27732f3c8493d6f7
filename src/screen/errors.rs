//! The visual errors of bodies: how they begin, grow and decay.

use std::collections::BTreeMap;

use rapier::math::Pose;

use crate::dim::interpolate;
use crate::key::BodyKey;
use crate::pose::{
    Change, Movers, Origin, Pair, Smoothing, SmoothingSettings, VisualError, Weights, difference,
    show_from_through_portal, turned, with_error,
};

use super::{Displayed, PictureContext, Screen, ShownError};

/// An error that begins once the body's path is known.
pub(super) enum ErrorStart {
    /// The error begins at this pose, in the coordinates of this origin.
    ShowFrom(Pose, Origin),
    /// The same, if the error is not over the limit. If it is, the body jumps.
    Stay(Pose, Origin),
    /// The error begins where this smoothing, the one before, would display the body.
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

    /// Sets all errors to zero. Bodies are displayed without them from this frame on.
    pub(super) fn end_errors(&mut self) {
        // `decay`, later in this frame, reports the new poses of bodies at rest and removes the entries.
        let keys: Vec<_> = self.errors.keys().copied().collect();
        for key in keys {
            self.set_error(key, VisualError::default());
        }
    }

    /// Applies these changes to the visual errors. Returns the errors that depend on the paths of bodies in this
    /// picture: [`start_errors`](Self::start_errors) measures these once `moving` is up to date.
    pub(super) fn change_errors(
        &mut self,
        changes: &mut Vec<Change>,
        context: &PictureContext,
    ) -> BTreeMap<BodyKey, ErrorStart> {
        let mut starts = BTreeMap::new();
        for change in changes.drain(..) {
            match change {
                Change::Offset(key, [start, end], tick) => {
                    // The offset was measured at two moments of the step before `tick`. A picture of a later step
                    // continues from the end of that step.
                    let is_that_step = tick == context.tick;
                    let alpha = if is_that_step { context.alpha } else { 1.0 };
                    self.add_error(key, &interpolate(&start, &end, alpha), context.smoothing);
                }
                Change::ShowFrom(key, pose, origin) => {
                    starts.insert(key, ErrorStart::ShowFrom(pose, origin));
                }
                Change::Retimed(key, before) => {
                    // If the smoothing was changed twice, the first change has the displayed one. A start at a pose
                    // takes precedence.
                    let retimed = ErrorStart::Retimed(before);
                    starts.entry(key).or_insert(retimed);
                }
                Change::TakenBack(key) => {
                    // The game's request of `show_from` takes precedence.
                    let is_requested = matches!(starts.get(&key), Some(ErrorStart::ShowFrom(..)));
                    if !is_requested
                        && let (Some(pose), Some(origin)) = (self.pose(key), self.origin)
                    {
                        // The pose of the last picture moves to the coordinates of this one.
                        let pose = pose.append_translation(-self.origin_shift);
                        starts.insert(key, ErrorStart::Stay(pose, origin));
                    }
                }
                Change::Transformed(key, by, origin, _) => {
                    // The body went through a portal. Its error, or the pose at which one is to begin, goes with it.
                    self.jumped.push(key);
                    if let Some(
                        ErrorStart::ShowFrom(pose, pose_origin)
                        | ErrorStart::Stay(pose, pose_origin),
                    ) = starts.get_mut(&key)
                    {
                        (*pose, *pose_origin) =
                            show_from_through_portal((*pose, *pose_origin), &by, origin);
                    }
                    if let Some(ShownError { mut error, .. }) = self.errors.get(&key).copied() {
                        error.pose = turned(&error.pose, by.rotation);
                        self.set_error(key, error);
                    }
                }
                Change::Teleported(key, _) | Change::KeyReused(key, _) => {
                    self.jumped.push(key);
                    starts.remove(&key);
                    // The error belongs to the position before the teleport, or to another body with the same key.
                    if self.errors.contains_key(&key) {
                        self.set_error(key, VisualError::default());
                    }
                }
            }
        }
        starts
    }

    /// Adds an offset to the error of a body. If the offset is over the limit of the body's correction, the error of
    /// the position or of the rotation ends instead, and the body jumps.
    fn add_error(&mut self, key: BodyKey, by: &Pose, settings: &SmoothingSettings) {
        let before = self.errors.get(&key).map(|it| it.error);
        let correction = settings.correction_of(key);
        let (error, jumps) = correction.added(&before.unwrap_or_default(), by);
        if jumps {
            self.jumped.push(key);
        }
        self.set_error(key, error);
    }

    /// Begins errors: each is the difference between the pose at which it begins and the pose on the body's path. It is
    /// not inlined, because few frames begin any.
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
                // `moving` is in the order of the movers by now.
                Some(Displayed::Moving(index)) => (movers.pair(*index), self.marks[*index].is_new),
                Some(Displayed::Resting { pose, .. }) => (Pair::at_rest(*pose), false),
                // The state of this picture lacks the body.
                None => continue,
            };
            let on_path = pair.displayed(weights);
            // The game has asked for the other two kinds, so they may have any size.
            let is_limited = matches!(start, ErrorStart::Stay(..));
            let error = match start {
                ErrorStart::ShowFrom(pose, origin) | ErrorStart::Stay(pose, origin) => {
                    let pose = pose.append_translation(-context.origin.offset_from(&origin));
                    difference(&pose, &on_path)
                }
                // No frame has displayed a new body with the old smoothing, so it has nothing to continue.
                ErrorStart::Retimed(_) if is_new => continue,
                ErrorStart::Retimed(before) => {
                    let before = pair.displayed_as(before, weights);
                    difference(&self.with_error(key, before), &on_path)
                }
            };
            if is_limited {
                // The pose includes the previous error, which this one replaces.
                self.set_error(key, VisualError::default());
                self.add_error(key, &error, context.smoothing);
            } else {
                let correction = context.smoothing.correction_of(key);
                self.set_error(key, correction.begun(&error));
            }
            self.show_error_at_rest(key);
        }
    }

    /// Displays a body at rest with the error that was just set, and reports it in `moved` if that changes its pose.
    /// For a moving body it does nothing, because [`add_errors`](Self::add_errors) follows in the same frame.
    pub(super) fn show_error_at_rest(&mut self, key: BodyKey) {
        let Some(Displayed::Resting { pose, .. }) = self.bodies.get(key) else {
            return;
        };
        let now = self.with_error(key, *pose);
        let Some(shown_error) = self.errors.get_mut(&key) else {
            return;
        };
        let before = std::mem::replace(&mut shown_error.shown, now);
        if now != before {
            self.report_resting(key, now);
        }
    }

    /// Sets the visual error of a displayed body. A body at rest keeps its displayed pose until [`decay`](Self::decay)
    /// or [`show_error_at_rest`](Self::show_error_at_rest) updates it.
    pub(super) fn set_error(&mut self, key: BodyKey, error: VisualError) {
        let shown = match self.pose(key) {
            Some(shown) => shown,
            // The saved game has displayed the body, but this screen gets it only in its first frame. The pose is a
            // placeholder.
            None if self.is_loaded() => Pose::default(),
            // No frame has displayed the body, so it has no error.
            None => return,
        };
        if let Some(Displayed::Moving(index)) = self.bodies.get(key) {
            self.marks[*index].has_error = error.pose != Pose::IDENTITY;
        }
        self.errors.insert(key, ShownError { error, shown });
    }

    /// Returns the displayed pose of a body whose path leads through `pose`.
    pub(super) fn with_error(&self, key: BodyKey, pose: Pose) -> Pose {
        self.error(key)
            .map_or(pose, |error| with_error(error, &pose))
    }

    /// Adds the errors of the moving bodies from index `start` on to their poses.
    pub(super) fn add_errors(&self, start: usize, poses: &mut [Pose]) {
        for (index, pose) in (start..).zip(poses) {
            if self.marks[index].has_error {
                *pose = self.with_error(self.moving[index].0, *pose);
            }
        }
    }

    /// Lets all errors decay for the time since the last frame, forgets those that are zero, and reports bodies at rest
    /// whose displayed pose changes. [`add_errors`](Self::add_errors) adds the errors of moving bodies later.
    pub(super) fn decay(&mut self, context: &PictureContext) {
        let mut errors = std::mem::take(&mut self.errors);
        errors.retain(|key, ShownError { error, shown }| {
            let correction = context.smoothing.correction_of(*key);
            *error = correction.decayed(error, context.elapsed);
            let has_error = error.pose != Pose::IDENTITY;
            let Some(body) = self.bodies.get(*key) else {
                // The first frame of a loaded game lists bodies at rest only after this call, so their errors stay.
                return has_error && self.is_loaded();
            };
            let now = match body {
                Displayed::Moving(index) => {
                    self.marks[*index].has_error = has_error;
                    // The blend of all moving bodies computes the new pose later.
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
