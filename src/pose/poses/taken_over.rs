//! Another state, in place of the one that was shown.

use crate::key::BodyKey;
use crate::pose::correction::shown_with;
use crate::pose::motion::Pair;
use crate::pose::moving::Moving;
use crate::step::World;
use rapier::math::Pose;

use super::{Body, Place, Poses};

impl Poses {
    /// These take the place of `left`, of a state that was left: what is shown, reported and set goes on from there.
    /// `tick` steps have been made.
    pub fn take_over(&mut self, mut left: Self, world: &World, tick: u64, is_smooth: bool) {
        if self.is_outdated(tick) {
            self.resync(world, tick);
        }
        self.smoothing = left.smoothing;
        self.correction = left.correction;
        self.alpha = left.alpha;
        if self.history_len() != left.history_len() {
            self.set_history(left.history_len(), tick);
        }
        for (key, handle) in world.keys.iter() {
            let Some(body) = self.bodies.get_mut(key) else {
                continue;
            };
            let Some(was) = left.bodies.get(key) else {
                let place = self.list(key, handle);
                self.moving.report_next(place);
                continue;
            };
            (body.smoothing, body.is_corrected) = (was.smoothing, was.is_corrected);
            if let (Place::Resting(pose), Place::Resting(shown)) = (body.place, was.place)
                && pose == shown
            {
                body.moved_at = was.moved_at;
            } else {
                let place = self.list(key, handle);
                self.resume(place, was, &left.moving, is_smooth);
            }
        }
        self.counts = left.counts;
        self.moving.moved = std::mem::take(&mut left.moving.moved);
        self.settled = left.settled;
        self.settled.grow(self.bodies.len());
        self.removals = left.removals + 1;
        self.changes = left.changes + 1;
    }

    /// What is shown of a body goes on from what was shown of it.
    fn resume(&mut self, place: usize, was: &Body, left: &Moving, is_smooth: bool) {
        let (shown, pair, error, marks) = match was.place {
            Place::Resting(pose) => (pose, Pair::at_rest(pose), None, None),
            Place::Moving(place) => {
                let (shown, marks) = (left.shown[place], left.marks[place]);
                (shown, left.pair(place), left.error(place), Some(marks))
            }
        };
        let moved_at = marks.map_or(was.moved_at, |marks| marks.moved_at);
        self.moving.resume(place, shown, marks, moved_at);
        let was_at = pair.at(self.alpha);
        let was_at = error.map_or(was_at, |error| shown_with(error, &was_at));
        let now_at = self.moving.pair(place).at(self.alpha);
        let correction = self.correction.filter(|_| is_smooth && was.is_corrected);
        let error = correction.and_then(|correction| correction.error(&was_at, &now_at));
        self.moving.set_error(place, error);
    }

    /// How far off its place a body is shown.
    pub fn error(&self, key: BodyKey) -> Option<Pose> {
        match self.bodies.get(key)?.place {
            Place::Resting(_) => None,
            Place::Moving(place) => self.moving.error(place).copied(),
        }
    }
}
