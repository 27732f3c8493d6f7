//! Visual errors of bodies after a rollback, until they have decayed.

use rapier::math::Pose;

use crate::key::BodyKey;

use super::super::correction::{turned, with_error};
use super::super::log::ErrorChange;
use super::super::smoothing_settings::SmoothingSettings;
use super::{Displayed, Moment, Offset, Screen};

impl Screen {
    pub fn error(&self, key: BodyKey) -> Option<&Pose> {
        let error = &self.errors.get(&key)?.error;
        (*error != Pose::IDENTITY).then_some(error)
    }

    /// Returns the number of bodies with a visual error.
    /// Returns all visual errors.
    pub fn errors(&self) -> impl Iterator<Item = (BodyKey, Pose)> {
        self.errors.iter().map(|(key, offset)| (*key, offset.error))
    }

    pub fn errors_len(&self) -> usize {
        self.errors.len()
    }

    pub(crate) fn change_error(&mut self, change: ErrorChange, settings: &SmoothingSettings) {
        match change {
            ErrorChange::Add(key, by) => {
                let correction = settings.correction_of(key);
                let before = self.error(key).copied().unwrap_or_default();
                let (error, jumps) = correction.added(&before, &by);
                if jumps {
                    self.note_jump(key);
                }
                self.set_error(key, error);
            }
            ErrorChange::Turn(key, by) => {
                self.note_jump(key);
                if let Some(error) = self.error(key) {
                    self.set_error(key, turned(error, by));
                }
            }
            ErrorChange::Clear(key) => {
                self.note_jump(key);
                if self.errors.contains_key(&key) {
                    self.set_error(key, Pose::IDENTITY);
                }
            }
            ErrorChange::Renew(key) => {
                self.note_jump(key);
                if self.bodies.contains_key(key) {
                    self.set_error(key, Pose::IDENTITY);
                    let place = self.list(key);
                    self.marks[place].is_unreported = true;
                }
            }
            ErrorChange::ClearAll => {
                if let Some(data) = &mut self.render_data {
                    data.jump_all();
                }
                let keys: Vec<_> = self.errors.keys().copied().collect();
                for key in keys {
                    self.set_error(key, Pose::IDENTITY);
                }
            }
        }
    }

    /// Sets the visual error. A body at rest keeps its displayed pose until the next frame.
    fn set_error(&mut self, key: BodyKey, error: Pose) {
        let Some(shown) = self.pose(key) else {
            return;
        };
        if let Some(Displayed::Moving(place)) = self.bodies.get(key) {
            self.marks[*place].has_error = error != Pose::IDENTITY;
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
        for (place, pose) in (start..).zip(poses) {
            if self.marks[place].has_error {
                *pose = self.with_error(self.shown[place].0, *pose);
            }
        }
    }

    pub(super) fn decay(&mut self, moment: &Moment) {
        for (key, Offset { error, shown }) in std::mem::take(&mut self.errors) {
            let Some(body) = self.bodies.get(key) else {
                continue;
            };
            let correction = moment.smoothing.correction_of(key);
            let left = correction.decayed(&error, moment.elapsed);
            let has_error = left != Pose::IDENTITY;
            let now = match body {
                Displayed::Moving(place) => {
                    self.marks[*place].has_error = has_error;
                    shown
                }
                Displayed::Resting { pose, .. } if has_error => with_error(&left, pose),
                Displayed::Resting { pose, .. } => *pose,
            };
            if has_error {
                let offset = Offset {
                    error: left,
                    shown: now,
                };
                self.errors.insert(key, offset);
            }
            if now != shown {
                if let Some(data) = &mut self.render_data {
                    data.add_exception(key, now);
                }
                self.report_resting(key, shown, now);
            }
        }
    }
}
