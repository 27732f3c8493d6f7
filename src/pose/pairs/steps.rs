//! The poses before and after a step.

use rapier::math::Real;

use crate::step::World;

use super::super::log::PoseLog;
use super::super::smoothing_settings::SmoothingSettings;
use super::{Pairs, Place};

impl Pairs {
    pub(super) fn is_outdated(&self, tick: u64) -> bool {
        self.tick != tick
    }

    /// Reads the poses of all bodies that are about to move, right before a captured step, when `tick` steps have run.
    ///
    /// If no step has run since the last capture, all bodies that were awake after it are where it left them, except
    /// those that were [detected](Self::notice) in another position.
    pub fn begin_step(&mut self, world: &World, tick: u64, dt: Real) {
        let mut known = self.movers.awake();
        if self.is_outdated(tick) {
            self.align_awake(world);
            known = 0;
        }
        self.movers.begin_step(world, known, dt, tick);
    }

    /// Reads the poses right after a captured step. `tick` steps have run, including this one.
    pub fn end_step(&mut self, world: &World, tick: u64, dt: Real, settings: &SmoothingSettings) {
        self.align_awake(world);
        self.movers.end_step(world, |key| settings.of(key), dt);
        self.tick = tick;
        self.teleported.clear();
    }

    /// Moves all awake bodies to the front of the lists, in Rapier's order. This runs even after a step that is not
    /// captured, so that a body that wakes and falls asleep again before the next captured step is not missed.
    pub fn align_awake(&mut self, world: &World) {
        let mut place = 0;
        for handle in world.physics.islands.active_bodies() {
            if self.movers.handle(place) != Some(handle) {
                // The body is out of line, just woken, or without a key.
                let Some(key) = world.keys.key(handle) else {
                    continue;
                };
                let listed = self.list(key, handle);
                self.swap(place, listed);
            }
            place += 1;
        }
        self.movers.set_awake(place);
    }

    /// Calls [`resync`](Self::resync), unless these are the pairs of the last step. Returns whether it did.
    pub fn resync_if_outdated(&mut self, world: &World, tick: u64) -> bool {
        let is_outdated = self.is_outdated(tick);
        if is_outdated {
            self.resync(world, tick);
        }
        is_outdated
    }

    /// Reads the latest positions and discards the earlier ones, except for bodies that were teleported since the last
    /// step. It is for a frame that ended before its last step. `tick` steps have run.
    pub fn resync(&mut self, world: &World, tick: u64) {
        self.align_awake(world);
        self.movers.begin_step(world, 0, 0.0, tick);
        if self.is_outdated(tick) {
            self.teleported.clear();
        }
        self.tick = tick;
        self.movers.stop_all();
    }

    /// Unlists the bodies that are no longer awake and have not moved.
    pub fn settle(&mut self, world: &World, log: &mut PoseLog) {
        log.counts.movers = self.movers.len();
        // The loop runs backwards, so that the body swapped into the gap never has to be unlisted.
        for place in (self.movers.awake()..self.movers.len()).rev() {
            if self.movers.is_settled(place, world) {
                let (key, pose) = (self.movers.keys()[place], self.movers.current(place));
                // A body that was teleported since the last step rests there from the next tick on.
                let was_teleported = self.teleported.contains_key(&key);
                let since = self.tick.saturating_add(was_teleported.into());
                self.places[key] = Place::Resting { pose, since };
                log.rest.push((key, pose));
                log.counts.settled += 1;
                self.unlist(place);
            }
        }
    }

    /// Renumbers the last step.
    pub fn set_tick(&mut self, tick: u64) {
        let old = std::mem::replace(&mut self.tick, tick);
        self.movers.set_tick(old, tick);
        for place in self.places.values_mut() {
            if let Place::Resting { since, .. } = place {
                *since = tick.saturating_add((*since > old).into());
            }
        }
    }
}
