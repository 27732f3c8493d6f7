//! Copies for a screen on another thread.

use crate::key::BodyKey;
use crate::pose::motion::Smoothing;
use crate::pose::moving::Moving;
use crate::pose::screen::Onward;
use rapier::dynamics::{RigidBodyHandle, RigidBodySet};
use rapier::math::Pose;

use super::{Place, Poses};

/// For how many frames a screen is told of bodies that came to rest. One that was away for longer looks at all.
const SETTLED_FRAMES: u64 = 256;

impl Poses {
    /// Becomes a copy for a [`Screen`](super::screen::Screen) of poses that go on changing, those of `frame`, with
    /// nothing that a screen does not ask for. What it was before is earlier poses of the same simulation, or none.
    ///
    /// It takes no memory but where there is more to copy than before, and of bodies at rest as long as they rest
    /// it takes nothing at all.
    pub fn copy_shown(&mut self, of: &Self, frame: u64) {
        if (self.changes, self.bodies.len()) != (of.changes, of.bodies.len()) {
            self.bodies.clone_from(&of.bodies);
        }
        self.changes = of.changes;
        self.removals = of.removals;
        let since = frame.saturating_sub(SETTLED_FRAMES);
        self.settled.copy_since(&of.settled, since);
        self.copy_moving(&of.moving);
    }

    fn copy_moving(&mut self, of: &Moving) {
        let moving = &mut self.moving;
        moving.keys.clone_from(&of.keys);
        moving.previous.clone_from(&of.previous);
        moving.current.clone_from(&of.current);
        moving.marks.clone_from(&of.marks);
        // They are read of bodies that are special in any way, by fours.
        if of.marks.iter().any(|marks| marks.is_special()) {
            moving.trajectories.clone_from(&of.trajectories);
        }
        if of.errors_len() > 0 {
            // The marks say which of those that are here already still count.
            for place in 0..of.keys.len() {
                if let Some(error) = of.error(place) {
                    moving.set_error(place, Some(*error));
                }
            }
        }
    }

    /// How all that move go on from the last state, in the order of [`poses_at`](Self::poses_at).
    pub fn onward(&self, bodies: &RigidBodySet, onward: &mut Vec<Onward>) {
        let moving = self.moving.keys.iter().zip(&self.moving.handles);
        let goes_on = |(key, handle): (&BodyKey, &RigidBodyHandle)| {
            let is_latest = self.smoothing_of(*key) == Smoothing::Latest;
            let body = bodies.get(*handle).filter(|_| !is_latest);
            body.map_or(Onward::default(), Onward::of)
        };
        onward.clear();
        onward.extend(moving.map(goes_on));
    }

    /// Poses at `alpha` of all that move.
    pub fn poses_at(&self, alpha: f32, poses: &mut Vec<Pose>) {
        self.moving.poses_at(alpha, poses);
    }

    /// For a [`Screen`](super::screen::Screen) that has shown what was there in `frame`: all that move, with these
    /// poses, then all that came to rest since, each perhaps twice. `None`: all that rest.
    pub fn poses_since<'a>(
        &'a self,
        frame: Option<u64>,
        moving: &'a [Pose],
    ) -> impl Iterator<Item = (BodyKey, Pose)> + 'a {
        let moving = self.moving.keys.iter().copied().zip(moving.iter().copied());
        let settled = frame.and_then(|frame| self.settled.since(frame));
        let is_forgotten = settled.is_none();
        let settled = settled.into_iter().flatten();
        let all = self.bodies.keys().filter(move |_| is_forgotten);
        let resting = settled
            .chain(all)
            .filter_map(|key| match self.bodies.get(key)?.place {
                Place::Resting(pose) => Some((key, pose)),
                Place::Moving(_) => None,
            });
        moving.chain(resting)
    }

    pub fn contains(&self, key: BodyKey) -> bool {
        self.bodies.contains_key(key)
    }

    /// Counts up when a body is removed.
    pub fn removals(&self) -> u64 {
        self.removals
    }
}
