//! What a frame shows.

use std::time::Duration;

use crate::key::BodyKey;
use crate::pose::motion::Pair;
use crate::step::World;
use rapier::math::Pose;

use super::{Place, PoseCounts, Poses};

impl Poses {
    /// Makes the poses that this frame shows, and the list of those that differ from the last
    /// frame's. Gives what happened since then.
    pub fn show(&mut self, alpha: f32, world: &World, frame: u64, elapsed: Duration) -> PoseCounts {
        self.alpha = alpha;
        self.moving.decay(self.correction.as_ref(), elapsed);
        self.counts.corrected = self.moving.errors_len();
        self.counts.movers = self.moving.keys.len();
        self.counts.extrapolated = self.moving.show(alpha);
        self.settle(world, frame);
        std::mem::take(&mut self.counts)
    }

    /// Lets the bodies rest that are no longer awake, and whose last pose is shown.
    fn settle(&mut self, world: &World, frame: u64) {
        let moving = &self.moving;
        let asleep = moving.awake..moving.keys.len();
        let settled = asleep.filter(|place| moving.is_settled(*place, world));
        self.settling.extend(settled);
        self.counts.settled = self.settling.len();
        let mut settling = std::mem::take(&mut self.settling);
        // From the last to the first, so that the body swapped into the gap is never one of them.
        for place in settling.drain(..).rev() {
            self.changes += 1;
            let (key, pose) = (self.moving.keys[place], self.moving.current[place]);
            let body = &mut self.bodies[key];
            body.place = Place::Resting(pose);
            body.moved_at = self.moving.marks[place].moved_at;
            self.settled.push(frame, key);
            self.unlist(place);
        }
        self.settling = settling;
    }

    /// Poses that differ from those of the frame before.
    pub fn moved(&self) -> &[(BodyKey, Pose)] {
        &self.moving.moved
    }

    /// The bodies that may be shown elsewhere than in an earlier frame; `None` if that is too long ago.
    pub fn moved_since(&self, frame: u64) -> Option<impl Iterator<Item = (BodyKey, Pose)>> {
        let settled = self.settled.since(frame)?;
        let moving = self.moving.keys.iter().copied();
        let keys = settled.chain(moving);
        Some(keys.filter_map(|key| Some((key, self.shown(key)?))))
    }

    /// The pose that this frame shows.
    pub fn shown(&self, key: BodyKey) -> Option<Pose> {
        Some(match self.bodies.get(key)?.place {
            Place::Resting(pose) => pose,
            Place::Moving(place) => self.moving.shown[place],
        })
    }

    /// The last two states.
    pub fn pair(&self, key: BodyKey) -> Option<Pair> {
        Some(match self.bodies.get(key)?.place {
            Place::Resting(pose) => Pair::at_rest(pose),
            Place::Moving(place) => self.moving.pair(place),
        })
    }

    /// The states before and after the step that was the `tick`-th.
    pub fn pair_at(&self, key: BodyKey, tick: u64) -> Option<Pair> {
        let last = self.pair(key)?;
        if tick == self.tick {
            return Some(self.history.displaced(key).unwrap_or(last));
        }
        self.history.at(key, tick, self.tick, last.previous)
    }

    /// The number of bodies that are looked at in each frame.
    #[cfg(test)]
    pub fn moving_len(&self) -> usize {
        self.moving.keys.len()
    }
}
