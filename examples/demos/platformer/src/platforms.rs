//! Platforms: bodies that move to and fro. Each step takes their targets from the time.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Step};

use crate::level::Paint;

/// Half the size of a platform.
pub const HALF: Vector = Vector::new(1.6, 0.2, 1.6);

/// The route of a platform.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    /// One end.
    pub from: Vector,
    /// The other end.
    pub to: Vector,
    /// The travel time from end to end.
    pub travel: Duration,
    /// The waiting time at each end.
    pub wait: Duration,
}

/// All platforms. This value never changes: the targets follow from the time, so a rewind needs nothing here.
#[derive(Clone, Debug)]
pub struct Platforms {
    routes: Vec<(BodyKey, Route)>,
}

impl Platforms {
    /// Inserts platforms.
    pub fn build(physics: &mut Physics, routes: &[Route]) -> Self {
        let routes = routes.iter().map(|route| {
            let body = RigidBodyBuilder::kinematic_position_based()
                .translation(route.from)
                .user_data(Paint::Platform.into());
            let collider = ColliderBuilder::cuboid(HALF.x, HALF.y, HALF.z);
            (physics.insert(body, collider), *route)
        });
        Self {
            routes: routes.collect(),
        }
    }

    /// Sets the targets. Called in the hook before each step, and before the character walks.
    pub fn set_off(&self, physics: &mut Physics, step: Step) {
        for (key, route) in &self.routes {
            let (end, time) = route.next_end(step.start_time);
            // The target is set again in each step. Setting the same target changes nothing.
            physics
                .set_kinematic_target(*key, Pose::from_translation(end), time)
                .unwrap();
        }
    }

    /// Returns the keys of the platforms.
    pub fn keys(&self) -> impl Iterator<Item = BodyKey> {
        self.routes.iter().map(|(key, _)| *key)
    }
}

impl Route {
    /// Returns where the platform goes at this time, and when it arrives.
    fn next_end(&self, time: Duration) -> (Vector, Duration) {
        let leg = self.travel + self.wait;
        let done = (time.as_nanos() / leg.as_nanos()) as u32;
        let end = if done.is_multiple_of(2) {
            self.to
        } else {
            self.from
        };
        (end, leg * done + self.travel)
    }
}
