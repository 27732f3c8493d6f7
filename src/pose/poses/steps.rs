//! The poses before and after a step.

use crate::step::World;
use rapier::math::Real;

use super::Poses;

impl Poses {
    pub(super) fn is_outdated(&self, tick: u64) -> bool {
        self.tick != tick
    }

    /// Right before a step that is captured, when `tick` have been made: where is every body that is about to
    /// move?
    ///
    /// If no step was made since the last capture, all that were awake after it are where it left them, but
    /// for those that were [noticed](Self::notice) elsewhere.
    pub fn begin_step(&mut self, world: &World, tick: u64, dt: Real) {
        let mut known = self.moving.awake;
        if self.is_outdated(tick) {
            self.align_awake(world);
            known = 0;
        }
        self.moving.begin_step(world, known, dt, tick);
    }

    /// Right after a step that is captured, by which `tick` have been made: where has it led?
    pub fn end_step(&mut self, world: &World, tick: u64, dt: Real) {
        self.align_awake(world);
        self.moving.end_step(world);
        for place in 0..self.moving.keys.len() {
            if self.moving.marks[place].has_trajectory {
                self.end_trajectory(place, world, dt);
            }
        }
        self.tick = tick;
        self.history.end_step();
        if self.history.is_kept() {
            self.keep_pairs();
        }
    }

    pub(super) fn keep_pairs(&mut self) {
        for (place, key) in self.moving.keys.iter().enumerate() {
            self.history.push(*key, self.tick, self.moving.pair(place));
        }
    }

    fn end_trajectory(&mut self, place: usize, world: &World, dt: Real) {
        let smoothing = self.smoothing_of(self.moving.keys[place]);
        if let Some(body) = world.physics.bodies.get(self.moving.handles[place]) {
            let trajectory = &mut self.moving.trajectories[place];
            trajectory.end(body, smoothing, dt);
            self.moving.marks[place].has_trajectory = !trajectory.is_plain();
        }
    }

    /// After a step that is not captured: a body that wakes and falls asleep again before the next
    /// one is not missed.
    pub fn skip_step(&mut self, world: &World) {
        self.align_awake(world);
    }

    /// Brings all awake bodies to the front of the lists, in Rapier's order.
    fn align_awake(&mut self, world: &World) {
        let mut place = 0;
        for handle in world.physics.islands.active_bodies() {
            if self.moving.handles.get(place) != Some(&handle) {
                // Out of line, just woken, or without a key.
                let Some(key) = world.keys.key(handle) else {
                    continue;
                };
                let listed = self.list(key, handle);
                self.swap(place, listed);
            }
            place += 1;
        }
        self.moving.awake = place;
    }

    /// Shows the latest positions and forgets those before: for a frame that was ended before its last
    /// step. `tick` steps have been made.
    pub fn resync(&mut self, world: &World, tick: u64) {
        self.align_awake(world);
        self.moving.begin_step(world, 0, 0.0, tick);
        self.tick = tick;
        self.history.end_step();
        for place in 0..self.moving.keys.len() {
            self.moving.stand(place);
        }
    }
}
