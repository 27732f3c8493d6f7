//! How far off their places bodies are shown after a rollback, until that has decayed.

use std::time::Duration;

use rapier::math::Pose;

use crate::key::BodyKey;

use super::super::changes::ErrorChange;
use super::super::correction::{Correction, shown_with, turned};
use super::{Offset, Screen, Shown};

impl Screen {
    pub fn error(&self, key: BodyKey) -> Option<&Pose> {
        let error = &self.errors.get(&key)?.error;
        (*error != Pose::IDENTITY).then_some(error)
    }

    /// How many bodies are shown off their places.
    pub fn errors_len(&self) -> usize {
        self.errors.len()
    }

    pub(crate) fn change_error(&mut self, change: ErrorChange, correction: Option<Correction>) {
        match change {
            ErrorChange::Add(key, by) => {
                let error = self.error(key).map_or(by, |error| shown_with(error, &by));
                self.set_error(key, correction.filter(|it| it.keeps(&error)).map(|_| error));
            }
            ErrorChange::Turn(key, by) => {
                if let Some(error) = self.error(key) {
                    self.set_error(key, Some(turned(error, by)));
                }
            }
            ErrorChange::Clear(key) if self.errors.contains_key(&key) => self.set_error(key, None),
            ErrorChange::Clear(_) => (),
            ErrorChange::ClearAll => {
                let keys: Vec<_> = self.errors.keys().copied().collect();
                for key in keys {
                    self.set_error(key, None);
                }
            }
        }
    }

    /// A body at rest is shown where it was until the next frame.
    fn set_error(&mut self, key: BodyKey, error: Option<Pose>) {
        let Some(shown) = self.pose(key) else {
            return;
        };
        let error = error.unwrap_or(Pose::IDENTITY);
        if let Some(Shown::Moving(place)) = self.bodies.get(key) {
            self.marks[*place].has_error = error != Pose::IDENTITY;
        }
        self.errors.insert(key, Offset { error, shown });
    }

    pub(super) fn with_error(&self, key: BodyKey, pose: Pose) -> Pose {
        self.error(key)
            .map_or(pose, |error| shown_with(error, &pose))
    }

    pub(super) fn add_errors(&self, start: usize, poses: &mut [Pose]) {
        if self.errors.is_empty() {
            return;
        }
        for (place, pose) in (start..).zip(poses) {
            if self.marks[place].has_error {
                *pose = self.with_error(self.keys[place], *pose);
            }
        }
    }

    pub(super) fn decay(&mut self, correction: Option<Correction>, elapsed: Duration) {
        for (key, Offset { error, shown }) in std::mem::take(&mut self.errors) {
            let left = correction.and_then(|it| it.decayed(&error, elapsed));
            let now = match self.bodies.get(key) {
                Some(Shown::Moving(place)) => {
                    self.marks[*place].has_error = left.is_some();
                    None
                }
                Some(Shown::Resting { pose, .. }) => {
                    Some(left.map_or(*pose, |error| shown_with(&error, pose)))
                }
                None => continue,
            };
            if let Some(error) = left {
                let shown = now.unwrap_or(shown);
                self.errors.insert(key, Offset { error, shown });
            }
            if let Some(now) = now.filter(|now| *now != shown) {
                self.report_resting(key, now);
            }
        }
    }
}
