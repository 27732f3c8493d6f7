//! A host that knows nothing of the bodies, except what `moved` and `removed` list.

use evenstep::rapier::math::Pose;
use evenstep::{BodyKey, Simulation};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct Mirror(BTreeMap<BodyKey, Pose>);

impl Mirror {
    /// Follows a frame by its lists. Checks that the host has the displayed pose of each of its bodies.
    #[track_caller]
    pub fn follow(
        &mut self,
        (moved, removed): (&[(BodyKey, Pose)], &[BodyKey]),
        pose: impl Fn(BodyKey) -> Option<Pose>,
    ) {
        for key in removed {
            self.0.remove(key);
            assert_eq!(pose(*key), None, "a removed body has no pose");
        }
        self.0.extend(moved.iter().copied());
        for (key, seen) in &self.0 {
            assert_eq!(pose(*key), Some(*seen), "{key:?}");
        }
    }

    /// Follows a frame of a simulation. Checks that the host has all of its bodies, and no other.
    #[track_caller]
    pub fn follow_simulation(&mut self, simulation: &Simulation) {
        let lists = (simulation.moved(), simulation.removed());
        self.follow(lists, |key| simulation.pose(key));
        let bodies: Vec<BodyKey> = simulation.physics.bodies().map(|(key, _)| key).collect();
        assert!(self.has_bodies(&bodies), "{:?} {bodies:?}", self.0);
    }

    /// Returns whether the host has these bodies, and no other.
    pub fn has_bodies(&self, bodies: &[BodyKey]) -> bool {
        bodies.len() == self.0.len() && bodies.iter().all(|key| self.0.contains_key(key))
    }
}
