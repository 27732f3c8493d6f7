//! The visual errors of bodies: how they begin, grow and decay.

use rapier::math::Pose;

use crate::key::BodyKey;
use crate::pose::{
    ErrorChange, Movers, Pair, SmoothingSettings, VisualError, Weights, difference, turned,
    with_error,
};

use super::{Beginning, Displayed, Moment, Offset, Screen};

impl Screen {
    pub fn error(&self, key: BodyKey) -> Option<&Pose> {
        let error = &self.errors.get(&key)?.error.pose;
        (*error != Pose::IDENTITY).then_some(error)
    }

    pub(crate) fn errors(&self) -> impl Iterator<Item = (BodyKey, VisualError)> {
        self.errors.iter().map(|(key, offset)| (*key, offset.error))
    }

    pub fn errors_len(&self) -> usize {
        self.errors.len()
    }

    /// Changes an error before the next picture. Until then, the marks do not describe the displayed one.
    pub(crate) fn change_error(&mut self, change: ErrorChange, settings: &SmoothingSettings) {
        self.version = None;
        match change {
            ErrorChange::Add(key, by) => {
                self.add_error(key, &by, settings);
            }
            ErrorChange::Set(key, error) => self.set_error(key, error),
            ErrorChange::ShowFrom(key, pose, origin) => {
                self.beginnings.insert(key, Beginning::At(pose, origin));
            }
            ErrorChange::Smooth(key, path) => {
                self.beginnings.entry(key).or_insert(Beginning::On(path));
            }
            ErrorChange::Turn(key, by, origin) => {
                self.note_jump(key);
                match self.beginnings.get_mut(&key) {
                    Some(Beginning::At(pose, before)) => {
                        *pose = by * pose.append_translation(-origin.from(before));
                        *before = origin;
                    }
                    Some(Beginning::On(path)) => path.turn(by.rotation),
                    None => (),
                }
                if let Some(Offset { mut error, .. }) = self.errors.get(&key).copied() {
                    error.pose = turned(&error.pose, by.rotation);
                    self.set_error(key, error);
                }
            }
            ErrorChange::Clear(key) => {
                self.note_jump(key);
                self.beginnings.remove(&key);
                if self.errors.contains_key(&key) {
                    self.set_error(key, VisualError::default());
                }
            }
            ErrorChange::Renew(key) => {
                self.note_jump(key);
                self.beginnings.remove(&key);
                if self.bodies.contains_key(key) {
                    self.set_error(key, VisualError::default());
                    let index = self.list(key);
                    self.marks[index].is_unreported = true;
                }
            }
            ErrorChange::ClearAll => {
                self.has_all_jumped = true;
                self.beginnings.clear();
                let keys: Vec<_> = self.errors.keys().copied().collect();
                for key in keys {
                    self.set_error(key, VisualError::default());
                }
            }
        }
    }

    pub(super) fn add_error(&mut self, key: BodyKey, by: &Pose, settings: &SmoothingSettings) {
        let before = self.errors.get(&key).map(|it| it.error);
        let correction = settings.correction_of(key);
        let (error, jumps) = correction.added(&before.unwrap_or_default(), by);
        if jumps {
            self.note_jump(key);
        }
        self.set_error(key, error);
    }

    /// Changes the errors for the next frame. This is apart from the loops over all bodies, which most frames need
    /// alone.
    #[inline(never)]
    pub(super) fn change_errors(
        &mut self,
        changes: Vec<ErrorChange>,
        settings: &SmoothingSettings,
    ) {
        let is_cut = (changes.iter()).any(|it| matches!(it, ErrorChange::ClearAll));
        for change in changes {
            self.change_error(change, settings);
        }
        if is_cut {
            // The picture jumps to another state, whose paths it has not displayed.
            (self.beginnings).retain(|_, it| matches!(it, Beginning::At(..)));
        }
    }

    #[inline(never)]
    pub(super) fn begin_errors(&mut self, movers: &Movers, weights: &Weights, moment: &Moment) {
        for (key, beginning) in std::mem::take(&mut self.beginnings) {
            let (pair, is_new) = match self.bodies.get(key) {
                Some(Displayed::Moving(index)) => {
                    (movers.pair(*index), self.marks[*index].is_unreported)
                }
                Some(Displayed::Resting { pose, .. }) => (Pair::at_rest(*pose), false),
                None => continue,
            };
            let own = pair.weighted(weights);
            match beginning {
                Beginning::At(pose, origin) => {
                    let pose = pose.append_translation(-moment.origin.from(&origin));
                    let correction = moment.smoothing.correction_of(key);
                    self.set_error(key, correction.begun(&difference(&pose, &own)));
                }
                // No frame has displayed a new body on the path before.
                Beginning::On(_) if is_new => (),
                Beginning::On(path) => {
                    let trajectory = Some(*path);
                    let before = Pair { trajectory, ..pair }.weighted(weights);
                    self.add_error(key, &difference(&before, &own), moment.smoothing);
                }
            }
            self.show_error_at_rest(key);
        }
    }

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
        let Some(shown) = self.pose(key) else {
            return;
        };
        if let Some(Displayed::Moving(index)) = self.bodies.get(key) {
            self.marks[*index].has_error = error.pose != Pose::IDENTITY;
        }
        self.errors.insert(key, Offset { error, shown });
    }

    pub(super) fn with_error(&self, key: BodyKey, pose: Pose) -> Pose {
        self.error(key)
            .map_or(pose, |error| with_error(error, &pose))
    }

    pub(super) fn add_errors(&self, start: usize, poses: &mut [Pose]) {
        if self.errors.is_empty() {
            return;
        }
        for (index, pose) in (start..).zip(poses) {
            if self.marks[index].has_error {
                *pose = self.with_error(self.shown[index].0, *pose);
            }
        }
    }

    pub(super) fn decay(&mut self, moment: &Moment) {
        let mut errors = std::mem::take(&mut self.errors);
        errors.retain(|key, Offset { error, shown }| {
            let Some(body) = self.bodies.get(*key) else {
                return false;
            };
            let correction = moment.smoothing.correction_of(*key);
            *error = correction.decayed(error, moment.elapsed);
            let has_error = error.pose != Pose::IDENTITY;
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
