//! The received states of a body of another player or of the server, in a short buffer.

use std::collections::VecDeque;

use evenstep::rapier::prelude::Pose;
use evenstep::render::interpolate;

use crate::packets::State;
use crate::server::SNAPSHOT_EVERY;

/// A second and a half of snapshots. Displayed states are never older.
const KEPT: usize = 30;

/// The states of one body by the server's tick, oldest first. There is at least one.
#[derive(Clone, Debug)]
pub struct Path(VecDeque<(u64, State)>);

impl Path {
    /// Creates the path of a body that has existed from the beginning.
    #[must_use]
    pub fn new(state: State) -> Self {
        Self(VecDeque::from([(0, state)]))
    }

    /// Adds a state. Ticks must ascend.
    pub fn push(&mut self, tick: u64, state: State) {
        // Bodies at rest are not sent, so this one rested until the last snapshot without it.
        let before = tick.saturating_sub(SNAPSHOT_EVERY);
        let (last, state_before) = self.latest();
        if state_before.is_at_rest() && last < before {
            self.0.push_back((before, state_before));
        }
        self.0.push_back((tick, state));
        let extra = self.0.len().saturating_sub(KEPT);
        self.0.drain(..extra);
    }

    /// Returns the tick and the newest state.
    #[must_use]
    pub fn latest(&self) -> (u64, State) {
        self.0[self.0.len() - 1]
    }

    /// Returns the pose at a tick of the server, or between two ticks. After its last state the body rests.
    #[must_use]
    pub fn at(&self, tick: f64) -> Pose {
        let next = self.0.partition_point(|(other, _)| *other as f64 <= tick);
        let [before, after] = [next.saturating_sub(1), next.min(self.0.len() - 1)];
        let [(begin, before), (end, after)] = [self.0[before], self.0[after]];
        let part = (tick - begin as f64) / end.saturating_sub(begin).max(1) as f64;
        interpolate(&before.pose(), &after.pose(), part.clamp(0.0, 1.0) as f32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenstep::rapier::prelude::*;

    /// Creates a state at `x` metres, moving or at rest.
    fn state(x: f32, speed: f32) -> State {
        let body = RigidBodyBuilder::dynamic().translation(Vector::X * x);
        State::of(&body.linvel(Vector::X * speed).build())
    }

    fn x(path: &Path, tick: f64) -> f32 {
        path.at(tick).translation.x
    }

    #[test]
    fn a_gap_between_snapshots_is_interpolated_linearly() {
        let mut path = Path::new(state(1.0, 1.0));
        path.push(10, state(1.0, 1.0));
        path.push(16, state(2.0, 1.0));
        assert_eq!(
            [9.0, 10.0, 13.0, 16.0, 20.0].map(|tick| x(&path, tick)),
            [1.0, 1.0, 1.5, 2.0, 2.0]
        );
    }

    #[test]
    fn a_body_at_rest_does_not_creep_towards_its_next_motion() {
        let mut path = Path::new(state(1.0, 0.0));
        path.push(100, state(2.0, 1.0));
        assert_eq!(
            [50.0, 97.0, 98.5, 100.0].map(|tick| x(&path, tick)),
            [1.0, 1.0, 1.5, 2.0]
        );
    }

    #[test]
    fn old_states_are_discarded() {
        let mut path = Path::new(state(1.0, 1.0));
        (0..1_000).for_each(|i| path.push(3 * i, state(1.0, 1.0)));
        assert_eq!(path.0.len(), KEPT);
    }
}
